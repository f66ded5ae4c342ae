package gpushare

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// toy are the classes of the predecessor's failure log: one pod of each.
func toy() []TypicalPod {
	const third = 1.0 / 3
	return []TypicalPod{
		{Class: Class{CPUMilli: 12000, GPUs: 2, GPUMilli: 1000}, Frequency: third},
		{Class: Class{CPUMilli: 8000}, Frequency: third},
		{Class: Class{CPUMilli: 4000, GPUs: 1, GPUMilli: 500}, Frequency: third},
	}
}

// whole are idle devices.
func whole(devices int) []int { return slices.Repeat([]int{1000}, devices) }

func TestMeasure(t *testing.T) {
	for _, c := range []struct {
		name    string
		typical []TypicalPod
		free    Free
		want    Amounts
	}{
		{
			// Predecessor golden, with the next case: a third of the pods wants no GPU, so a third of 2,000 is a fragment.
			name: "an idle node with two devices", typical: toy(), free: Free{CPUMilli: 64000, Idle: whole(2)},
			want: Amounts{Q3Satisfied: 2 * 2000.0 / 3, XLSatisfied: 2000.0 / 3},
		},
		{
			// 666.67 + 1333.33 = 2000.00, 33.33 % of 6,000.
			name: "an idle node with four devices", typical: toy(), free: Free{CPUMilli: 64000, Idle: whole(4)},
			want: Amounts{Q3Satisfied: 2 * 4000.0 / 3, XLSatisfied: 4000.0 / 3},
		},
		{
			// Predecessor golden: 200 + 1000 + 1000 + 500 = 2700 idle, 0.0933 x 2700 = 251.91.
			name:    "devices suffice but CPU does not",
			typical: []TypicalPod{{Class: Class{CPUMilli: 6000, GPUs: 1, GPUMilli: 465}, Frequency: 0.0933}},
			free:    Free{CPUMilli: 1000, Idle: []int{200, 1000, 1000, 500}},
			want:    Amounts{Q4LackCPU: 251.91},
		},
		{
			// 200 lie on a device that is too small for 465; the other 2,500 can be used.
			name:    "a device is too small for a pod that fits",
			typical: []TypicalPod{{Class: Class{CPUMilli: 6000, GPUs: 1, GPUMilli: 465}, Frequency: 1}},
			free:    Free{CPUMilli: 6000, Idle: []int{200, 1000, 1000, 500}},
			want:    Amounts{Q2LackGPU: 200, Q3Satisfied: 2500},
		},
		{
			name:    "three whole devices asked for, two idle",
			typical: []TypicalPod{{Class: Class{CPUMilli: 6000, GPUs: 3, GPUMilli: 1000}, Frequency: 1}},
			free:    Free{CPUMilli: 6000, Idle: []int{200, 1000, 1000, 500}},
			want:    Amounts{Q2LackGPU: 2700},
		},
		{
			name:    "neither devices nor CPU suffice",
			typical: []TypicalPod{{Class: Class{CPUMilli: 6001, GPUs: 3, GPUMilli: 1000}, Frequency: 1}},
			free:    Free{CPUMilli: 6000, Idle: []int{200, 1000, 1000, 500}},
			want:    Amounts{Q1LackBoth: 2700},
		},
		{
			name:    "another model",
			typical: []TypicalPod{{Class: Class{GPUs: 1, GPUMilli: 1000, Models: "T4|A10"}, Frequency: 1}},
			free:    Free{CPUMilli: 6000, Idle: whole(1), Model: 1},
			want:    Amounts{NoAccess: 1000},
		},
		{
			name:    "one of the accepted models",
			typical: []TypicalPod{{Class: Class{GPUs: 1, GPUMilli: 1000, Models: "T4|A10"}, Frequency: 1}},
			free:    Free{CPUMilli: 6000, Idle: whole(1), Model: 2},
			want:    Amounts{Q3Satisfied: 1000},
		},
		{
			name:    "a pod without GPU that does not fit",
			typical: []TypicalPod{{Class: Class{CPUMilli: 6001}, Frequency: 1}},
			free:    Free{CPUMilli: 6000, Idle: whole(1)},
			want:    Amounts{XRLackCPU: 1000},
		},
		{name: "nothing idle", typical: toy(), free: Free{CPUMilli: 6000, Idle: []int{0, 0}}},
		{name: "no devices", typical: toy(), free: Free{CPUMilli: 6000}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := NewMeter(c.typical, []string{"", "P100", "A10"}).Measure(c.free)
			if diff := cmp.Diff(c.want, got, cmpopts.EquateApprox(0, 0.005)); diff != "" {
				t.Errorf("amounts (-want +got):\n%s", diff)
			}
		})
	}
}

// TestBellman is the predecessor's golden: two nodes with 64 cores and 2 and 4 devices, visited in this order.
func TestBellman(t *testing.T) {
	meter := NewMeter(toy(), []string{""})
	memo := map[string]float64{}
	got := meter.Bellman(Free{CPUMilli: 64000, Idle: whole(2)}, memo) + meter.Bellman(Free{CPUMilli: 64000, Idle: whole(4)}, memo)
	if math.Abs(got-1066.89) > 0.005 {
		t.Errorf("got %.3f, want 1066.89", got)
	}
}

// TestBellmanOfPodsThatTakeNothing ends although the node never fills.
func TestBellmanOfPodsThatTakeNothing(t *testing.T) {
	typical := []TypicalPod{{Frequency: 0.5}, {Class: Class{CPUMilli: 1000, GPUs: 1, GPUMilli: 1000}, Frequency: 0.5}}
	got := NewMeter(typical, []string{""}).Bellman(Free{CPUMilli: 4000, Idle: whole(2)}, map[string]float64{})
	if got < 0 || got > 2000 {
		t.Errorf("got %v, want 0 to 2000", got)
	}
}

// TestMeasureIsTheDefinition compares with equation 2 of the paper, evaluated device by device.
func TestMeasureIsTheDefinition(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	models := []string{"T4", "P100"}
	for range 2000 {
		typical, free := randomTypical(random), randomFree(random)
		got, want := NewMeter(typical, models).Measure(free), byDefinition(typical, free, models)
		if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-6)); diff != "" {
			t.Fatalf("typical %+v, free %+v (-want +got):\n%s", typical, free, diff)
		}
		sum, idle := 0.0, 0
		for _, milli := range got {
			sum += milli
		}
		for _, milli := range free.Idle {
			idle += milli
		}
		if math.Abs(sum-float64(idle)) > 1e-6 {
			t.Fatalf("the quadrants hold %v of %v idle", sum, idle)
		}
	}
}

// byDefinition asks for each device and class whether a pod of the class could use it.
func byDefinition(typical []TypicalPod, free Free, models []string) Amounts {
	var amounts Amounts
	for _, pod := range typical {
		for _, idle := range free.Idle {
			amounts[quadrant(pod.Class, free, idle, models)] += pod.Frequency * float64(idle)
		}
	}
	return amounts
}

func quadrant(c Class, free Free, idle int, models []string) Quadrant {
	cpu := c.CPUMilli <= free.CPUMilli
	if c.GPUs == 0 {
		return map[bool]Quadrant{true: XLSatisfied, false: XRLackCPU}[cpu]
	}
	if !c.Accepts(models[free.Model]) {
		return NoAccess
	}
	switch gpu := Fits(&c, free.Idle); {
	case !gpu && !cpu:
		return Q1LackBoth
	case !gpu:
		return Q2LackGPU
	case !cpu:
		return Q4LackCPU
	case idle < c.GPUMilli:
		return Q2LackGPU
	default:
		return Q3Satisfied
	}
}

func randomTypical(random *rand.Rand) []TypicalPod {
	typical := make([]TypicalPod, 1+random.IntN(12))
	for i := range typical {
		c := Class{CPUMilli: 1000 * random.Int64N(20)}
		switch random.IntN(4) {
		case 0:
		case 1:
			c.GPUs, c.GPUMilli = 1+random.IntN(8), 1000
		default:
			c.GPUs, c.GPUMilli = 1, 50*(1+random.IntN(20))
		}
		if c.GPUs > 0 && random.IntN(3) == 0 {
			c.Models = []string{"T4", "P100", "P100|T4", "A10"}[random.IntN(4)]
		}
		typical[i] = TypicalPod{Class: c, Frequency: 1 / float64(len(typical))}
	}
	return typical
}

func randomFree(random *rand.Rand) Free {
	free := Free{CPUMilli: 1000 * random.Int64N(40), Idle: make([]int, random.IntN(9)), Model: random.IntN(2)}
	for i := range free.Idle {
		free.Idle[i] = 50 * random.IntN(21)
	}
	return free
}
