package localcluster

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"runtime"
	"strings"

	"github.com/vicinity-scheduler/vicinity/hack/controlplane"
)

// kubernetesModule is the module whose version names the cache folder.
const kubernetesModule = "k8s.io/kubernetes"

// program is one program of the control plane and where its source is pinned.
type program struct {
	name   string                      // file name of the binary
	pkg    string                      // main package
	module string                      // the module whose version is the program's version
	pins   controlplane.Module         // the module files it is built from
	stamp  func(version string) string // value for -ldflags that stamps the version, nil when the source holds it
	path   func(b *Binaries) *string   // where its path goes
	assets bool                        // KUBEBUILDER_ASSETS must hold it
}

// programs lists what makes a control plane, in the order of building.
func programs() []program {
	k8s := controlplane.Kubernetes()
	return []program{
		{
			name: "etcd", pkg: "go.etcd.io/etcd/server/v3", module: "go.etcd.io/etcd/server/v3", pins: k8s, assets: true,
			path: func(b *Binaries) *string { return &b.Etcd },
		},
		{
			name: "kube-apiserver", pkg: "k8s.io/kubernetes/cmd/kube-apiserver", module: kubernetesModule, pins: k8s, assets: true,
			stamp: kubernetesStamp, path: func(b *Binaries) *string { return &b.APIServer },
		},
		{
			name: "kube-controller-manager", pkg: "k8s.io/kubernetes/cmd/kube-controller-manager", module: kubernetesModule, pins: k8s,
			stamp: kubernetesStamp, path: func(b *Binaries) *string { return &b.ControllerManager },
		},
		{
			name: "kubectl", pkg: "k8s.io/kubernetes/cmd/kubectl", module: kubernetesModule, pins: k8s,
			stamp: kubernetesStamp, path: func(b *Binaries) *string { return &b.Kubectl },
		},
		{
			name: "kwok", pkg: "sigs.k8s.io/kwok/cmd/kwok", module: "sigs.k8s.io/kwok", pins: controlplane.Kwok(),
			path: func(b *Binaries) *string { return &b.Kwok },
		},
	}
}

// moduleVersion reads the version of a required module out of a go.mod file, so that a bump of the file is a bump
// of everything that names the version.
func moduleVersion(mod, module string) (string, error) {
	for line := range strings.Lines(mod) {
		fields := strings.Fields(strings.TrimPrefix(line, "require "))
		if len(fields) >= 2 && fields[0] == module && strings.HasPrefix(fields[1], "v") {
			return fields[1], nil
		}
	}
	return "", fmt.Errorf("the pinned module file requires no %s: expected a line %q; run hack/controlplane/tidy.sh", module, module+" vX.Y.Z")
}

// kubernetesStamp gives the linker flags with which Kubernetes' release builds stamp their version. Without them
// clients see v0.0.0-master. The commit is not known here and is left empty rather than invented.
func kubernetesStamp(version string) string {
	major, rest, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	minor, _, _ := strings.Cut(rest, ".")
	values := [][2]string{
		{"gitVersion", version},
		{"gitMajor", major},
		{"gitMinor", minor},
		{"gitCommit", ""},
		{"gitTreeState", "clean"},
	}
	var flags []string
	for _, pkg := range []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"} {
		for _, v := range values {
			flags = append(flags, fmt.Sprintf("-X %s.%s=%s", pkg, v[0], v[1]))
		}
	}
	return strings.Join(flags, " ")
}

// cacheKey names the cache folder of one set of programs: readable by its Kubernetes version, distinct by everything
// that goes into the build.
func cacheKey(all []program) (string, error) {
	version, err := moduleVersion(controlplane.Kubernetes().Mod, kubernetesModule)
	if err != nil {
		return "", err
	}
	hash := sha256.New()
	fmt.Fprintln(hash, runtime.GOOS, runtime.GOARCH)
	for _, p := range all {
		fmt.Fprintln(hash, p.name, p.pkg, len(p.pins.Mod), len(p.pins.Sum))
		fmt.Fprint(hash, p.pins.Mod, p.pins.Sum)
	}
	return version + "-" + hex.EncodeToString(hash.Sum(nil))[:12], nil
}
