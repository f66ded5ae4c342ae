package localcluster

import (
	"strings"
	"testing"
)

func TestModuleVersion(t *testing.T) {
	const mod = `module example.com/pins

go 1.26.0

tool k8s.io/kubernetes/cmd/kubectl

require (
	k8s.io/kubernetes v1.37.1
	k8s.io/api v0.37.0 // indirect
)

require sigs.k8s.io/kwok v0.8.0

replace k8s.io/apiserver => k8s.io/apiserver v0.37.1
`
	tests := []struct {
		name, module, want string
		wantErr            string
	}{
		{name: "a requirement in a block", module: "k8s.io/kubernetes", want: "v1.37.1"},
		{name: "an indirect requirement", module: "k8s.io/api", want: "v0.37.0"},
		{name: "a requirement on a line of its own", module: "sigs.k8s.io/kwok", want: "v0.8.0"},
		{name: "a replacement is no requirement", module: "k8s.io/apiserver", wantErr: "requires no k8s.io/apiserver"},
		{name: "the beginning of another module's path", module: "k8s.io", wantErr: "requires no k8s.io:"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := moduleVersion(mod, tt.module)
			if tt.wantErr != "" {
				assertSays(t, err, tt.wantErr)
				return
			}
			if err != nil || got != tt.want {
				t.Errorf("got %q, %v, want %q", got, err, tt.want)
			}
		})
	}
}

func TestEveryProgramIsPinned(t *testing.T) {
	for _, p := range programs() {
		if _, err := moduleVersion(p.pins.Mod, p.module); err != nil {
			t.Errorf("%s: %v", p.name, err)
		}
		if !strings.Contains(p.pins.Mod, p.pkg) {
			t.Errorf("%s: the module file does not name %s as a tool", p.name, p.pkg)
		}
		if p.pins.Sum == "" {
			t.Errorf("%s: no checksums", p.name)
		}
	}
}

func TestKubernetesStamp(t *testing.T) {
	got := kubernetesStamp("v1.37.1")
	for _, want := range []string{
		"-X k8s.io/component-base/version.gitVersion=v1.37.1",
		"-X k8s.io/component-base/version.gitMajor=1",
		"-X k8s.io/component-base/version.gitMinor=37",
		"-X k8s.io/component-base/version.gitTreeState=clean",
		"-X k8s.io/client-go/pkg/version.gitVersion=v1.37.1",
	} {
		if !strings.Contains(got+" ", want+" ") {
			t.Errorf("no flag %q in %q", want, got)
		}
	}
}

func TestCacheKeyFollowsEverythingThatIsBuilt(t *testing.T) {
	version, err := moduleVersion(programs()[1].pins.Mod, kubernetesModule)
	if err != nil {
		t.Fatal(err)
	}
	base := mustCacheKey(t, programs())
	if !strings.HasPrefix(base, version+"-") {
		t.Errorf("key %q does not begin with the version %s", base, version)
	}
	if again := mustCacheKey(t, programs()); again != base {
		t.Errorf("key changed from %q to %q without a reason", base, again)
	}
	for what, change := range map[string]func(*program){
		"module file": func(p *program) { p.pins.Mod += "\n" },
		"checksums":   func(p *program) { p.pins.Sum += "\n" },
		"package":     func(p *program) { p.pkg += "/v2" },
	} {
		all := programs()
		change(&all[len(all)-1])
		if changed := mustCacheKey(t, all); changed == base {
			t.Errorf("another %s gives the same key %q", what, base)
		}
	}
}

func mustCacheKey(t *testing.T, all []program) string {
	t.Helper()
	key, err := cacheKey(all)
	if err != nil {
		t.Fatal(err)
	}
	return key
}
