package gpushare

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDeviceChoice(t *testing.T) {
	idle := []int{0, 700, 300, 700, 1000, 300}
	for _, c := range []struct {
		name        string
		milli       int
		best, worst int
		room        []int
	}{
		{"all but the full one have room", 100, 2, 4, []int{1, 2, 3, 4, 5}},
		{"exactly enough is enough", 700, 1, 4, []int{1, 3, 4}},
		{"only the idle one", 701, 4, 4, []int{4}},
		{"none", 1001, NoDevice, NoDevice, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := BestFit(idle, c.milli); got != c.best {
				t.Errorf("BestFit = %d, want %d", got, c.best)
			}
			if got := WorstFit(idle, c.milli); got != c.worst {
				t.Errorf("WorstFit = %d, want %d", got, c.worst)
			}
			if diff := cmp.Diff(c.room, WithRoom(nil, idle, c.milli)); diff != "" {
				t.Errorf("WithRoom (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTake(t *testing.T) {
	for _, c := range []struct {
		name        string
		class       Class
		idle, after []int
		want        []int
	}{
		{"the first idle devices", Class{GPUs: 2, GPUMilli: 1000}, []int{500, 1000, 1000, 1000}, []int{500, 0, 0, 1000}, []int{1, 2}},
		{"a share", Class{GPUs: 1, GPUMilli: 300}, []int{200, 500}, []int{200, 200}, []int{1}},
		{"too few devices change nothing", Class{GPUs: 2, GPUMilli: 1000}, []int{1000, 900}, []int{1000, 900}, nil},
		{"no GPUs asked for", Class{CPUMilli: 1}, []int{1000}, []int{1000}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Take(&c.class, c.idle)
			if !slices.Equal(got, c.want) || !slices.Equal(c.idle, c.after) {
				t.Errorf("took %v and left %v, want %v and %v", got, c.idle, c.want, c.after)
			}
		})
	}
}

// TestDescent is the predecessor's golden: a node with 2 devices and 64 cores, pods with 4 cores and half a device.
func TestDescent(t *testing.T) {
	meter := NewMeter(toy(), []string{""})
	free := Free{CPUMilli: 64000, Idle: whole(2)}
	share := Class{CPUMilli: 4000, GPUs: 1, GPUMilli: 500}
	// F rises from 666.67 to 1000: two whole devices are no longer there, so 1500 are a fragment to a third of the
	// pods, and 1500 to another. 100 / (1 + e^0.333) = 41.7. The second pod undoes it: 100 / (1 + e^-0.333) = 58.3.
	for i, want := range []int{41, 58} {
		amounts := meter.Measure(free)
		score, device := meter.Descent(&share, free, amounts.Fragment())
		if score != want || device != 0 {
			t.Errorf("pod %d scores %d on device %d, want %d on device 0", i, score, device, want)
		}
		free.CPUMilli -= share.CPUMilli
		free.Idle[device] -= share.GPUMilli
	}
}

// TestDescentIsTheBestHypothesis tries every device by hand.
func TestDescentIsTheBestHypothesis(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		meter, free := NewMeter(randomTypical(random), []string{"T4", "P100"}), randomFree(random)
		class := randomTypical(random)[0].Class
		class.Models = ""
		if !Fits(&class, free.Idle) || class.CPUMilli > free.CPUMilli {
			continue
		}
		before := meter.Measure(free)
		kept := slices.Clone(free.Idle)
		score, device := meter.Descent(&class, free, before.Fragment())
		if !slices.Equal(kept, free.Idle) {
			t.Fatalf("the hypothesis was left behind: %v, was %v", free.Idle, kept)
		}
		wantScore, wantDevice := everyDevice(meter, &class, free, before.Fragment())
		if score != wantScore || device != wantDevice {
			t.Fatalf("%+v on %+v scores %d on device %d, want %d on device %d", class, free, score, device, wantScore, wantDevice)
		}
	}
}

func everyDevice(meter *Meter, class *Class, free Free, before float64) (score, device int) {
	rate := func(idle []int) int {
		amounts := meter.Measure(Free{CPUMilli: free.CPUMilli - class.CPUMilli, Idle: idle, Model: free.Model})
		return int(100 / (1 + math.Exp((amounts.Fragment()-before)/1000)))
	}
	if !class.Shared() {
		idle := slices.Clone(free.Idle)
		need := class.GPUs
		for i := range idle {
			if need > 0 && idle[i] >= class.GPUMilli {
				idle[i] -= class.GPUMilli
				need--
			}
		}
		return rate(idle), NoDevice
	}
	score, device = -1, NoDevice
	for i := range free.Idle {
		if free.Idle[i] < class.GPUMilli {
			continue
		}
		idle := slices.Clone(free.Idle)
		idle[i] -= class.GPUMilli
		if s := rate(idle); s > score {
			score, device = s, i
		}
	}
	return score, device
}

func BenchmarkDescent(b *testing.B) {
	meter := NewMeter(toy(), []string{""})
	free := Free{CPUMilli: 64000, Idle: []int{1000, 700, 300, 1000, 0, 250, 1000, 500}}
	share := Class{CPUMilli: 4000, GPUs: 1, GPUMilli: 200}
	before := meter.Measure(free)
	b.ReportAllocs()
	for b.Loop() {
		meter.Descent(&share, free, before.Fragment())
	}
}
