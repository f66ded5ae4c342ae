package localcluster

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// ownerVariable makes the test binary start a cluster and hold it.
const ownerVariable = "VICINITY_TEST_OWNER"

func TestIntegrationKilledOwnerLeavesNothing(t *testing.T) {
	skipIfShort(t)
	binaries := buildForTest(t)
	t.Setenv("TMPDIR", t.TempDir())
	owner := exec.CommandContext(t.Context(), os.Args[0])
	owner.Env = append(os.Environ(), ownerVariable+"=1")
	owner.Stderr = t.Output()
	output, err := owner.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	var held heldCluster
	readErr := json.NewDecoder(bufio.NewReader(output)).Decode(&held)
	if err := owner.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = owner.Wait() // it was killed
	if readErr != nil {
		t.Fatalf("what the owner says about its cluster: %v", readErr)
	}
	if len(held.PIDs) != 4 {
		t.Fatalf("children %v, want etcd, kube-apiserver, kube-controller-manager and kwok", held.PIDs)
	}
	eventually(t, "the children of the killed process are gone", func(context.Context) error {
		for name, pid := range held.PIDs {
			if isAlive(pid) {
				return fmt.Errorf("%s (pid %d) is alive", name, pid)
			}
		}
		return nil
	})
	if _, err := os.Stat(held.Dir); err != nil {
		t.Fatalf("the directory of the killed process: %v, want it to be there for the next start to remove", err)
	}
	c, err := Start(t.Context(), Options{Name: "next", Binaries: binaries})
	if err != nil {
		t.Fatal(err)
	}
	stopAtEnd(t, c)
	if _, err := os.Stat(held.Dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is still there after the next start: %v", held.Dir, err)
	}
}

// heldCluster is what an owner process says about its cluster.
type heldCluster struct {
	Dir  string
	PIDs map[string]int
}

// ownCluster is the test binary as a process that owns a cluster until it is killed.
func ownCluster() int {
	ctx := context.Background()
	fail := func(err error) int {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	binaries, err := Build(ctx, os.Stderr)
	if err != nil {
		return fail(err)
	}
	c, err := Start(ctx, Options{Name: "held", Binaries: binaries, Progress: os.Stderr})
	if err != nil {
		return fail(err)
	}
	held := heldCluster{Dir: c.Dir(), PIDs: map[string]int{}}
	for _, p := range c.started() {
		held.PIDs[p.Name()] = p.PID()
	}
	if err := json.NewEncoder(os.Stdout).Encode(held); err != nil {
		return fail(err)
	}
	return fail(<-c.Failed())
}

// isAlive tells whether a process runs. One that has ended but that its new parent has not collected does not.
func isAlive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, state, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(state, "Z") && !strings.HasPrefix(state, "X")
}
