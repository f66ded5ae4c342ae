package netem

import (
	"container/heap"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// maxQueued bounds what is under way.
const maxQueued = 1 << 16

// highestPriority is a nice value.
const highestPriority = -20

// flight is a packet under way.
type flight struct {
	data []byte
	to   *os.File
	due  time.Time
}

// queue hands packets over when they are due.
type queue struct {
	wake int // an eventfd
	done sync.WaitGroup

	mu     sync.Mutex
	closed bool
	heap   flights
	added  []time.Duration
}

func newQueue() (*queue, error) {
	wake, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("eventfd: %w", err)
	}
	q := &queue{wake: wake}
	q.done.Go(q.run)
	return q, nil
}

// close ends the thread; what is under way is lost.
func (q *queue) close() error {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	err := q.ring()
	q.done.Wait()
	return errors.Join(err, unix.Close(q.wake))
}

func (q *queue) ring() error {
	var one [8]byte
	binary.NativeEndian.PutUint64(one[:], 1)
	_, err := unix.Write(q.wake, one[:])
	return err
}

// add puts a packet on its way. More than maxQueued are lost.
func (q *queue) add(f *flight) {
	q.mu.Lock()
	first := false
	if len(q.heap) < maxQueued && !q.closed {
		heap.Push(&q.heap, f)
		first = q.heap[0] == f
	}
	q.mu.Unlock()
	if first {
		_ = q.ring()
	}
}

// run is the thread that hands packets over.
func (q *queue) run() {
	runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine, and its timer slack with it
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	// A wire does not wait for a busy machine.
	_ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), highestPriority)
	var drained [8]byte
	for {
		wait, closed := q.deliver()
		if closed {
			return
		}
		timeout := unix.NsecToTimespec(wait.Nanoseconds())
		polled := []unix.PollFd{{Fd: int32(q.wake), Events: unix.POLLIN}}
		if n, _ := unix.Ppoll(polled, &timeout, nil); n > 0 {
			_, _ = unix.Read(q.wake, drained[:])
		}
	}
}

// deliver hands over what is due and returns the time until something else is.
func (q *queue) deliver() (wait time.Duration, closed bool) {
	for {
		q.mu.Lock()
		if q.closed {
			q.mu.Unlock()
			return 0, true
		}
		if len(q.heap) == 0 {
			q.mu.Unlock()
			return time.Second, false
		}
		f := q.heap[0]
		if wait := time.Until(f.due); wait > 0 {
			q.mu.Unlock()
			return wait, false
		}
		heap.Pop(&q.heap)
		q.mu.Unlock()
		// A device that is down takes nothing, as a cable that is not plugged in.
		_, _ = f.to.Write(f.data)
		q.mu.Lock()
		q.added = append(q.added, time.Since(f.due))
		q.mu.Unlock()
	}
}

// flights is a heap by due.
type flights []*flight

func (f *flights) Len() int           { return len(*f) }
func (f *flights) Less(i, j int) bool { return (*f)[i].due.Before((*f)[j].due) }
func (f *flights) Swap(i, j int)      { (*f)[i], (*f)[j] = (*f)[j], (*f)[i] }
func (f *flights) Push(x any)         { *f = append(*f, x.(*flight)) } //nolint:forcetypeassert // add pushes nothing else
func (f *flights) Pop() any {
	old := *f
	last := old[len(old)-1]
	*f = old[:len(old)-1]
	return last
}
