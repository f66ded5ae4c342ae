package fioprofile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// machine has a disk that is busy for so much of every reading.
type machine struct {
	mu         sync.Mutex
	busy, step time.Duration
}

func (m *machine) Open(name string) (fs.File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.busy += m.step
	return fstest.MapFS{"proc/diskstats": {
		Data: fmt.Appendf(nil, "254 0 vda 0 0 0 0 0 0 0 0 0 %d 0\n", m.busy.Milliseconds()),
	}}.Open(name)
}

// bench is a profiler whose fio is a script.
type bench struct {
	*Profiler
	machine  *machine
	disk     Disk
	log      string
	mu       sync.Mutex
	outcomes []Outcome
}

// behave is what the script does instead of measuring: it finds its file's name in $file and its pattern in $what.
func newBench(t *testing.T, folder, behave string) *bench {
	t.Helper()
	program := filepath.Join(t.TempDir(), "fio")
	b := &bench{machine: &machine{}, log: filepath.Join(t.TempDir(), "log")}
	script := `#!/bin/sh
for argument; do
  case $argument in
    --filename=*) file=${argument#--filename=} ;;
    --rw=*) what=${argument#--rw=} ;;
    --bs=*) what=$what-${argument#--bs=} ;;
  esac
done
echo "$what" >>"` + b.log + `"
if [ "$what" = write-1M ]; then truncate -s 16M "$file"; echo '{}'; exit; fi
` + behave
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	b.disk = Disk{ID: "vda", Name: "vda", Vendor: "virtio", Model: "virtio-blk", SizeBytes: 1 << 40, Folder: folder}
	b.Profiler = New(Options{
		Program: program, CacheFile: filepath.Join(folder, "disks.json"), FileSize: 16 << 20,
		StepTime: time.Second, TimeLimit: time.Minute, MaxBusy: .5, ObserveFor: 10 * time.Millisecond, Machine: b.machine, Count: b.count,
	})
	t.Cleanup(func() {
		if err := b.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return b
}

func (b *bench) count(o Outcome) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.outcomes = append(b.outcomes, o)
}

// known asks once and waits until what that began has ended.
func (b *bench) known(t *testing.T, now time.Time) map[string]Capacity {
	t.Helper()
	found, err := b.Known(t.Context(), now, []Disk{b.disk})
	if err != nil {
		t.Fatal(err)
	}
	if b.ended != nil {
		<-b.ended
	}
	return found
}

func (b *bench) expect(t *testing.T, outcomes []Outcome, runs string) {
	t.Helper()
	content, err := os.ReadFile(b.log)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if got := strings.Join(strings.Fields(string(content)), " "); got != runs {
		t.Errorf("runs of fio %q, want %q", got, runs)
	}
	if diff := cmp.Diff(outcomes, b.outcomes); diff != "" {
		t.Errorf("outcomes (-want +got):\n%s", diff)
	}
	if _, err := os.Lstat(filepath.Join(b.disk.Folder, dataFile)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file is still there: %v", err)
	}
}

func start() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }

// result makes the script say that the step did so many MiB and operations per second.
const result = `result() { echo "{\"jobs\": [{\"error\": 0, \"read\": {\"bw_bytes\": $(($1 * 1048576)), \"iops\": $2}, \"write\": {}}]}"; }
`

const allResults = result + `case $what in
  randread-32k) result 1000 100 ;;
  randwrite-32k) result 800 80 ;;
  randrw-32k) result 1200 120 ;;
  randread-4k) result 100 25000 ;;
  randwrite-4k) result 50 12500 ;;
esac
`

func TestProfilerMeasuresOnceAndKeepsIt(t *testing.T) {
	folder := t.TempDir()
	b := newBench(t, folder, allResults)
	if got := b.known(t, start()); len(got) != 0 {
		t.Errorf("known before anything was measured: %v", got)
	}
	want := map[string]Capacity{"vda": {1000 << 20, 800 << 20, 1200 << 20, 25000, 12500}}
	const runs = "write-1M randread-32k randwrite-32k randrw-32k randread-4k randwrite-4k"
	for range 2 {
		if diff := cmp.Diff(want, b.known(t, start())); diff != "" {
			t.Errorf("known (-want +got):\n%s", diff)
		}
		b.expect(t, []Outcome{OutcomeDone}, runs)
	}
	next := newBench(t, folder, allResults)
	if diff := cmp.Diff(want, next.known(t, start())); diff != "" {
		t.Errorf("known to the next agent (-want +got):\n%s", diff)
	}
	next.expect(t, nil, "")
}

func TestProfilerGoesOnWhereAnotherEnded(t *testing.T) {
	folder := t.TempDir()
	b := newBench(t, folder, strings.Replace(allResults, "result 1200 120 ;;", "echo disk on fire >&2; exit 7 ;;", 1))
	b.known(t, start())
	b.expect(t, []Outcome{OutcomeFailed}, "write-1M randread-32k randwrite-32k randrw-32k")
	// Ten minutes after the time limit it is tried again, not before.
	b.known(t, start().Add(11*time.Minute-time.Second))
	b.expect(t, []Outcome{OutcomeFailed}, "write-1M randread-32k randwrite-32k randrw-32k")
	b.known(t, start().Add(11*time.Minute))
	b.expect(t, []Outcome{OutcomeFailed, OutcomeFailed}, "write-1M randread-32k randwrite-32k randrw-32k write-1M randrw-32k")

	next := newBench(t, folder, allResults)
	next.known(t, start())
	next.expect(t, []Outcome{OutcomeDone}, "write-1M randrw-32k randread-4k randwrite-4k")
	if got := next.known(t, start())["vda"]; got.Read != 1000<<20 || got.Total != 1200<<20 {
		t.Errorf("capacity %+v, want steps of both agents", got)
	}
}

func TestProfilerDoesNotDisturb(t *testing.T) {
	b := newBench(t, t.TempDir(), allResults)
	b.machine.step = 6 * time.Millisecond // of the 10 ms that it is watched for; 5 are allowed
	b.known(t, start())
	b.expect(t, []Outcome{OutcomeBusy}, "")
	b.machine.step = 4 * time.Millisecond
	b.known(t, start())
	b.expect(t, []Outcome{OutcomeBusy, OutcomeDone}, "write-1M randread-32k randwrite-32k randrw-32k randread-4k randwrite-4k")
}

func TestProfilerRunsOnceOnAMachine(t *testing.T) {
	folder := t.TempDir()
	unlock, err := lock(filepath.Join(folder, "disks.json.lock"))
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t, folder, allResults)
	b.known(t, start())
	b.expect(t, []Outcome{OutcomeBusy}, "")
	unlock()
	b.known(t, start())
	if len(b.known(t, start())) != 1 {
		t.Error("nothing known once the other agent is gone")
	}
}

func TestProfilerLeavesSpace(t *testing.T) {
	b := newBench(t, t.TempDir(), allResults)
	b.options.FileSize = 1 << 60
	b.known(t, start())
	b.expect(t, []Outcome{OutcomeFailed}, "")
	if err := checkSpace(b.disk.Folder, 1<<60); err == nil || !strings.Contains(err.Error(), "would leave less than a tenth") {
		t.Errorf("checkSpace() = %v", err)
	}
}

func TestProfilerKillsWhatDoesNotEnd(t *testing.T) {
	for _, tt := range []struct {
		name  string
		limit time.Duration
		close bool
		want  []Outcome
	}{
		{"at the time limit", 500 * time.Millisecond, false, []Outcome{OutcomeFailed}},
		{"when the agent stops", time.Hour, true, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			folder := t.TempDir()
			pidFile := filepath.Join(folder, "pid")
			b := newBench(t, folder, `echo $$ >"`+pidFile+`"; exec sleep 1000`)
			b.options.TimeLimit = tt.limit
			if _, err := b.Known(t.Context(), start(), []Disk{b.disk}); err != nil {
				t.Fatal(err)
			}
			pid := awaitPID(t, pidFile)
			if tt.close {
				if err := b.Close(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			<-b.ended
			if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
				t.Errorf("process %d: %v, want it gone", pid, err)
			}
			b.expect(t, tt.want, "write-1M randread-32k")
		})
	}
}

func awaitPID(t *testing.T, file string) int {
	t.Helper()
	for range 1000 {
		content, err := os.ReadFile(file)
		if text := strings.TrimSpace(string(content)); err == nil && text != "" {
			pid, err := strconv.Atoi(text)
			if err != nil {
				t.Fatal(err)
			}
			return pid
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("the program was not started within 10 s")
	return 0
}

func TestProfilerSaysHowToGetFio(t *testing.T) {
	b := newBench(t, t.TempDir(), "")
	for _, program := range []string{"fio-that-is-not-there", "/nonexistent/fio"} {
		b.options.Program = program
		if err := b.layOut(t.Context(), b.disk.Folder); err == nil || !strings.Contains(err.Error(), "install the package fio") {
			t.Errorf("%s: %v, want advice", program, err)
		}
	}
}

// The program of the distribution, on the disk that temporary files are on.
func TestIntegrationMeasuresARealDisk(t *testing.T) {
	if testing.Short() {
		t.Skip("reads from and writes to a disk for several seconds: not with -short")
	}
	program, err := exec.LookPath("fio")
	if err != nil {
		t.Skip("fio is not installed")
	}
	folder := t.TempDir()
	probe, err := os.OpenFile(filepath.Join(folder, "probe"), os.O_CREATE|os.O_WRONLY|syscall.O_DIRECT, 0o600)
	if errors.Is(err, syscall.EINVAL) {
		t.Skipf("the file system of %s does not take O_DIRECT: set TMPDIR to a folder on a disk", folder)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := probe.Close(); err != nil {
		t.Fatal(err)
	}
	b := newBench(t, folder, "")
	b.options.Program = program
	b.known(t, start())
	b.expect(t, []Outcome{OutcomeDone}, "")
	got := b.known(t, start())["vda"]
	if got.Read <= 0 || got.Write <= 0 || got.Total <= 0 || got.ReadIOPS <= 0 || got.WriteIOPS <= 0 {
		t.Errorf("capacity %+v, want all of it above 0", got)
	}
	t.Logf("capacity of the disk of %s: %+v", folder, got)
}
