package localcluster

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

const (
	// cacheVariable moves the cache folder away from the user's default one.
	cacheVariable = "VICINITY_CACHE"
	// assetsVariable is how the Kubernetes projects name a folder with ready control plane binaries.
	assetsVariable = "KUBEBUILDER_ASSETS"
)

// Binaries are the paths of the control plane's programs.
type Binaries struct {
	Etcd              string
	APIServer         string
	ControllerManager string
	Kwok              string
	Kubectl           string
}

// Build makes sure that the programs exist and returns their paths. They come from the folder KUBEBUILDER_ASSETS
// when it is set (it must hold etcd and kube-apiserver; the others are built when it lacks them), else from the cache
// folder VICINITY_CACHE or vicinity in the user's cache directory. What is missing in the cache is built there, which
// takes minutes the first time; a line for each program then goes to progress, which may be nil. A call that finds
// everything prints nothing. Processes that build the same version wait for each other.
func Build(ctx context.Context, progress io.Writer) (Binaries, error) {
	var b Binaries
	all := programs()
	cache, err := cacheFolder(all)
	if err != nil {
		return b, err
	}
	var missing []program
	for _, p := range all {
		path, err := fromAssets(os.Getenv(assetsVariable), p)
		if err != nil {
			return b, err
		}
		if path == "" {
			path = filepath.Join(cache, "bin", p.name)
			if !isExecutable(path) {
				missing = append(missing, p)
			}
		}
		*p.path(&b) = path
	}
	if len(missing) > 0 {
		err = buildAll(ctx, cache, missing, newReporter(progress))
	}
	return b, err
}

// cacheFolder is where the programs of this version are kept.
func cacheFolder(all []program) (string, error) {
	root := os.Getenv(cacheVariable)
	if root == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("no place for the control plane's binaries: %w; set %s to a folder", err, cacheVariable)
		}
		root = filepath.Join(user, "vicinity")
	}
	root, err := filepath.Abs(root)
	if err != nil {
		return "", fmt.Errorf("folder of %s: %w", cacheVariable, err)
	}
	key, err := cacheKey(all)
	if err != nil {
		return "", err
	}
	return filepath.Join(root, "controlplane", key), nil
}

// fromAssets is the program's path in the folder of ready binaries, or empty when it must be built.
func fromAssets(folder string, p program) (string, error) {
	if folder == "" {
		return "", nil
	}
	path, err := filepath.Abs(filepath.Join(folder, p.name))
	if err != nil {
		return "", fmt.Errorf("folder of %s: %w", assetsVariable, err)
	}
	switch {
	case isExecutable(path):
		return path, nil
	case p.assets:
		return "", fmt.Errorf("%s is set, but there is no program %s; put etcd and kube-apiserver there, or unset it to have them built",
			assetsVariable, path)
	default:
		return "", nil
	}
}

func isExecutable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}
