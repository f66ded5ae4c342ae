package datasets

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
)

func TestChanged(t *testing.T) {
	a, b := key{datasetName{"team", "a"}, "SSD"}, key{datasetName{"team", "b"}, "SSD"}
	onHDD := key{datasetName{"team", "a"}, "HDD"}
	tests := []struct {
		name              string
		reported, current map[key]int64
		percent           int32
		want              bool
	}{
		{name: "nothing there", percent: 5},
		{name: "all the same", reported: map[key]int64{a: 100, b: 7}, current: map[key]int64{a: 100, b: 7}, percent: 1},
		// 104 - 100 = 4 < 100 x 5 %
		{name: "grown by less than the threshold", reported: map[key]int64{a: 100}, current: map[key]int64{a: 104}, percent: 5},
		// 105 - 100 = 5 = 100 x 5 %
		{name: "grown by the threshold", reported: map[key]int64{a: 100}, current: map[key]int64{a: 105}, percent: 5, want: true},
		{name: "shrunk by the threshold", reported: map[key]int64{a: 100}, current: map[key]int64{a: 95}, percent: 5, want: true},
		{name: "one of several", reported: map[key]int64{a: 100, b: 100}, current: map[key]int64{a: 100, b: 200}, percent: 100, want: true},
		{name: "appeared", reported: map[key]int64{a: 100}, current: map[key]int64{a: 100, b: 1}, percent: 100, want: true},
		{name: "gone", reported: map[key]int64{a: 100, b: 1}, current: map[key]int64{a: 100}, percent: 100, want: true},
		{name: "gone and appeared", reported: map[key]int64{a: 100}, current: map[key]int64{b: 100}, percent: 100, want: true},
		{name: "moved to another medium", reported: map[key]int64{a: 100}, current: map[key]int64{onHDD: 100}, percent: 100, want: true},
		{name: "a byte more than one", reported: map[key]int64{a: 1}, current: map[key]int64{a: 2}, percent: 100, want: true},
		{
			name: "as large as numbers get", reported: map[key]int64{a: math.MaxInt64}, current: map[key]int64{a: 1},
			percent: 99, want: true,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := changed(tt.reported, tt.current, tt.percent); got != tt.want {
				t.Errorf("changed() = %t, want %t", got, tt.want)
			}
		})
	}
}

func TestKnownAddsUpAndFillsIn(t *testing.T) {
	name := func(text string) datasetName { return datasetName{"team", text} }
	young, old := start(), start().Add(-time.Minute)
	roots := []*root{
		{medium: "SSD", settled: true, counts: map[datasetName]observation{
			name("both"): {bytes: 10, at: young}, name("huge"): {bytes: math.MaxInt64 - 1, at: young},
		}},
		{medium: "SSD", settled: true, counts: map[datasetName]observation{
			name("both"): {bytes: 5, at: old}, name("huge"): {bytes: 5, at: old},
		}},
		{medium: "HDD", counts: map[datasetName]observation{name("both"): {bytes: 1, at: young}}},
	}
	inherited := map[key]observation{
		{name("both"), "HDD"}:  {bytes: 99, at: old},
		{name("other"), "HDD"}: {bytes: 98, at: old},
		{name("gone"), "SSD"}:  {bytes: 97, at: old},
		{name("gone"), "Memory"}: {
			bytes: 96, at: old,
		},
	}
	want := map[key]observation{
		{name("both"), "SSD"}:  {bytes: 15, at: old},
		{name("huge"), "SSD"}:  {bytes: math.MaxInt64, at: old},
		{name("both"), "HDD"}:  {bytes: 1, at: young},
		{name("other"), "HDD"}: {bytes: 98, at: old},
	}
	if diff := cmp.Diff(want, known(roots, inherited), cmp.AllowUnexported(observation{}, key{}, datasetName{})); diff != "" {
		t.Errorf("known() (-want +got):\n%s", diff)
	}
}

func TestEntriesListsTheLargestInOrder(t *testing.T) {
	all := map[key]observation{}
	for i := range maxEntries + 10 {
		all[key{datasetName{"team", fmt.Sprintf("ds%04d", i)}, "SSD"}] = observation{bytes: int64(1 + i), at: start()}
	}
	list, omitted := entries(all)
	if len(list) != maxEntries || omitted != 10 {
		t.Fatalf("%d entries and %d omitted, want %d and 10", len(list), omitted, maxEntries)
	}
	for i, entry := range list {
		if want := int64(11 + i); entry.CachedBytes != want || !entry.ObservedAt.Time.Equal(start()) {
			t.Fatalf("entry %d is %+v, want the dataset with %d bytes: ordered by name, without the ten smallest", i, entry, want)
		}
	}
}

func TestEntriesFitIntoAnObjectWhateverTheNames(t *testing.T) {
	all := map[key]observation{}
	for i := range maxEntries {
		name := fmt.Sprintf("%s%04d", strings.Repeat("d", 249), i)
		all[key{datasetName{strings.Repeat("n", 63), name}, vicinityv1alpha1.MediumMemory}] = observation{bytes: 1, at: start()}
	}
	list, omitted := entries(all)
	// 1 MiB / (300 + 2 x (63 + 253)) = 1125.08
	if len(list) != 1125 || omitted != maxEntries-1125 {
		t.Errorf("%d entries and %d omitted, want 1125 and %d", len(list), omitted, maxEntries-1125)
	}
}

func TestCountSharesOutWhatItCannotRemember(t *testing.T) {
	folder := t.TempDir()
	var names []string
	for i, links := range []int{3, 3} {
		for link := range links {
			name := filepath.Join(folder, fmt.Sprintf("%d-%d", i, link))
			if link == 0 {
				writeFile(t, name, 9000)
			} else {
				must(t, os.Link(filepath.Join(folder, fmt.Sprintf("%d-0", i)), name))
			}
			names = append(names, name)
		}
	}
	// Of two files with three names each, only the first is remembered.
	c := newCount(1)
	for _, name := range names {
		info, err := os.Lstat(name)
		must(t, err)
		c.add(info)
	}
	if want := referenceCount(t, folder); c.bytes != want || len(c.linked) != 1 {
		t.Errorf("%d bytes with %d files remembered, want %d with 1", c.bytes, len(c.linked), want)
	}
}
