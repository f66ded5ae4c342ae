package diskstats

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
	"unsafe"

	diskiov1alpha1 "github.com/vicinity-scheduler/vicinity/apis/diskio/v1alpha1"
	"github.com/vicinity-scheduler/vicinity/pkg/agent/hostdisk"
)

const (
	directBlock  = 1 << 20
	directBlocks = 32 // of the file
	directFor    = 6 * time.Second
)

// The figures of the kernel contain what everybody on the machine does, and builds and other tests may run beside this
// one. So more is written the more the others do, a few attempts are made, and one within the bound proves that the
// collector measures what is written.
func TestIntegrationMeasuresDirectWrites(t *testing.T) {
	if testing.Short() {
		t.Skip("writes to a disk for several seconds: not with -short")
	}
	const attempts, bound = 6, .20
	file, on := directFile(t)
	for attempt := range attempts {
		others := othersWrite(t, on)
		written, reported := writeAndMeasure(t, file, on, 32+int(20*others/directBlock))
		deviation := math.Abs(reported-written) / written
		t.Logf("attempt %d on %s: wrote %.1f MiB/s while others wrote %.1f MiB/s before it, reported %.1f MiB/s, %.1f %% off",
			attempt+1, on.Name, written/directBlock, others/directBlock, reported/directBlock, 100*deviation)
		if deviation <= bound {
			return
		}
	}
	t.Errorf("no attempt of %d was within %.0f %%", attempts, 100*bound)
}

// directFile makes a file that is written past the page cache, and tells its disk.
func directFile(t *testing.T) (*os.File, hostdisk.Disk) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "direct")
	inventory, err := hostdisk.Discover(os.DirFS("/"), hostdisk.Self)
	if err != nil {
		t.Skipf("this machine does not tell its disks: %v", err)
	}
	behind := inventory.Behind(path)
	if len(behind) != 1 {
		t.Skipf("%s is on %d disks, the test needs one: set TMPDIR to a folder on a disk", path, len(behind))
	}
	counters, err := hostdisk.ReadCounters(os.DirFS("/"))
	if _, ok := counters[behind[0].Name]; err != nil || !ok {
		t.Skipf("/proc/diskstats has no %s (%v)", behind[0].Name, err)
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|syscall.O_DIRECT, 0o600)
	if errors.Is(err, syscall.EINVAL) {
		t.Skipf("the file system of %s does not take O_DIRECT", path)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	return file, behind[0]
}

// othersWrite tells how many bytes per second are written to the disk just now.
func othersWrite(t *testing.T, on hostdisk.Disk) float64 {
	t.Helper()
	read := func() (time.Time, uint64) {
		counters, err := hostdisk.ReadCounters(os.DirFS("/"))
		if err != nil {
			t.Fatal(err)
		}
		return time.Now(), counters[on.Name].Write.Bytes
	}
	begin, before := read()
	time.Sleep(time.Second)
	end, after := read()
	return float64(after-before) / end.Sub(begin).Seconds()
}

// writeAndMeasure writes so many blocks per second, at an even pace, while a collector does its rounds. It returns what was written, and how much less
// than its capacity the disk has left in the last report, both in bytes per second.
func writeAndMeasure(t *testing.T, file *os.File, on hostdisk.Disk, rate int) (written, reported float64) {
	t.Helper()
	const capacity = 1 << 40
	store := &fakeObjects{devices: map[string]diskiov1alpha1.DiskDevice{on.ID: disk(on.Name, "1Ti", "1Ti", "2Ti")}}
	c := newTestCollector(t, os.DirFS("/"), "", store, int32(2*directFor/time.Second)-2)

	buffer := alignedBuffer()
	ticker := time.NewTicker(time.Second / time.Duration(min(rate, 1000)))
	defer ticker.Stop()
	begin := time.Now()
	blocks, rounds := 0, 0
	round := func() {
		// The first report is made in the round that fills half the window, which is the last one.
		if err := c.Collect(t.Context(), time.Now()); err != nil {
			t.Fatal(err)
		}
		rounds++
	}
	round()
	for len(store.writes) == 0 {
		<-ticker.C
		// Over and over in the same place, so that little space is taken.
		if _, err := file.WriteAt(buffer, int64(blocks%directBlocks)*directBlock); err != nil {
			t.Skipf("cannot write with O_DIRECT: %v", err)
		}
		blocks++
		if time.Since(begin) >= time.Duration(rounds)*time.Second {
			round()
		}
	}
	free := store.writes[0].AllocableBandwidth[on.ID]
	return float64(blocks) * directBlock / time.Since(begin).Seconds(), float64(capacity - free.Write.Value())
}

// alignedBuffer returns a block that begins where O_DIRECT wants it.
func alignedBuffer() []byte {
	const alignment = 4096
	buffer := make([]byte, directBlock+alignment)
	skip := alignment - int(uintptr(unsafe.Pointer(&buffer[0]))%alignment)
	buffer = buffer[skip : skip+directBlock]
	for i := range buffer {
		buffer[i] = byte(i * 7)
	}
	return buffer
}
