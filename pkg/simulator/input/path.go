package input

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/input/faults"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/input/manifests"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/input/openb"
)

// csvExtension is that of the openb trace's files.
const csvExtension = ".csv"

// path reads a file or folder of either kind.
func (l *loader) path(ctx context.Context, path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("reading the input: %w", err)
	}
	tables, err := tablesAt(path)
	if err != nil {
		return err
	}
	for _, file := range tables {
		if err := l.table(file); err != nil {
			return err
		}
	}
	if !info.IsDir() && len(tables) > 0 {
		return nil
	}
	if info.IsDir() && len(tables) > 0 && !hasManifests(path) {
		return nil
	}
	set, err := manifests.Read(ctx, path, l.list)
	if err != nil {
		return err
	}
	l.loaded.Objects.Merge(set, l.list)
	return nil
}

// hasManifests says whether a folder holds manifests beside tables. Its warnings are those of Read, which follows.
func hasManifests(folder string) bool {
	files, err := manifests.Files(folder, &faults.List{})
	return err == nil && len(files) > 0
}

// tablesAt are the CSV files at a path, in the order of their names.
func tablesAt(path string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(path, func(file string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && filepath.Ext(file) == csvExtension {
			files = append(files, file)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading the input: %w", err)
	}
	return files, nil
}

func (l *loader) table(file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("reading the input: %w", err)
	}
	e := &l.loaded.Experiment
	switch openb.KindOf(data) {
	case openb.Nodes:
		e.Cluster.Nodes = append(e.Cluster.Nodes, openb.ReadNodes(file, data, l.list)...)
	case openb.Pods:
		e.Pods = append(e.Pods, openb.ReadPods(file, data, l.source.Times, l.list)...)
	default:
		l.list.Add(faults.Position{File: file, Line: 1},
			"want the columns of nodes (sn,cpu_milli,memory_mib,gpu,model) or of pods (name,cpu_milli,memory_mib,num_gpu,gpu_milli)")
	}
	return nil
}
