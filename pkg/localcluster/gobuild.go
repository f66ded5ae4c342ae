package localcluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/vicinity-scheduler/vicinity/hack/controlplane"
)

const (
	// scratchPrefix marks the folders of builds under way.
	scratchPrefix = "build-"
	// buildOutputLines is how much of the compiler's output an error shows.
	buildOutputLines = 20
	// interruptGrace is the time the go command gets to clean up after itself when the build is cancelled.
	interruptGrace = 10 * time.Second
)

// buildAll builds the programs into the folder bin of cache. Each is complete or absent there at any moment.
func buildAll(ctx context.Context, cache string, missing []program, r *reporter) (err error) {
	goCommand, err := exec.LookPath("go")
	if err != nil {
		return fmt.Errorf("the local control plane is built from source, and the go command was not found: %w; "+
			"install Go from https://go.dev/dl, or set %s to a folder with etcd, kube-apiserver, kube-controller-manager, kubectl and kwok",
			err, assetsVariable)
	}
	bin := filepath.Join(cache, "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return fmt.Errorf("cache folder of the control plane: %w; set %s to a writable folder", err, cacheVariable)
	}
	lock, err := lockFile(ctx, filepath.Join(cache, "lock"), func() {
		r.say("another process is building the control plane in %s: waiting for it", cache)
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if err := removeStaleBuilds(cache); err != nil {
		return err
	}
	for i, p := range missing {
		target := filepath.Join(bin, p.name)
		if isExecutable(target) { // by the process that was waited for
			continue
		}
		version, err := moduleVersion(p.pins.Mod, p.module)
		if err != nil {
			return err
		}
		what := fmt.Sprintf("%s %s (%d/%d)", p.name, version, i+1, len(missing))
		err = r.step("building "+what, "built "+what, func() error {
			return build(ctx, goCommand, cache, target, version, p)
		})
		if err != nil {
			return fmt.Errorf("building %s %s: %w", p.name, version, err)
		}
	}
	return nil
}

// removeStaleBuilds removes what interrupted builds left. The caller holds the lock, so none is under way.
func removeStaleBuilds(cache string) error {
	stale, err := filepath.Glob(filepath.Join(cache, scratchPrefix+"*"))
	if err != nil {
		return err
	}
	for _, folder := range stale {
		if err := os.RemoveAll(folder); err != nil {
			return fmt.Errorf("removing an interrupted build: %w", err)
		}
	}
	return nil
}

// build compiles one program in a scratch folder beside the target and moves it into place.
func build(ctx context.Context, goCommand, cache, target, version string, p program) (err error) {
	scratch, err := os.MkdirTemp(cache, scratchPrefix)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	if err := writeModule(scratch, p.pins); err != nil {
		return err
	}
	product := filepath.Join(scratch, p.name)
	cmd := exec.CommandContext(ctx, goCommand, buildArgs(scratch, product, version, p)...)
	cmd.Dir = scratch
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGINT) }
	cmd.WaitDelay = interruptGrace
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("%w; the end of the output of %s:\n%s", err, cmd, buildErrors(output.String()))
	}
	return os.Rename(product, target)
}

func writeModule(folder string, m controlplane.Module) error {
	for name, content := range map[string]string{"go.mod": m.Mod, "go.sum": m.Sum} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// buildArgs are the arguments of the go command. -mod, -modfile and -buildvcs are given although they are the
// defaults, because the user's GOFLAGS may say otherwise; no -trimpath, so that the build cache is shared with every
// other build on the machine.
func buildArgs(scratch, product, version string, p program) []string {
	ldflags := "-s -w"
	if p.stamp != nil {
		ldflags += " " + p.stamp(version)
	}
	return []string{
		"build", "-mod=readonly", "-modfile=" + filepath.Join(scratch, "go.mod"), "-buildvcs=false",
		"-ldflags=" + ldflags, "-o", product, p.pkg,
	}
}

// buildErrors is the part of the go command's output that says what went wrong.
func buildErrors(output string) string {
	var lines []string
	for line := range strings.Lines(output) {
		if !strings.HasPrefix(line, "go: downloading ") {
			lines = append(lines, line)
		}
	}
	return strings.TrimRight(strings.Join(lines[max(0, len(lines)-buildOutputLines):], ""), "\n")
}
