package fioprofile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"k8s.io/klog/v2"

	"github.com/vicinity-scheduler/vicinity/pkg/agent/hostdisk"
)

const (
	// retryAfter is how long a disk is left alone whose measurement failed.
	retryAfter = 10 * time.Minute
	// ObserveFor is how long a disk is best watched before a measurement.
	ObserveFor = 3 * time.Second
)

// errBusy is why a measurement did not begin.
var errBusy = errors.New("not now")

// Options is what a Profiler needs. All fields are required.
type Options struct {
	// Program is fio.
	Program string
	// CacheFile keeps what was measured.
	CacheFile string
	// FileSize is in bytes.
	FileSize int64
	// StepTime is how long one measurement takes, and TimeLimit how long those of one disk may.
	StepTime, TimeLimit time.Duration
	// MaxBusy is the share of time, 0 to 1, in which a disk may be busy for a measurement to begin.
	MaxBusy float64
	// ObserveFor is how long a disk is watched for that.
	ObserveFor time.Duration
	// Machine is the root of the machine's file system, in which load is read.
	Machine fs.FS
	// Count is told how each attempt to measure a disk ended. It may be called from another goroutine.
	Count func(Outcome)
}

// Outcome is how an attempt to measure a disk ended.
type Outcome string

const (
	// OutcomeDone says that all is known of a disk.
	OutcomeDone Outcome = "done"
	// OutcomeBusy says that the disk had something else to do.
	OutcomeBusy Outcome = "busy"
	// OutcomeFailed says that a measurement failed.
	OutcomeFailed Outcome = "failed"
)

// Outcomes lists them all.
func Outcomes() []Outcome { return []Outcome{OutcomeDone, OutcomeBusy, OutcomeFailed} }

// Disk is a disk to be measured.
type Disk struct {
	// ID is the identifier, Name the kernel's name.
	ID, Name, Vendor, Model string
	SizeBytes               int64
	// Folder is on the disk, and is where the file is made.
	Folder string
}

// Profiler measures disks. Its methods may be called from one goroutine only.
type Profiler struct {
	options Options
	cancel  context.CancelFunc // of the measurement under way
	ended   chan struct{}      // closed when that has ended; nil before the first

	mu       sync.Mutex
	failures map[string]time.Time // by identifier: not to be tried before
}

// New makes a Profiler; it reads and starts nothing yet.
func New(o Options) *Profiler {
	return &Profiler{options: o, failures: map[string]time.Time{}}
}

// Known returns what the disks can do of which that is known, by identifier, and begins to measure the others in the
// background unless that is under way already. Log lines of the latter go where ctx says; its end does not end them.
func (p *Profiler) Known(ctx context.Context, now time.Time, disks []Disk) (map[string]Capacity, error) {
	stored, err := loadCache(p.options.CacheFile)
	if err != nil {
		return nil, err
	}
	found, missing := map[string]Capacity{}, []Disk(nil)
	p.mu.Lock()
	for _, d := range disks {
		capacity, ok := capacityOf(stored.steps(d))
		switch {
		case ok:
			found[d.ID] = capacity
		case !now.Before(p.failures[d.ID]):
			missing = append(missing, d)
		}
	}
	p.mu.Unlock()
	if len(missing) > 0 && !p.running() {
		p.start(context.WithoutCancel(ctx), now, missing)
	}
	return found, nil
}

func (p *Profiler) running() bool {
	if p.ended == nil {
		return false
	}
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

func (p *Profiler) start(ctx context.Context, now time.Time, disks []Disk) {
	ctx, p.cancel = context.WithCancel(ctx)
	ended := make(chan struct{})
	p.ended = ended
	go func() {
		defer close(ended)
		for _, d := range disks {
			if ctx.Err() != nil {
				return
			}
			p.attempt(ctx, now, d)
		}
	}()
}

// attempt measures one disk and notes how that ended.
func (p *Profiler) attempt(ctx context.Context, now time.Time, d Disk) {
	logger := klog.FromContext(ctx).WithValues("disk", d.Name, "folder", d.Folder)
	limited, cancel := context.WithTimeout(ctx, p.options.TimeLimit)
	defer cancel()
	capacity, err := p.profile(limited, d)
	switch {
	case err == nil:
		p.options.Count(OutcomeDone)
		logger.Info("Measured what a disk can do", "read", capacity.Read, "write", capacity.Write, "total", capacity.Total,
			"readIOPS", capacity.ReadIOPS, "writeIOPS", capacity.WriteIOPS)
	case ctx.Err() != nil:
		// The agent stops; the next one goes on.
	case errors.Is(err, errBusy):
		p.options.Count(OutcomeBusy)
		logger.V(2).Info("A disk is not measured now", "reason", err.Error())
	default:
		p.options.Count(OutcomeFailed)
		p.mu.Lock()
		p.failures[d.ID] = now.Add(p.options.TimeLimit + retryAfter)
		p.mu.Unlock()
		logger.Error(err, "Cannot measure what a disk can do", "retryAfter", retryAfter)
	}
}

// profile does the steps that are missing.
func (p *Profiler) profile(ctx context.Context, d Disk) (found Capacity, err error) {
	unlock, err := lock(p.options.CacheFile + ".lock")
	if err != nil {
		return Capacity{}, err
	}
	defer unlock()
	// Read anew: another agent may have measured until now.
	stored, err := loadCache(p.options.CacheFile)
	if err != nil {
		return Capacity{}, err
	}
	defer func() { err = errors.Join(err, removeData(d.Folder)) }()
	if err := removeData(d.Folder); err != nil { // left behind by an agent that was killed
		return Capacity{}, err
	}
	for _, s := range steps() {
		if stored.steps(d)[s.name].valid() {
			continue
		}
		rate, err := p.step(ctx, d, s)
		if err != nil {
			return Capacity{}, fmt.Errorf("measurement %s: %w", s.name, err)
		}
		stored.set(d, s.name, rate)
		if err := stored.save(p.options.CacheFile); err != nil {
			return Capacity{}, err
		}
	}
	found, _ = capacityOf(stored.steps(d))
	return found, nil
}

// step does one measurement, if the disk has nothing else to do.
func (p *Profiler) step(ctx context.Context, d Disk, s step) (Rate, error) {
	if err := p.awaitIdle(ctx, d); err != nil {
		return Rate{}, err
	}
	laidOut, err := hasData(d.Folder, p.options.FileSize)
	if err != nil {
		return Rate{}, err
	}
	if !laidOut {
		if err := checkSpace(d.Folder, p.options.FileSize); err != nil {
			return Rate{}, err
		}
		if err := p.layOut(ctx, d.Folder); err != nil {
			return Rate{}, err
		}
	}
	return p.measure(ctx, d.Folder, s)
}

// awaitIdle watches the disk for a while. It returns errBusy if others use it too much.
func (p *Profiler) awaitIdle(ctx context.Context, d Disk) error {
	before, err := hostdisk.ReadCounters(p.options.Machine)
	if err != nil {
		return err
	}
	timer := time.NewTimer(p.options.ObserveFor)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
	}
	after, err := hostdisk.ReadCounters(p.options.Machine)
	if err != nil {
		return err
	}
	last, known := after[d.Name]
	if !known {
		return fmt.Errorf("the kernel does not count what disk %s does", d.Name)
	}
	if busy := float64(last.Busy-before[d.Name].Busy) / float64(p.options.ObserveFor); busy > p.options.MaxBusy {
		return fmt.Errorf("%w: the disk is busy for %.0f %% of the time, and may be for %.0f %%", errBusy, 100*busy, 100*p.options.MaxBusy)
	}
	return nil
}

// Close ends what is under way, removes its file and waits for that.
func (p *Profiler) Close(ctx context.Context) error {
	if p.ended == nil {
		return nil
	}
	p.cancel()
	select {
	case <-p.ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("fio does not end: %w", ctx.Err())
	}
}
