package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"
	"sigs.k8s.io/yaml"
)

// What stands in a cell without a value, as kubectl has it; notApplicable is for what a gateway does not have.
const (
	none          = "<none>"
	unknown       = "<unknown>"
	notApplicable = "-"
)

// mostPlaces is how many places a row of the short table names.
const mostPlaces = 3

func writeDatasets(out io.Writer, format string, list datasetList) error {
	switch format {
	case "json":
		encoder := json.NewEncoder(out)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		return encoder.Encode(list)
	case "yaml":
		text, err := yaml.Marshal(list)
		if err != nil {
			return fmt.Errorf("writing YAML: %w", err)
		}
		_, err = out.Write(text)
		return err
	}
	if len(list.Items) == 0 {
		return nil
	}
	header, rows := "NAMESPACE\tNAME\tSIZE\tWHERE\tMEDIUM\tCACHED\tSOURCE\tAGE", shortRow
	if format == "wide" {
		header, rows = "NAMESPACE\tNAME\tSIZE\tPLACE\tGATEWAY\tMEDIUM\tBYTES\tCACHED\tSOURCE\tAGE\tUSABLE", wideRows
	}
	var text bytes.Buffer
	table := tabwriter.NewWriter(&text, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, header)
	for i := range list.Items {
		for _, row := range rows(&list.Items[i]) {
			fmt.Fprintln(table, strings.Join(row, "\t"))
		}
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("writing the table: %w", err)
	}
	_, err := text.WriteTo(out)
	return err
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

// humanBytes shows a number of bytes with two digits at least, in the binary units of Kubernetes' quantities. Those
// cannot do it themselves: they are exact, and show 5 GB as 5000000000.
func humanBytes(n int64) string {
	const units = "KMGTPE"
	value, unit := float64(n), -1
	for value >= 1024 && unit < len(units)-1 {
		value /= 1024
		unit++
	}
	switch {
	case unit < 0:
		return fmt.Sprint(n)
	case value < 9.95:
		return fmt.Sprintf("%.1f%ci", value, units[unit])
	case value >= 1023.5 && unit < len(units)-1:
		return fmt.Sprintf("1.0%ci", units[unit+1])
	default:
		return fmt.Sprintf("%.0f%ci", value, units[unit])
	}
}

// humanPercent rounds down, so that 100% means all of it; what is there at all does not look like nothing.
func humanPercent(percent float64) string {
	if percent > 0 && percent < 1 {
		return "<1%"
	}
	return fmt.Sprintf("%d%%", int64(percent))
}
