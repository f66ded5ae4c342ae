package sweep

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Cell is one run of a grid.
type Cell struct {
	Policy, Trace string
	Seed          int64
}

// Grid is everything that is to be run.
type Grid struct {
	Policies, Traces []string
	Seeds            []int64
}

// Cells are all combinations, trace by trace, so that a trace is read once and can be forgotten.
func (g *Grid) Cells() []Cell {
	cells := make([]Cell, 0, len(g.Policies)*len(g.Traces)*len(g.Seeds))
	for _, trace := range g.Traces {
		for _, policy := range g.Policies {
			for _, seed := range g.Seeds {
				cells = append(cells, Cell{Policy: policy, Trace: trace, Seed: seed})
			}
		}
	}
	return cells
}

// Shard is a part of a grid: every Of-th cell from Index on. The zero value is all of it.
type Shard struct{ Index, Of int }

// ParseShard reads "2/5": the third of five.
func ParseShard(text string) (Shard, error) {
	if text == "" {
		return Shard{}, nil
	}
	indexText, ofText, _ := strings.Cut(text, "/")
	at, err := strconv.Atoi(indexText)
	of, err2 := strconv.Atoi(ofText)
	if errors.Join(err, err2) != nil || of < 1 || at < 0 || at >= of {
		return Shard{}, fmt.Errorf("want INDEX/COUNT with an index from 0 to COUNT - 1, such as 2/5; found %q", text)
	}
	return Shard{Index: at, Of: of}, nil
}

// Of are the shard's cells.
func (s Shard) cells(all []Cell) []Cell {
	if s.Of <= 1 {
		return all
	}
	var mine []Cell
	for i, cell := range all {
		if i%s.Of == s.Index {
			mine = append(mine, cell)
		}
	}
	return mine
}

// FileName is where the shard's results go.
func (s Shard) FileName() string {
	if s.Of <= 1 {
		return filePrefix + fileExtension
	}
	return fmt.Sprintf("%s-%d-of-%d%s", filePrefix, s.Index, s.Of, fileExtension)
}

const (
	filePrefix    = "results"
	fileExtension = ".jsonl"
)

// mostSeeds bounds a range that somebody has mistyped.
const mostSeeds = 100_000

// ParseSeeds reads numbers and ranges: "42-51,60".
func ParseSeeds(text string) ([]int64, error) {
	var seeds []int64
	seen := map[int64]bool{}
	for part := range strings.SplitSeq(text, ",") {
		firstText, lastText, isRange := strings.Cut(strings.TrimSpace(part), "-")
		if !isRange {
			lastText = firstText
		}
		first, err := strconv.ParseInt(firstText, 10, 64)
		last, err2 := strconv.ParseInt(lastText, 10, 64)
		if errors.Join(err, err2) != nil || last < first || last-first >= mostSeeds {
			return nil, fmt.Errorf("want seeds and ranges of them, such as 42-51,60; found %q", part)
		}
		for seed := first; seed <= last; seed++ {
			if !seen[seed] {
				seeds = append(seeds, seed)
			}
			seen[seed] = true
		}
	}
	return seeds, nil
}
