package localcluster

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/klog/v2"
)

const (
	folderPrefix = "vicinity-"
	// ownerFile marks a folder as a cluster's. Its owner holds the lock on it for as long as the owner lives, so a
	// file whose lock can be taken belongs to nobody. Unlike a process number, a lock cannot be mistaken for that
	// of another process that came later or that lives in another container with the same temporary directory.
	ownerFile = "owner"
)

// newFolder makes a cluster's directory under parent and locks it until the returned file is closed.
func newFolder(parent, name string) (folder string, owner *os.File, err error) {
	folder, err = os.MkdirTemp(parent, folderPrefix+fileName(name)+"-")
	if err != nil {
		return "", nil, fmt.Errorf("temporary directory of the cluster: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(folder))
		}
	}()
	// The file gets its name when it is locked: a sweep that runs at the same time never sees it unlocked.
	unnamed := filepath.Join(folder, ownerFile+".new")
	owner, err = os.OpenFile(unnamed, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return "", nil, err
	}
	locked, err := tryLock(owner)
	if err == nil && !locked {
		err = fmt.Errorf("%s is locked by another process, though it was just created", unnamed)
	}
	if err == nil {
		_, err = fmt.Fprintf(owner, "%d\n", os.Getpid()) // for people; the lock is what counts
	}
	if err == nil {
		err = os.Rename(unnamed, filepath.Join(folder, ownerFile))
	}
	if err != nil {
		return "", nil, errors.Join(err, owner.Close())
	}
	return folder, owner, nil
}

// sweep removes the directories of clusters whose process was killed. Failing at one is no reason not to start a new
// cluster, so it is only logged; the next sweep tries again.
func sweep(ctx context.Context, parent string) {
	log := klog.FromContext(ctx)
	folders, err := filepath.Glob(filepath.Join(parent, folderPrefix+"*"))
	if err != nil {
		log.V(1).Info("Could not look for directories of killed clusters", "parent", parent, "err", err)
		return
	}
	for _, folder := range folders {
		err := removeIfOrphaned(folder)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			log.V(1).Info("Could not remove the directory of a killed cluster", "directory", folder, "err", err)
		}
	}
}

func removeIfOrphaned(folder string) (err error) {
	owner, err := os.OpenFile(filepath.Join(folder, ownerFile), os.O_RDWR, 0)
	if err != nil {
		return err // not a cluster's directory, or somebody else's
	}
	defer func() { err = errors.Join(err, owner.Close()) }()
	locked, err := tryLock(owner)
	if err != nil || !locked {
		return err
	}
	return os.RemoveAll(folder)
}

// fileName makes a cluster's name fit for a file name.
func fileName(name string) string {
	if name == "" {
		return "cluster"
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '.':
			return r
		default:
			return '-'
		}
	}, name)
}
