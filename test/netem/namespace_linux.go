package netem

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"golang.org/x/sys/unix"
)

// inNamespace calls f on a thread that belongs to the namespace.
func inNamespace(name string, f func() error) error {
	result := make(chan error, 1)
	go func() {
		// The thread is not unlocked: it ends with this goroutine, so that no other ever runs in the namespace.
		runtime.LockOSThread()
		result <- enterAndCall(name, f)
	}()
	return <-result
}

func enterAndCall(name string, f func() error) error {
	file, err := os.Open(filepath.Join("/var/run/netns", name))
	if err != nil {
		return fmt.Errorf("entering a network namespace: %w", err)
	}
	err = unix.Setns(int(file.Fd()), unix.CLONE_NEWNET)
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("entering the network namespace %s: %w", name, err)
	}
	return f()
}

// openTUN makes a TUN device in the namespace of the thread. It is gone when the file is closed.
func openTUN(name string) (*os.File, error) {
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("/dev/net/tun: %w", err)
	}
	request, err := unix.NewIfreq(name)
	if err == nil {
		request.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
		err = unix.IoctlIfreq(fd, unix.TUNSETIFF, request)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("making the TUN device %s: %w", name, err), unix.Close(fd))
	}
	// Only now, with a device behind it, can Go's poller wait for it.
	return os.NewFile(uintptr(fd), name), nil
}

// tryNamespace makes a namespace with a TUN device, which are gone again when it returns.
func tryNamespace() error {
	result := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			result <- fmt.Errorf("unshare: %w", err)
			return
		}
		file, err := openTUN("try0")
		if err == nil {
			err = file.Close()
		}
		result <- err
	}()
	return <-result
}
