package fioprofile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

const (
	cacheVersion = 1
	// maxCacheBytes is far more than 256 disks take.
	maxCacheBytes = 1 << 20
)

// cache is the content of the cache file.
type cache struct {
	Version int              `json:"version"`
	Disks   map[string]entry `json:"disks"` // by identifier
}

// entry is what is known of a disk, and how it is told from another that has its identifier later.
type entry struct {
	Vendor    string          `json:"vendor"`
	Model     string          `json:"model"`
	SizeBytes int64           `json:"sizeBytes"`
	Steps     map[string]Rate `json:"steps"`
}

// steps returns what was measured of a disk, nil for another disk.
func (c *cache) steps(d Disk) map[string]Rate {
	found, ok := c.Disks[d.ID]
	if !ok || found.Vendor != d.Vendor || found.Model != d.Model || found.SizeBytes != d.SizeBytes {
		return nil
	}
	return found.Steps
}

// set notes a measurement, and forgets those of another disk.
func (c *cache) set(d Disk, step string, rate Rate) {
	done := c.steps(d)
	if done == nil {
		done = map[string]Rate{}
	}
	done[step] = rate
	if c.Disks == nil {
		c.Disks = map[string]entry{}
	}
	c.Disks[d.ID] = entry{Vendor: d.Vendor, Model: d.Model, SizeBytes: d.SizeBytes, Steps: done}
}

// loadCache reads the file; one that is not there is an empty one.
func loadCache(path string) (*cache, error) {
	empty := &cache{Version: cacheVersion}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return empty, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read what was measured before: %w", err)
	}
	if info.Size() > maxCacheBytes {
		return nil, fmt.Errorf("what was measured before, %s: expected at most %d bytes, found %d; remove it", path, maxCacheBytes, info.Size())
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read what was measured before: %w", err)
	}
	found, err := parseCache(content)
	if err != nil {
		return nil, fmt.Errorf("what was measured before, %s: %w; remove it", path, err)
	}
	return found, nil
}

func parseCache(content []byte) (*cache, error) {
	found := &cache{}
	if err := json.Unmarshal(content, found); err != nil {
		return nil, err
	}
	if found.Version != cacheVersion {
		return nil, fmt.Errorf("expected version %d, found %d", cacheVersion, found.Version)
	}
	return found, nil
}

// save replaces the file as a whole, so that a crash leaves the old or the new one.
func (c *cache) save(path string) error {
	content, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp")
	if err != nil {
		return fmt.Errorf("cannot keep what was measured: %w", err)
	}
	_, err = file.Write(append(content, '\n'))
	err = errors.Join(err, file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("cannot keep what was measured: %w", errors.Join(err, os.Remove(file.Name())))
	}
	return nil
}
