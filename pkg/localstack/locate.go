package localstack

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// LocateExecutable finds a program beside the running one, where `make build` and a release put it, else on PATH.
func LocateExecutable(name string) (string, error) {
	folder, err := ownFolder()
	if err != nil {
		return "", err
	}
	if path := filepath.Join(folder, name); isExecutable(path) {
		return path, nil
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("%s is neither in %s nor on PATH; build it with `make build`", name, folder)
	}
	return path, nil
}

// KubectlBeside returns the kubectl that `make build` has put beside the running program, else otherwise. One on the
// PATH may be of any version.
func KubectlBeside(otherwise string) string {
	folder, err := ownFolder()
	if err != nil {
		return otherwise
	}
	if path := filepath.Join(folder, "kubectl"); isExecutable(path) {
		return path
	}
	return otherwise
}

func ownFolder() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("finding the running program: %w", err)
	}
	if target, err := filepath.EvalSymlinks(self); err == nil {
		self = target
	}
	return filepath.Dir(self), nil
}

func isExecutable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}
