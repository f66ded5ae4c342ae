package localcluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
	"k8s.io/apimachinery/pkg/util/wait"
)

// lockPollInterval is how often a waiting process looks whether the lock is free: flock cannot wait for a context.
const lockPollInterval = 200 * time.Millisecond

// tryLock takes the file's advisory lock for as long as the file stays open, and tells whether it got it. The kernel
// drops it when the process dies, however it dies; children do not inherit it because Go opens files close-on-exec.
func tryLock(f *os.File) (bool, error) {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, unix.EWOULDBLOCK):
		return false, nil
	default:
		return false, fmt.Errorf("locking %s: %w", f.Name(), err)
	}
}

// lockFile creates the file if needed and waits for its lock; onWait is called once when somebody else holds it.
// Closing the returned file releases the lock.
func lockFile(ctx context.Context, path string, onWait func()) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	err = wait.PollUntilContextCancel(ctx, lockPollInterval, true, func(context.Context) (bool, error) {
		locked, err := tryLock(f)
		if !locked && onWait != nil {
			onWait()
			onWait = nil
		}
		return locked, err
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("waiting for the lock %s: %w", path, err), f.Close())
	}
	return f, nil
}
