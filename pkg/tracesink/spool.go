package tracesink

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
)

const (
	// segmentBytes is the size at which a new segment is begun, and so the unit in which space is given back.
	segmentBytes = 4 << 20
	// flushBytes is how much is written at once at most.
	flushBytes = 256 << 10
	// maxEntry bounds an entry: a record with a full matrix.
	maxEntry     = 8 << 20
	entryHeader  = 8 // length and checksum, 32 bits each, little endian
	segmentSpell = ".spool"
)

// spool is a queue of entries on disk, in segments that are files named by a rising number. An entry is its length, the
// CRC-32C of its bytes, and its bytes. A process that is killed loses what it has not flushed and leaves at most one torn
// entry, at the end of a segment; the next process begins a new segment.
//
// mu guards everything. Files are written by append's caller and read by another goroutine, which only reads what has
// been flushed.
type spool struct {
	dir      string
	maxBytes int64
	maxSize  int64 // of a segment

	mu       sync.Mutex
	segments []*segment // oldest first; the last one is written
	total    int64      // bytes of all segments
	file     *os.File   // of the last segment; nil until something is flushed
	pending  []byte     // appended, not flushed
	waiting  int        // entries in pending
}

type segment struct {
	id   uint64
	size int64 // flushed bytes
}

// place is between two entries.
type place struct {
	segment uint64
	offset  int64
}

// openSpool opens the folder, which it makes if need be, with what an earlier process left in it.
func openSpool(dir string, maxBytes int64) (*spool, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("spool of decision records: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("spool of decision records: %w", err)
	}
	s := &spool{dir: dir, maxBytes: maxBytes, maxSize: min(segmentBytes, max(maxBytes/4, 1))}
	for _, entry := range entries {
		name, ok := strings.CutSuffix(entry.Name(), segmentSpell)
		id, err := strconv.ParseUint(name, 16, 64)
		info, infoErr := entry.Info()
		if !ok || err != nil || infoErr != nil || !info.Mode().IsRegular() {
			continue // not ours
		}
		s.segments = append(s.segments, &segment{id: id, size: info.Size()})
		s.total += info.Size()
	}
	slices.SortFunc(s.segments, func(a, b *segment) int {
		if a.id < b.id {
			return -1
		}
		return 1
	})
	s.begin()
	return s, nil
}

// begin adds a segment. The caller has mu.
func (s *spool) begin() {
	id := uint64(1)
	if n := len(s.segments); n > 0 {
		id = s.segments[n-1].id + 1
	}
	s.segments = append(s.segments, &segment{id: id})
}

func (s *spool) path(id uint64) string {
	return filepath.Join(s.dir, fmt.Sprintf("%016x%s", id, segmentSpell))
}

// first is where the oldest entry is, or will be.
func (s *spool) first() place {
	s.mu.Lock()
	defer s.mu.Unlock()
	return place{segment: s.segments[0].id}
}

// bytes is how much there is, flushed or not.
func (s *spool) bytes() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.total + int64(len(s.pending))
}

// append adds an entry, and returns how many entries were lost for that: pending ones, because the disk is full, or the
// oldest ones, because the spool is.
func (s *spool) append(entry []byte) (lost int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pending = binary.LittleEndian.AppendUint32(s.pending, uint32(len(entry)))
	s.pending = binary.LittleEndian.AppendUint32(s.pending, checksum(entry))
	s.pending = append(s.pending, entry...)
	s.waiting++
	if len(s.pending) < flushBytes {
		return 0, nil
	}
	return s.flushLocked()
}

// flush writes what was appended. What cannot be written is lost: keeping it would only move the problem to memory.
func (s *spool) flush() (lost int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.flushLocked()
}

func (s *spool) flushLocked() (lost int, err error) {
	if len(s.pending) == 0 {
		return 0, nil
	}
	last := s.segments[len(s.segments)-1]
	entries := s.waiting
	err = s.write(last)
	s.pending, s.waiting = s.pending[:0], 0
	if err != nil {
		return entries, err
	}
	if last.size >= s.maxSize {
		err = s.file.Close()
		s.file = nil
		s.begin()
	}
	return s.makeRoom(), err
}

// write appends what is pending to the segment's file, or leaves that as it was.
func (s *spool) write(last *segment) error {
	if s.file == nil {
		file, err := os.OpenFile(s.path(last.id), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
		if err != nil {
			return fmt.Errorf("spool of decision records: %w", err)
		}
		s.file = file
	}
	n, err := s.file.WriteAt(s.pending, last.size)
	if err != nil {
		if n > 0 {
			err = errors.Join(err, s.file.Truncate(last.size))
		}
		return fmt.Errorf("spool of decision records: %w", err)
	}
	last.size += int64(n)
	s.total += int64(n)
	return nil
}

// makeRoom deletes the oldest segments while there is too much, and returns how many entries went with them.
func (s *spool) makeRoom() (lost int) {
	for s.total > s.maxBytes && len(s.segments) > 1 {
		lost += s.count(s.segments[0])
		s.remove()
	}
	return lost
}

// remove deletes the oldest segment. The caller has mu.
func (s *spool) remove() {
	oldest := s.segments[0]
	_ = os.Remove(s.path(oldest.id)) // what is left is taken up by the next process, and sent twice at worst
	s.total -= oldest.size
	s.segments = s.segments[1:]
}

func (s *spool) count(seg *segment) (entries int) {
	for at := int64(0); at < seg.size; {
		var header [entryHeader]byte
		length, err := s.header(seg, at, header[:])
		if err != nil {
			break
		}
		entries++
		at += entryHeader + length
	}
	return entries
}

// errTorn marks a place in a segment that is not the beginning of an entry.
var errTorn = errors.New("not an entry")

func (s *spool) header(seg *segment, at int64, buffer []byte) (length int64, err error) {
	file, err := os.Open(s.path(seg.id))
	if err != nil {
		return 0, err
	}
	defer file.Close()
	return readHeader(file, at, seg.size, buffer)
}

func readHeader(file io.ReaderAt, at, size int64, buffer []byte) (length int64, err error) {
	if _, err := file.ReadAt(buffer, at); err != nil {
		return 0, fmt.Errorf("%w: %w", errTorn, err)
	}
	length = int64(binary.LittleEndian.Uint32(buffer))
	if length == 0 || length > maxEntry || at+entryHeader+length > size {
		return 0, fmt.Errorf("%w: length is %d with %d bytes left", errTorn, length, size-at-entryHeader)
	}
	return length, nil
}

// batch is a run of entries.
type batch struct {
	entries [][]byte
	next    place // behind the last one
	corrupt int   // places passed over
}

// read returns entries from a place on, as many as there are up to limits. An entry with a wrong checksum is passed over;
// where not even the next one can be found, so is the rest of the segment.
func (s *spool) read(from place, maxEntries, maxBytes int) (batch, error) {
	b := batch{next: from}
	for len(b.entries) < maxEntries {
		seg, more := s.at(&b.next)
		if !more {
			return b, nil
		}
		if err := s.readSegment(seg, &b, maxEntries, &maxBytes); err != nil {
			return b, err
		}
		if maxBytes <= 0 {
			return b, nil
		}
	}
	return b, nil
}

// at returns the segment of a place, or moves the place on to the next one that has something.
func (s *spool) at(p *place) (seg segment, more bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, seg := range s.segments {
		switch {
		case seg.id < p.segment:
			continue
		case seg.id > p.segment:
			*p = place{segment: seg.id}
		}
		if p.offset < seg.size {
			return *seg, true
		}
	}
	return segment{}, false
}

func (s *spool) readSegment(seg segment, b *batch, maxEntries int, maxBytes *int) error {
	file, err := os.Open(s.path(seg.id))
	if err != nil {
		b.corrupt++
		b.next.offset = seg.size // somebody deleted it
		return nil
	}
	defer file.Close()
	var header [entryHeader]byte
	for b.next.offset < seg.size && len(b.entries) < maxEntries && *maxBytes > 0 {
		length, err := readHeader(file, b.next.offset, seg.size, header[:])
		if err != nil {
			b.corrupt++
			b.next.offset = seg.size
			return nil
		}
		entry := make([]byte, length)
		if _, err := file.ReadAt(entry, b.next.offset+entryHeader); err != nil {
			return fmt.Errorf("spool of decision records: %w", err)
		}
		b.next.offset += entryHeader + length
		if checksum(entry) != binary.LittleEndian.Uint32(header[4:]) {
			b.corrupt++
			continue
		}
		b.entries = append(b.entries, entry)
		*maxBytes -= int(length)
	}
	return nil
}

// release deletes the segments before a place.
func (s *spool) release(before place) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.segments) > 1 && (s.segments[0].id < before.segment ||
		s.segments[0].id == before.segment && before.offset >= s.segments[0].size) {
		s.remove()
	}
}

// empty reports whether there is nothing behind a place.
func (s *spool) empty(behind place) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := s.segments[len(s.segments)-1]
	return len(s.pending) == 0 && (behind.segment > last.id || behind.segment == last.id && behind.offset >= last.size ||
		last.size == 0 && len(s.segments) == 1)
}

// close flushes and closes the last segment's file; one that is all delivered is deleted.
func (s *spool) close(delivered place) error {
	_, err := s.flush()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file != nil {
		err = errors.Join(err, s.file.Close())
		s.file = nil
	}
	if last := s.segments[len(s.segments)-1]; len(s.segments) == 1 && delivered.segment == last.id && delivered.offset >= last.size {
		_ = os.Remove(s.path(last.id)) // as above
	}
	return err
}

func checksum(entry []byte) uint32 { return crc32.Checksum(entry, crc32.MakeTable(crc32.Castagnoli)) }
