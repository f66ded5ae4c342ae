package topology

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Suffix ends the names of copies, before the extension.
const Suffix = "-hier"

// folders is what the names of workload folders begin with.
const folders = "openb_pod_list_*"

// Written is a copy that was made.
type Written struct {
	Path string
	// Nodes is the number of nodes in it; 0 for files of pods.
	Nodes int
	// Unchanged says that the copy was there already, byte by byte.
	Unchanged bool
}

// Write makes copies of all manifests in the workload folders below dataDir, or in dataDir itself if it has none. Nodes
// are counted through all files of a folder.
func (o *Options) Write(ctx context.Context, dataDir string, report func(Written)) error {
	found, err := filepath.Glob(filepath.Join(dataDir, folders))
	if err != nil {
		return fmt.Errorf("looking for workload folders: %w", err)
	}
	workloads := slices.DeleteFunc(found, func(path string) bool {
		info, err := os.Stat(path)
		return err != nil || !info.IsDir()
	})
	if len(workloads) == 0 {
		workloads = []string{dataDir}
	}
	for _, folder := range workloads {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := o.folder(folder, report); err != nil {
			return err
		}
	}
	return nil
}

func (o *Options) folder(folder string, report func(Written)) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return fmt.Errorf("reading the folder of a workload: %w", err)
	}
	position, files := 0, 0
	for _, entry := range entries {
		extension := filepath.Ext(entry.Name())
		stem := strings.TrimSuffix(entry.Name(), extension)
		if entry.IsDir() || extension != ".yaml" && extension != ".yml" || strings.HasSuffix(stem, Suffix) {
			continue
		}
		files++
		written, err := o.file(filepath.Join(folder, entry.Name()), filepath.Join(folder, stem+Suffix+extension), position)
		if err != nil {
			return err
		}
		position += written.Nodes
		report(written)
	}
	if files == 0 {
		return fmt.Errorf("no manifests in %s, and no folders %s: want the folder above those, see --data-dir", folder, folders)
	}
	return nil
}

func (o *Options) file(from, to string, position int) (Written, error) {
	data, err := os.ReadFile(from)
	if err != nil {
		return Written{}, fmt.Errorf("reading manifests: %w", err)
	}
	labelled, nodes, err := o.Label(data, position)
	if err != nil {
		return Written{}, fmt.Errorf("%s: %w", from, err)
	}
	written := Written{Path: to, Nodes: nodes}
	if there, err := os.ReadFile(to); err == nil && bytes.Equal(there, labelled) {
		written.Unchanged = true
		return written, nil
	}
	if err := os.WriteFile(to, labelled, 0o644); err != nil { //nolint:gosec // a copy of a file that others may read
		return Written{}, fmt.Errorf("writing %s: %w", to, err)
	}
	return written, nil
}
