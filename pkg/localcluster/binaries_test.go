package localcluster

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBuildTakesReadyBinaries(t *testing.T) {
	everything := []string{"etcd", "kube-apiserver", "kube-controller-manager", "kwok", "kubectl"}
	tests := []struct {
		name           string
		assets, cached []string // which programs are in KUBEBUILDER_ASSETS and in the cache
		want           map[string]string
		wantErr        string
	}{
		{
			name: "all in the cache", cached: everything,
			want: map[string]string{
				"etcd": "cache", "kube-apiserver": "cache", "kube-controller-manager": "cache", "kwok": "cache", "kubectl": "cache",
			},
		},
		{
			name: "all in the assets", assets: everything,
			want: map[string]string{
				"etcd": "assets", "kube-apiserver": "assets", "kube-controller-manager": "assets", "kwok": "assets", "kubectl": "assets",
			},
		},
		{
			name: "the assets of envtest", assets: []string{"etcd", "kube-apiserver", "kubectl"}, cached: everything,
			want: map[string]string{
				"etcd": "assets", "kube-apiserver": "assets", "kube-controller-manager": "cache", "kwok": "cache", "kubectl": "assets",
			},
		},
		{
			name: "assets without an API server", assets: []string{"etcd", "kubectl"}, cached: everything,
			wantErr: "there is no program",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bin, assets := setFolders(t, tt.cached, tt.assets)
			var progress bytes.Buffer
			b, err := Build(t.Context(), &progress)
			if tt.wantErr != "" {
				assertSays(t, err, tt.wantErr)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]string{}
			for _, path := range []string{b.Etcd, b.APIServer, b.ControllerManager, b.Kwok, b.Kubectl} {
				got[filepath.Base(path)] = map[string]string{bin: "cache", assets: "assets"}[filepath.Dir(path)]
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("places of the binaries (-want +got):\n%s", diff)
			}
			if progress.Len() != 0 {
				t.Errorf("printed %q though there was nothing to do", progress.String())
			}
		})
	}
}

func TestBuildWithoutGoSaysWhatToInstall(t *testing.T) {
	t.Setenv(cacheVariable, t.TempDir())
	t.Setenv(assetsVariable, "")
	t.Setenv("PATH", t.TempDir())
	_, err := Build(t.Context(), nil)
	assertSays(t, err, "the go command was not found", "https://go.dev/dl", assetsVariable)
}

// setFolders points the environment to a cache and, if any are wanted there, to assets with these programs.
func setFolders(t *testing.T, cached, ready []string) (bin, assets string) {
	t.Helper()
	cache, assets := t.TempDir(), t.TempDir()
	t.Setenv(cacheVariable, cache)
	t.Setenv(assetsVariable, "")
	if ready != nil {
		t.Setenv(assetsVariable, assets)
	}
	bin = filepath.Join(cache, "controlplane", mustCacheKey(t, programs()), "bin")
	fill(t, bin, cached)
	fill(t, assets, ready)
	return bin, assets
}

// fill puts empty programs into the folder.
func fill(t *testing.T, folder string, names []string) {
	t.Helper()
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(folder, name), nil, 0o700); err != nil {
			t.Fatal(err)
		}
	}
}
