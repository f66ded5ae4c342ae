package model

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/vicinity-scheduler/vicinity/pkg/gpushare"
)

func TestDistanceTo(t *testing.T) {
	at := func(name, zone, rack string) *Node {
		labels := map[string]string{}
		if zone != "" {
			labels[zoneLabel] = zone
		}
		if rack != "" {
			labels[rackLabel] = rack
		}
		return &Node{Name: name, Labels: labels}
	}
	for _, c := range []struct {
		name string
		a, b *Node
		want Distance
	}{
		{"itself", at("a", "", ""), at("a", "", ""), SameNode},
		{"the same rack", at("a", "z", "r"), at("b", "z", "r"), SameRack},
		{"another rack of the zone", at("a", "z", "r"), at("b", "z", "s"), SameZone},
		{"the zone, racks unknown", at("a", "z", ""), at("b", "z", ""), SameZone},
		{"a rack of the same name in another zone", at("a", "z", "r"), at("b", "y", "r"), OtherZone},
		{"racks without zones", at("a", "", "r"), at("b", "", "r"), SameRack},
		{"nothing known", at("a", "", ""), at("b", "", ""), OtherZone},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.a.DistanceTo(c.b); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
			if got := c.b.DistanceTo(c.a); got != c.want {
				t.Errorf("the way back is %v, want %v", got, c.want)
			}
		})
	}
	predecessor := &Node{Name: "c", Labels: map[string]string{simonRack: "rack-0"}}
	if got := predecessor.Rack(); got != "rack-0" {
		t.Errorf("the predecessor's label says rack %q, want rack-0", got)
	}
}

func TestDistanceNames(t *testing.T) {
	for d := range Distances {
		if name := d.String(); name == "" || name == "unknown" {
			t.Errorf("distance %d has no name", d)
		}
	}
	if got := Distances.String(); got != "unknown" {
		t.Errorf("what is no distance is called %q", got)
	}
}

func TestManyFaultsAreCutShort(t *testing.T) {
	var pods []Pod
	for i := range 30 {
		pods = append(pods, Pod{Name: fmt.Sprint(i), CPUMilli: -1})
	}
	err := ValidatePods(pods)
	if err == nil || strings.Count(err.Error(), "\n") != 10 || !strings.Contains(err.Error(), "and 20 more") {
		t.Errorf("got %v, want ten faults and a count of the others", err)
	}
}

func TestFragRatio(t *testing.T) {
	usage := Usage{TotalGPUMilli: 4000, UsedGPUMilli: 3000, Frag: gpushare.Amounts{gpushare.Q1LackBoth: 250, gpushare.Q3Satisfied: 750}}
	if got := usage.FragRatio(); got != 25 {
		t.Errorf("250 of 1,000 idle are a fragment: got %v %%, want 25", got)
	}
	usage.UsedGPUMilli = 4000
	if got := usage.FragRatio(); got != 0 {
		t.Errorf("nothing is idle: got %v, want 0", got)
	}
}

// FuzzPodValidate accepts nothing that would make a sum of requests negative.
func FuzzPodValidate(f *testing.F) {
	f.Add("p", int64(1000), int64(1<<30), 1, 500, int64(0), int64(0))
	f.Add("", int64(-1), int64(-1), 2, 500, int64(5), int64(1))
	f.Add("p", int64(1<<62), int64(1<<62), 1<<40, 1000, int64(-5), int64(1))
	f.Fuzz(func(t *testing.T, name string, cpu, memory int64, gpus, milli int, arrival, departure int64) {
		pod := Pod{
			Name: name, CPUMilli: cpu, MemoryBytes: memory, GPUs: gpus, GPUMilli: milli,
			Arrival: time.Duration(arrival), Departure: time.Duration(departure),
		}
		if pod.Validate() != nil {
			return
		}
		total := pod.TotalGPUMilli()
		if name == "" || cpu < 0 || memory < 0 || total < 0 || total > MaxGPUsPerNode*GPUMilli || (gpus > 0) != (milli > 0) {
			t.Errorf("accepted: %+v", pod)
		}
		if departure != 0 && pod.Departure-pod.Arrival < 0 {
			t.Errorf("accepted a run of %v", pod.Departure-pod.Arrival)
		}
	})
}
