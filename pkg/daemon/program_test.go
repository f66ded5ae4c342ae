package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/pflag"
	"k8s.io/klog/v2"

	"github.com/vicinity-scheduler/vicinity/pkg/daemon/daemontest"
)

// TestMain makes the test binary a small program of its own when a test starts it as one.
func TestMain(m *testing.M) {
	os.Exit(daemontest.Main(m, func() {
		var end string
		program := Program{
			Name:        "vicinity-test",
			Description: "Waits for a signal.",
			AddFlags:    func(fs *pflag.FlagSet) { fs.StringVar(&end, "end", "clean", "how to end") },
			Validate: func() error {
				if end == "" {
					return errors.New("--end: expected a word, found nothing")
				}
				return nil
			},
			Run: func(ctx context.Context) error {
				klog.FromContext(ctx).Info("Serving", "endpoint", "none", "address", "nowhere")
				klog.FromContext(ctx).V(3).Info("Detail")
				if end != "at-once" {
					<-ctx.Done()
				}
				if end == "never" {
					select {}
				}
				if end != "clean" {
					return fmt.Errorf("it ended %s", end)
				}
				return nil
			},
		}
		os.Exit(program.Main())
	}))
}

func TestSignalsStopTheProgram(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		t.Run(signal.String(), func(t *testing.T) {
			p := daemontest.Start(t, "--logging-format=json")
			p.AwaitEndpoint("none")
			p.Signal(signal)
			code, stdout := p.Wait()
			if code != 0 || stdout != "" {
				t.Errorf("exit code %d, output %q; want 0 and none\n%s", code, stdout, p.Stderr())
			}
			if log := p.Stderr(); !strings.Contains(log, `"reason":"`+signal.String()+` signal received"`) || strings.Contains(log, "Detail") {
				t.Errorf("want the signal, and no details, in the log:\n%s", log)
			}
		})
	}
}

func TestSecondSignalKills(t *testing.T) {
	p := daemontest.Start(t, "--logging-format=json", "--end=never")
	p.AwaitEndpoint("none")
	p.Signal(syscall.SIGTERM)
	p.AwaitLog("that it stops", func(fields map[string]any) bool { return fields["msg"] == "Stopping" })
	// The handler is removed just after the line is written.
	for done := false; !done; {
		p.Signal(syscall.SIGTERM)
		select {
		case <-p.Exited():
			done = true
		default:
		}
	}
	if code, _ := p.Wait(); code != -1 {
		t.Errorf("exit code %d, want -1: killed by a signal", code)
	}
}

func TestVerbosityAndTextFormat(t *testing.T) {
	p := daemontest.Start(t, "-v=3", "--end=at-once")
	if code, _ := p.Wait(); code != 1 {
		t.Errorf("exit code %d of a program that failed, want 1", code)
	}
	for _, want := range []string{`] "Detail"`, `"command failed" err="it ended at-once"`} {
		if log := p.Stderr(); !strings.Contains(log, want) {
			t.Errorf("the log does not contain %s:\n%s", want, log)
		}
	}
}

func TestVersion(t *testing.T) {
	code, stdout := daemontest.Start(t, "--version").Wait()
	if code != 0 || !regexp.MustCompile(`^vicinity-test \S+ \(\w+/\w+, go\S+\)\n$`).MatchString(stdout) {
		t.Errorf("exit code %d, output %q; want 0 and one line", code, stdout)
	}
}

func TestHelp(t *testing.T) {
	code, stdout := daemontest.Start(t, "--help").Wait()
	if code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
	for _, want := range []string{
		"Waits for a signal.\n", "vicinity-test [flags]", "Vicinity-test flags:", "--end string", `(default "clean")`,
		"Logging flags:", "--logging-format", "Global flags:", "--version",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("the help does not contain %q:\n%s", want, stdout)
		}
	}
}

func TestWrongCommandLinesAreToldPlainly(t *testing.T) {
	tests := []struct {
		name string
		args []string
		want string
	}{
		{name: "unknown flag", args: []string{"--edn=x"}, want: "Error: unknown flag: --edn\n"},
		{name: "argument", args: []string{"run"}, want: `Error: unknown command "run" for "vicinity-test"` + "\n"},
		{name: "refused value", args: []string{"--end="}, want: "Error: --end: expected a word, found nothing\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := daemontest.Start(t, tt.args...)
			if code, _ := p.Wait(); code != 1 {
				t.Errorf("exit code %d, want 1", code)
			}
			if got := p.Stderr(); !strings.HasSuffix(got, tt.want) {
				t.Errorf("standard error ends with\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}
