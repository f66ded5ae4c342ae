package scenario

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/vicinity-scheduler/vicinity/pkg/scenario/format"
)

const (
	runTimeout = time.Minute
	// outputShown is how many bytes of a program's output a failure shows, the last ones.
	outputShown = 2000
)

func (s *session) run(ctx context.Context, r *format.Run) error {
	s.unsettled = true
	env, err := s.environment(r.Env)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, durationOr(r.Within, runTimeout))
	defer cancel()
	program := r.Command[0]
	if beside := filepath.Join(s.binDir, program); s.binDir != "" && isFile(beside) {
		program = beside
	}
	var output bytes.Buffer
	cmd := exec.CommandContext(ctx, program, r.Command[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = s.dir, env, &output, &output
	err = cmd.Run()
	if ctx.Err() != nil {
		return &unmetError{reason: fmt.Sprintf("%s: did not end within %s: %s",
			r.Command[0], durationOr(r.Within, runTimeout), tail(output.String()))}
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return fmt.Errorf("starting %s: %w", r.Command[0], err)
	}
	if code := cmd.ProcessState.ExitCode(); code != r.ExitCode {
		return &unmetError{reason: fmt.Sprintf("%s: want exit code %d, found %d: %s", r.Command[0], r.ExitCode, code, tail(output.String()))}
	}
	if !strings.Contains(output.String(), r.Output) {
		return &unmetError{reason: fmt.Sprintf("%s: want %q in its output, found: %s", r.Command[0], r.Output, tail(output.String()))}
	}
	return nil
}

// environment is that of this process with the cluster's kubeconfig and the scenario's namespace.
func (s *session) environment(extra map[string]string) ([]string, error) {
	kubeconfig := filepath.Join(s.dir, "kubeconfig")
	if err := os.WriteFile(kubeconfig, s.kubeconfig, 0o600); err != nil {
		return nil, fmt.Errorf("writing the kubeconfig: %w", err)
	}
	page, err := s.stack.SnifferURL()
	if err != nil {
		return nil, err
	}
	legacy, err := s.stack.SnifferLegacyAddress()
	if err != nil {
		return nil, err
	}
	env := append(os.Environ(), "KUBECONFIG="+kubeconfig, "NAMESPACE="+s.scenario.Namespace(), "VICINITY_RECORDS="+s.stack.RecordsFile(),
		"VICINITY_LIVE_SOCKET="+s.stack.LiveSocket(), "VICINITY_SNIFFER_URL="+page, "VICINITY_SNIFFER_LEGACY_ADDRESS="+legacy)
	if s.binDir != "" {
		env = append(env, "PATH="+s.binDir+string(os.PathListSeparator)+os.Getenv("PATH"))
	}
	for name, value := range extra {
		env = append(env, name+"="+value)
	}
	return env, nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func tail(text string) string {
	text = strings.TrimSpace(text)
	if len(text) > outputShown {
		text = "..." + text[len(text)-outputShown:]
	}
	return text
}
