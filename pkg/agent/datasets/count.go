package datasets

import (
	"io/fs"
	"math"
	"syscall"
)

const (
	// blockSize is the unit of st_blocks, whatever the file system's own block size is.
	blockSize = 512

	// maxLinks bounds how many hard-linked files of one dataset are remembered: about 2 MB.
	maxLinks = 1 << 16
)

// count sums the bytes of one dataset.
type count struct {
	bytes int64
	// linked are the inodes of files that have further names, which may be in this dataset too.
	linked map[uint64]struct{}
	// maxLinked bounds linked.
	maxLinked int
}

func newCount(maxLinked int) *count {
	return &count{linked: map[uint64]struct{}{}, maxLinked: maxLinked}
}

// add adds a regular file, unless it was added under another name. When too many files with several names are
// remembered already, each name of a further one adds its share: right if all names are in the dataset, too little else.
func (c *count) add(info fs.FileInfo) {
	size := info.Size()
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		size = allocated(stat)
		if links := int64(stat.Nlink); links > 1 {
			if _, seen := c.linked[stat.Ino]; seen {
				return
			}
			if len(c.linked) < c.maxLinked {
				c.linked[stat.Ino] = struct{}{}
			} else {
				size /= links
			}
		}
	}
	c.bytes = saturatingAdd(c.bytes, max(0, size))
}

// allocated is what the file takes on the medium: less than its size if it has holes or is compressed.
func allocated(stat *syscall.Stat_t) int64 {
	if stat.Blocks > math.MaxInt64/blockSize {
		return math.MaxInt64
	}
	return stat.Blocks * blockSize
}

func saturatingAdd(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// deviceOf tells which file system a file is on, if it can be told.
func deviceOf(info fs.FileInfo) (device uint64, known bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return uint64(stat.Dev), true //nolint:unconvert // its type differs between operating systems
}
