package fioprofile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// freeShare is the part of a file system that stays free: one in so many.
const freeShare = 10

// hasData tells whether the file is there as a whole.
func hasData(folder string, size int64) (bool, error) {
	info, err := os.Lstat(filepath.Join(folder, dataFile))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return info.Mode().IsRegular() && info.Size() >= size, nil
}

func removeData(folder string) error {
	if err := os.Remove(filepath.Join(folder, dataFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot remove the file that disks are measured with: %w", err)
	}
	return nil
}

// checkSpace refuses a file that would leave too little.
func checkSpace(folder string, size int64) error {
	var stat syscall.Statfs_t
	if err := syscall.Statfs(folder, &stat); err != nil {
		return fmt.Errorf("cannot tell how much is free in %s: %w", folder, err)
	}
	block := uint64(max(1, stat.Bsize))
	free, keep := stat.Bavail*block, stat.Blocks*block/freeShare
	if free < uint64(size) || free-uint64(size) < keep {
		return fmt.Errorf("%s has %d MiB free; the file of %d MiB would leave less than a tenth of the file system free (%d MiB)",
			folder, free>>20, size>>20, keep>>20)
	}
	return nil
}

// lock excludes other agents on this machine. The kernel unlocks when the process ends. The error is errBusy if another
// has it.
func lock(path string) (unlock func(), err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cannot lock the measurement of disks: %w", err)
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		closing := file.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("%w: another agent measures on this machine: %s is locked", errBusy, path)
		}
		return nil, errors.Join(fmt.Errorf("cannot lock %s: %w", path, err), closing)
	}
	return func() { _ = file.Close() }, nil
}
