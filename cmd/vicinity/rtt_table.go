package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/vicinity-scheduler/vicinity/pkg/delay"
)

// rttList is what -o json and -o yaml show.
type rttList struct {
	Items []rttNode `json:"items"`
}

type rttNode struct {
	Node  string    `json:"node"`
	Paths []rttPath `json:"paths"`
}

// rttPath is what counts between two places.
type rttPath struct {
	To string `json:"to"`
	// Endpoint says that To is outside of the cluster.
	Endpoint        bool     `json:"endpoint,omitempty"`
	P50Microseconds int64    `json:"p50Microseconds"`
	P99Microseconds *int64   `json:"p99Microseconds,omitempty"`
	LossPercent     float64  `json:"lossPercent"`
	Cut             bool     `json:"cut"`
	Samples         int32    `json:"samples,omitempty"`
	Source          string   `json:"source"`
	AgeSeconds      *float64 `json:"ageSeconds,omitempty"`
	// Reverse says that the other end measured it.
	Reverse bool `json:"reverse,omitempty"`
}

// describe says what is known of the paths from the nodes.
func (v *rttView) describe(nodes []string) rttList {
	list := rttList{Items: make([]rttNode, 0, len(nodes))}
	for _, from := range nodes {
		item := rttNode{Node: from, Paths: []rttPath{}}
		for _, to := range v.targetsOf(from) {
			sample, ok := v.store.Lookup(from, to)
			reverse := !ok || !sample.Known
			if reverse {
				sample, ok = v.best(from, to)
			}
			if !ok || !sample.Known {
				continue
			}
			path := v.pathOf(to, &sample)
			path.Reverse = reverse
			item.Paths = append(item.Paths, path)
		}
		slices.SortFunc(item.Paths, func(a, b rttPath) int {
			return cmp.Or(cmp.Compare(a.P50Microseconds, b.P50Microseconds), cmp.Compare(a.To, b.To))
		})
		list.Items = append(list.Items, item)
	}
	return list
}

func (v *rttView) pathOf(to string, s *delay.Sample) rttPath {
	p := rttPath{
		To: to, P50Microseconds: s.P50.Microseconds(), LossPercent: float64(s.Loss) * 100 / delay.WholeLoss,
		Cut: s.Loss >= delay.WholeLoss, Samples: s.Count, Source: s.Source.String(),
	}
	if endpoint, ok := delay.EndpointOf(to); ok {
		p.To, p.Endpoint = endpoint, true
	}
	if s.HasP99 {
		microseconds := s.P99.Microseconds()
		p.P99Microseconds = &microseconds
	}
	if !s.ObservedAt.IsZero() {
		seconds := max(0, v.now.Sub(s.ObservedAt).Seconds())
		p.AgeSeconds = &seconds
	}
	return p
}

func writeRTTs(out io.Writer, format string, list rttList) error {
	switch format {
	case "json", "yaml":
		return writeObject(out, format, list)
	case "wide":
		var rows [][]string
		for i := range list.Items {
			for j := range list.Items[i].Paths {
				rows = append(rows, wideRTTRow(list.Items[i].Node, &list.Items[i].Paths[j]))
			}
		}
		return writeTable(out, "FROM\tTO\tP50\tP99\tLOSS\tSAMPLES\tSOURCE\tAGE", rows)
	}
	rows := make([][]string, 0, len(list.Items))
	for i := range list.Items {
		rows = append(rows, shortRTTRow(&list.Items[i]))
	}
	return writeTable(out, "NODE\tPATHS\tSHORTEST\tMEDIAN\tLONGEST\tCUT\tSOURCES\tAGE", rows)
}

func shortRTTRow(n *rttNode) []string {
	if len(n.Paths) == 0 {
		return []string{n.Node, "0", none, none, none, "0", none, none}
	}
	cut := 0
	var sources []string
	var newest *float64
	for i := range n.Paths {
		p := &n.Paths[i]
		if p.Cut {
			cut++
		}
		if !slices.Contains(sources, p.Source) {
			sources = append(sources, p.Source)
		}
		if p.AgeSeconds != nil && (newest == nil || *p.AgeSeconds < *newest) {
			newest = p.AgeSeconds
		}
	}
	slices.Sort(sources)
	at := func(i int) string { return milliseconds(time.Duration(n.Paths[i].P50Microseconds) * time.Microsecond) }
	return []string{
		n.Node, strconv.Itoa(len(n.Paths)), at(0), at((len(n.Paths) - 1) / 2), at(len(n.Paths) - 1), strconv.Itoa(cut),
		strings.Join(sources, ","), rttAge(newest),
	}
}

func wideRTTRow(from string, p *rttPath) []string {
	p99, loss, source := none, strconv.FormatFloat(p.LossPercent, 'f', 1, 64)+"%", p.Source
	if p.P99Microseconds != nil {
		p99 = milliseconds(time.Duration(*p.P99Microseconds) * time.Microsecond)
	}
	if p.Cut {
		loss = "cut"
	}
	if p.Reverse {
		source += " of " + p.To
	}
	samples := none
	if p.Samples > 0 {
		samples = strconv.Itoa(int(p.Samples))
	}
	return []string{
		from, p.To, milliseconds(time.Duration(p.P50Microseconds) * time.Microsecond), p99, loss, samples, source, rttAge(p.AgeSeconds),
	}
}

// milliseconds shows a delay with three digits that count, in milliseconds, the unit of bounds.
func milliseconds(d time.Duration) string {
	switch ms := float64(d.Microseconds()) / 1000; {
	case ms < 10:
		return fmt.Sprintf("%.3gms", ms)
	default:
		return fmt.Sprintf("%.1fms", ms)
	}
}

func rttAge(seconds *float64) string {
	if seconds == nil {
		return none
	}
	return duration.HumanDuration(time.Duration(*seconds * float64(time.Second)))
}
