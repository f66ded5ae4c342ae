package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"
)

// mostPlaces is how many places a row of the short table names.
const mostPlaces = 3

func writeDatasets(out io.Writer, format string, list datasetList) error {
	if format == "json" || format == "yaml" {
		return writeObject(out, format, list)
	}
	header, rows := "NAMESPACE\tNAME\tSIZE\tWHERE\tMEDIUM\tCACHED\tSOURCE\tAGE", shortRow
	if format == "wide" {
		header, rows = "NAMESPACE\tNAME\tSIZE\tPLACE\tGATEWAY\tMEDIUM\tBYTES\tCACHED\tSOURCE\tAGE\tUSABLE", wideRows
	}
	var all [][]string
	for i := range list.Items {
		all = append(all, rows(&list.Items[i])...)
	}
	return writeTable(out, header, all)
}

// shortRow is the one row of a dataset in the short table.
func shortRow(d *datasetView) [][]string {
	counted := slices.DeleteFunc(slices.Clone(d.Replicas), func(r replicaView) bool { return !r.Usable })
	var media set
	for i := range counted {
		media.add(counted[i].medium())
	}
	newest := newestAge(counted)
	if newest == nil && len(counted) == 0 {
		newest = newestAge(d.Replicas)
	}
	return [][]string{{
		d.Namespace, d.Name, sizeCell(d.SizeBytes), whereCell(counted, d.Replicas), media.cell(), mostCached(d, counted),
		d.sources(), ageCell(newest, len(d.Replicas)),
	}}
}

func (d *datasetView) sources() string {
	known := set{values: d.Sources}
	return known.cell()
}

// medium is what a cell shows of it.
func (r *replicaView) medium() string {
	switch {
	case r.Gateway:
		return "gateway"
	case r.Medium == "":
		return unknown
	default:
		return r.Medium
	}
}

// set keeps the order in which values were added.
type set struct{ values []string }

func (s *set) add(value string) {
	if !slices.Contains(s.values, value) {
		s.values = append(s.values, value)
	}
}

func (s *set) cell() string {
	if len(s.values) == 0 {
		return none
	}
	return strings.Join(s.values, ",")
}

func whereCell(counted, all []replicaView) string {
	places, others := set{}, set{}
	for i := range counted {
		places.add(counted[i].place())
	}
	for i := range all {
		if place := all[i].place(); !slices.Contains(places.values, place) {
			others.add(place)
		}
	}
	var notes []string
	if more := len(places.values) - mostPlaces; more > 0 {
		places.values = places.values[:mostPlaces]
		notes = append(notes, fmt.Sprintf("+%d more", more))
	}
	if len(others.values) > 0 {
		notes = append(notes, fmt.Sprintf("%d unusable", len(others.values)))
	}
	if len(notes) == 0 {
		return places.cell()
	}
	return places.cell() + " (" + strings.Join(notes, ", ") + ")"
}

// mostCached is what the place with the most bytes holds, on all its media.
func mostCached(d *datasetView, counted []replicaView) string {
	if len(counted) == 0 {
		return none
	}
	var most int64
	byPlace := map[string]int64{}
	for i := range counted {
		r := &counted[i]
		switch {
		case r.Gateway:
			return notApplicable
		case r.CachedBytes == nil:
			return unknown
		}
		byPlace[r.place()] += *r.CachedBytes
		most = max(most, byPlace[r.place()])
	}
	if d.SizeBytes <= 0 {
		return humanBytes(most)
	}
	return humanBytes(most) + " (" + humanPercent(100*min(1, float64(most)/float64(d.SizeBytes))) + ")"
}

func newestAge(replicas []replicaView) *float64 {
	var newest *float64
	for i := range replicas {
		if age := replicas[i].AgeSeconds; age != nil && (newest == nil || *age < *newest) {
			newest = age
		}
	}
	return newest
}

func ageCell(seconds *float64, replicas int) string {
	switch {
	case replicas == 0:
		return none
	case seconds == nil:
		return unknown
	default:
		return duration.HumanDuration(time.Duration(*seconds * float64(time.Second)))
	}
}

// wideRows has a row for each place and medium, and one for a dataset that is nowhere.
func wideRows(d *datasetView) [][]string {
	if len(d.Replicas) == 0 {
		return [][]string{{
			d.Namespace, d.Name, sizeCell(d.SizeBytes), none, none, none, none, none, d.sources(), none, "no: no source says where it is",
		}}
	}
	var rows [][]string
	for i := range d.Replicas {
		r := &d.Replicas[i]
		gateway, medium, held, percent := "no", r.medium(), unknown, unknown
		if r.Gateway {
			gateway, medium, held, percent = "yes", notApplicable, notApplicable, notApplicable
		}
		if r.CachedBytes != nil {
			held = humanBytes(*r.CachedBytes)
		}
		if r.Percent != nil {
			percent = humanPercent(*r.Percent)
		}
		usable := "yes"
		if !r.Usable {
			usable = "no: " + r.Reason
		}
		rows = append(rows, []string{
			d.Namespace, d.Name, sizeCell(d.SizeBytes), r.place(), gateway, medium, held, percent, r.Source,
			ageCell(r.AgeSeconds, len(d.Replicas)), usable,
		})
	}
	return rows
}

func sizeCell(size int64) string {
	if size <= 0 {
		return unknown
	}
	return humanBytes(size)
}
