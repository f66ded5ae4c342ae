package datasets

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// folder is an open folder. It is not fs.FS, which finds every file by its path from the top, follows links on the way
// and cannot be told not to: what a walk needs is to go from one folder to the next and nowhere else.
type folder interface {
	// Names returns 1 to n further names, in no order, or io.EOF after the last. Where it stands survives changes of
	// the folder: what is there all the time is returned once.
	Names(n int) ([]string, error)
	// Lstat describes what has the name, without following a link.
	Lstat(name string) (fs.FileInfo, error)
	// Open opens the folder of that name. The error is errReplaced if it is not what Lstat described before.
	Open(name string, described fs.FileInfo) (folder, error)
	io.Closer
}

// site is the folder of a root.
type site interface {
	folder
	// InPlace fails if the root's path no longer leads to this folder.
	InPlace() error
}

// errReplaced says that a name means something else than a moment ago.
var errReplaced = errors.New("replaced while it was looked at")

// diskFolder is a folder of the machine. Its two descriptors are for what is in it and for the list of that.
type diskFolder struct {
	root *os.Root
	list *os.File
}

func newDiskFolder(root *os.Root) (*diskFolder, error) {
	list, err := root.Open(".")
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return &diskFolder{root, list}, nil
}

func (f *diskFolder) Names(n int) ([]string, error) { return f.list.Readdirnames(n) }

func (f *diskFolder) Lstat(name string) (fs.FileInfo, error) { return f.root.Lstat(name) }

func (f *diskFolder) Open(name string, described fs.FileInfo) (folder, error) {
	// The dot makes the name one that must be a folder. Without it, OpenRoot would open a pipe that has just taken the
	// folder's place, and wait for a writer.
	root, err := f.root.OpenRoot(name + "/.")
	if errors.Is(err, syscall.ENOTDIR) {
		return nil, errReplaced
	}
	if err != nil {
		return nil, err
	}
	// It still follows a link that has taken the folder's place, though not to the outside.
	opened, err := root.Stat(".")
	if err == nil && !os.SameFile(described, opened) {
		err = errReplaced
	}
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return newDiskFolder(root)
}

func (f *diskFolder) Close() error { return errors.Join(f.list.Close(), f.root.Close()) }

// diskSite is a root's folder.
type diskSite struct {
	*diskFolder
	path string
	info fs.FileInfo
}

// openSite opens the folder of a root. The path may lead over links: the administrator wrote it.
func openSite(path string) (site, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	info, err := root.Stat(".")
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	top, err := newDiskFolder(root)
	if err != nil {
		return nil, err
	}
	return &diskSite{diskFolder: top, path: path, info: info}, nil
}

func (s *diskSite) InPlace() error {
	now, err := os.Stat(s.path)
	if err != nil {
		return err
	}
	if !os.SameFile(s.info, now) {
		return fmt.Errorf("%s: %w", s.path, errReplaced)
	}
	return nil
}
