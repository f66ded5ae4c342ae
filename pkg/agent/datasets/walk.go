package datasets

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
)

const (
	// maxDepth bounds the folders that a walk holds open, two descriptors each.
	maxDepth = 128
	// namesPerRead bounds the names that are held of each of them.
	namesPerRead = 256
)

// datasetName names a dataset of the cluster.
type datasetName struct{ namespace, name string }

// progress is how far a walk got.
type progress int

const (
	// more says that there is more to do at once.
	more progress = iota
	// paused says that there is more to do, in the next round.
	paused
	// finished says that everything was seen.
	finished
)

// walk goes once through everything below a root. It can be left after every step and taken up later: what it holds is
// the stack of open folders that leads to where it stands.
type walk struct {
	site    site
	layout  configv1.DatasetLayout
	metrics *walkMetrics
	// device is the file system of the root.
	device      uint64
	deviceKnown bool

	// stack holds the root's folder first. Those at the layout's depth are datasets.
	stack []frame
	// path is where the folders of stack lie below the root, down to the dataset.
	path []string
	// count is that of the dataset at path; nil above datasets.
	count *count
	// blind says that a folder that may hold datasets, or is one, could not be read: not to have seen a dataset then
	// does not mean that it is gone.
	blind bool
}

// frame is a folder in which a walk stands.
type frame struct {
	folder folder
	// names were read from the folder and not looked at yet.
	names []string
}

// newWalk starts a walk, which closes the site in its end.
func newWalk(top site, layout configv1.DatasetLayout, m *walkMetrics) (*walk, error) {
	info, err := top.Lstat(".")
	if err != nil {
		return nil, errors.Join(err, top.Close())
	}
	w := &walk{site: top, layout: layout, metrics: m, stack: []frame{{folder: top}}}
	w.device, w.deviceKnown = deviceOf(info)
	return w, nil
}

// run does at most the given number of steps, each of which looks at one file or folder. It calls record for each
// dataset that was counted to its end. An error says that the root is no longer what its path leads to; what was counted
// since the last record is then worthless, and the walk at its end.
func (w *walk) run(ctx context.Context, p *pace, steps int, record func(datasetName, int64)) (progress, error) {
	for range steps {
		if !p.take(ctx) {
			return paused, nil
		}
		if err := w.step(record); err != nil {
			return finished, err
		}
		if len(w.stack) == 0 {
			return finished, nil
		}
	}
	return more, nil
}

// close gives back what the walk holds. A walk that ran to its end holds nothing.
func (w *walk) close() error {
	var errs []error
	for _, f := range slices.Backward(w.stack) {
		errs = append(errs, f.folder.Close())
	}
	w.stack = nil
	return errors.Join(errs...)
}

func (w *walk) step(record func(datasetName, int64)) error {
	top := &w.stack[len(w.stack)-1]
	if len(top.names) == 0 {
		return w.read(top, record)
	}
	name := top.names[0]
	top.names = top.names[1:]
	if len(w.stack) <= w.layout.Depth() {
		w.approach(top.folder, name)
	} else {
		w.visit(top.folder, name)
	}
	return nil
}

// read reads the next names of the folder, or leaves it after the last.
func (w *walk) read(top *frame, record func(datasetName, int64)) error {
	names, err := top.folder.Names(namesPerRead)
	top.names = names
	if len(names) > 0 {
		return nil
	}
	if !errors.Is(err, io.EOF) && !errors.Is(err, fs.ErrNotExist) {
		w.unreadable()
		if len(w.stack)-1 == w.layout.Depth() {
			// A part of the dataset's own list is no count: better keep the last one.
			w.blind, w.count = true, nil
		}
	}
	return w.leave(record)
}

// leave goes back to the folder above, and ends the count of a dataset that this leaves.
func (w *walk) leave(record func(datasetName, int64)) error {
	last := len(w.stack) - 1
	left := w.stack[last].folder
	w.stack[last] = frame{}
	w.stack = w.stack[:last]
	// Nothing was written to the folder: an error of its close has no consequence.
	_ = left.Close()

	if last > w.layout.Depth() {
		return nil
	}
	if last == 0 || w.count != nil {
		// A root that was moved away or covered by a mount shows in what was read from it, so it counts only after
		// this.
		if err := w.site.InPlace(); err != nil {
			return fmt.Errorf("the folder is not where it was: %w", err)
		}
	}
	if w.count != nil {
		namespace, name, _ := w.layout.Match(w.path)
		record(datasetName{namespace, name}, w.count.bytes)
		w.count = nil
	}
	if last > 0 {
		w.path = w.path[:last-1]
	}
	return nil
}

// approach looks at something above the datasets: only folders that the layout names are entered.
func (w *walk) approach(parent folder, name string) {
	path := append(w.path, name)
	namespace, dataset, ok := w.layout.Match(path)
	if !ok {
		return
	}
	info, ok := w.lstat(parent, name)
	switch {
	case !ok:
	case info.Mode()&fs.ModeSymlink != 0:
		w.metrics.skipped[skippedLink].Inc()
	case !info.IsDir():
	case !isName(namespace, validation.IsDNS1123Label) || !isName(dataset, validation.IsDNS1123Subdomain):
		w.metrics.skipped[skippedName].Inc()
	case w.enter(parent, name, info):
		w.path = path
		if len(path) == w.layout.Depth() {
			w.count = newCount(maxLinks)
		}
	}
}

// isName tells whether an object may be called like that. Empty is a name that the path does not have yet.
func isName(text string, faults func(string) []string) bool {
	return text == "" || len(faults(text)) == 0
}

// visit looks at something in a dataset.
func (w *walk) visit(parent folder, name string) {
	info, ok := w.lstat(parent, name)
	switch {
	case !ok:
	case info.IsDir():
		w.enter(parent, name, info)
	case info.Mode().IsRegular():
		w.count.add(info)
	}
}

// lstat describes what has the name. What is gone already is as if it had never been.
func (w *walk) lstat(parent folder, name string) (fs.FileInfo, bool) {
	w.metrics.examined.Inc()
	info, err := parent.Lstat(name)
	if err == nil {
		return info, true
	}
	if !errors.Is(err, fs.ErrNotExist) {
		w.unreadable()
	}
	return nil, false
}

// enter goes into a folder, if that is possible and allowed.
func (w *walk) enter(parent folder, name string, info fs.FileInfo) bool {
	if device, known := deviceOf(info); known && w.deviceKnown && device != w.device {
		w.metrics.skipped[skippedDevice].Inc()
		return false
	}
	if len(w.stack) == maxDepth {
		w.metrics.skipped[skippedDepth].Inc()
		return false
	}
	child, err := parent.Open(name, info)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errReplaced) {
			w.unreadable()
		}
		return false
	}
	w.stack = append(w.stack, frame{folder: child})
	return true
}

// unreadable counts what could not be read. Inside of a dataset the rest still counts.
func (w *walk) unreadable() {
	w.metrics.skipped[skippedUnreadable].Inc()
	if len(w.stack) <= w.layout.Depth() {
		w.blind = true
	}
}
