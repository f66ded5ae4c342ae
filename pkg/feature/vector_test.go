package feature

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/vicinity-scheduler/vicinity/pkg/gpushare"
)

// toy is the cluster of the fragmentation golden: one typical pod, 4 cores and half a GPU.
func toy() *Vectors {
	typical := []gpushare.TypicalPod{{Class: gpushare.Class{CPUMilli: 4000, GPUs: 1, GPUMilli: 500}, Frequency: 1}}
	return NewVectors(gpushare.NewMeter(typical, []string{"T4"}))
}

// index finds a feature by name, so that tables say what they mean.
func index(t *testing.T, name string) int {
	t.Helper()
	for i, f := range Schema() {
		if f.Name == name {
			return i
		}
	}
	t.Fatalf("no feature is named %q", name)
	return 0
}

func TestVectorOfAHalfGPUPod(t *testing.T) {
	pod := &Pod{Class: gpushare.Class{CPUMilli: 7000, GPUs: 1, GPUMilli: 500}, MemoryBytes: 3 << 30}
	node := &Node{
		CPUMilli: 32000, MemoryBytes: 16 << 30, MemoryFreeBytes: 8 << 30, Used: true,
		// 500 of device 0 are taken; devices 1 and 2 are whole.
		Free: gpushare.Free{CPUMilli: 16000, Idle: []int{500, 1000, 1000}},
		Near: Near{Cached: Known(0.25), MissingBytes: Known(1 << 30), DelayMargin: Known(0)},
	}
	rows, devices := toy().Append(nil, nil, pod, node)
	// Device 2 is like device 1: one candidate for both.
	if diff := cmp.Diff([]int{0, 1}, devices); diff != "" {
		t.Fatalf("candidates (-want +got):\n%s", diff)
	}
	cases := []struct {
		feature string
		want    float64
	}{
		{"pod.cpu", 3.0 / 7},          // log2(1 + 7) / 7
		{"pod.memory", 2.0 / 10},      // log2(1 + 3) / 10
		{"pod.gpus", 1.0 / 8},         //
		{"pod.gpuShare", 0.5},         //
		{"node.cpuFree", 0.5},         // 16 of 32
		{"after.cpuFree", 9.0 / 32},   // 16 - 7 of 32
		{"after.memoryFree", 5. / 16}, // 8 - 3 of 16
		{"node.gpuIdle", 2500. / 3000},
		{"after.gpuIdle", 2000. / 3000},
		{"after.gpuPartial", 0},    // device 0 is full, the others whole
		{"after.gpuWhole", 2. / 8}, //
		{"device.filled", 1},
		{"device.opened", 0},
		// The typical pod takes halves: nothing is a fragment before or after.
		{"fragment.drop", 0},
		{"fragment.score", 0.50},
		// 2.5 idle GPUs want 20 cores of 16: 4 are missing. After it, 16 for 2 GPUs of 9: 7 are missing. (4 - 7) / 8.
		{"cpu.shortageDrop", -3. / 8},
		// 14 x 2.5 = 35 and 14 x 2 = 28 cores: no surplus before or after.
		{"cpu.surplusDrop", 0},
		// 7 cores for half a GPU are 14 per GPU; the node has 16 / 2.5 = 6.4. |ln(15 / 7.4)| / 3.
		{"cpu.ratioDistance", math.Log(15/7.4) / 3},
		{"data.cached", 0.25},
		{"data.missing", 1. / 10}, // log2(1 + 1) / 10
		{"delay.margin", 0},
	}
	for _, c := range cases {
		i := index(t, c.feature)
		if got := float64(rows[i]); math.Abs(got-c.want) > 1e-6 {
			t.Errorf("%s: want %v, got %v", c.feature, c.want, got)
		}
		if rows[Count+i] != 1 {
			t.Errorf("%s: want it known", c.feature)
		}
	}
	for _, unknown := range []string{"pod.frequency", "disk.free", "disk.pressure", "delay.peers", "topology.peers"} {
		if i := index(t, unknown); rows[i] != 0 || rows[Count+i] != 0 {
			t.Errorf("%s: want 0 and unknown, got %v and %v", unknown, rows[i], rows[Count+i])
		}
	}
	if opened := rows[Inputs+index(t, "device.opened")]; opened != 1 {
		t.Errorf("device.opened of the second candidate: want 1, got %v", opened)
	}
}

func TestANodeWithoutGPUsKnowsNothingOfThem(t *testing.T) {
	pod := &Pod{Class: gpushare.Class{CPUMilli: 1000}}
	node := &Node{CPUMilli: 4000, MemoryBytes: 1 << 30, MemoryFreeBytes: 1 << 30, Free: gpushare.Free{CPUMilli: 4000}}
	rows, devices := toy().Append(nil, nil, pod, node)
	if diff := cmp.Diff([]int{gpushare.NoDevice}, devices); diff != "" {
		t.Errorf("candidates (-want +got):\n%s", diff)
	}
	for _, name := range []string{"node.gpuIdle", "after.gpuIdle", "fragment.score", "cpu.ratioDistance", "node.cpuPerGPU"} {
		if i := index(t, name); rows[i] != 0 || rows[Count+i] != 0 {
			t.Errorf("%s: want it unknown, got %v", name, rows[i])
		}
	}
}

func TestSchemaNamesAreUniqueAndComplete(t *testing.T) {
	seen := map[string]bool{}
	for i, f := range Schema() {
		if f.Name == "" || f.Means == "" || seen[f.Name] {
			t.Errorf("feature %d: want a name of its own and a meaning, found %+v", i, f)
		}
		seen[f.Name] = true
	}
	if len(Schema()) != Count {
		t.Errorf("want %d features, found %d", Count, len(Schema()))
	}
}

// TestHash holds the fingerprint that model files carry. When it changes, Version must rise, and models must be trained
// again.
func TestHash(t *testing.T) {
	const want = "04fecf3781522adcab2432b506ea6a6e3c99c3b815e1cbbbc3c8db08a18a9924"
	if got := Hash(); got != want {
		t.Errorf("the schema has changed: raise Version and train anew; want %s, got %s", want, got)
	}
}

// FuzzAppend: whatever a node and a pod look like, vectors are finite, bits are 0 or 1, and unknown values are 0.
func FuzzAppend(f *testing.F) {
	f.Add(uint64(1), int64(1000), int64(4000), 1, 500, 0.5)
	f.Add(uint64(2), int64(0), int64(0), 0, 0, math.NaN())
	f.Add(uint64(3), int64(math.MaxInt64), int64(1), 8, 1000, math.Inf(1))
	f.Fuzz(func(t *testing.T, seed uint64, podCPU, nodeCPU int64, gpus, share int, near float64) {
		random := rand.New(rand.NewPCG(seed, 0))
		node := &Node{CPUMilli: nodeCPU, MemoryBytes: podCPU, MemoryFreeBytes: nodeCPU, Near: Near{Cached: Known(near), PeersMillis: Known(near)}}
		node.Free.CPUMilli = nodeCPU
		for range random.IntN(9) {
			node.Free.Idle = append(node.Free.Idle, random.IntN(1001))
		}
		pod := &Pod{Class: gpushare.Class{CPUMilli: podCPU, GPUs: min(8, max(0, gpus)), GPUMilli: min(1000, max(0, share))}}
		rows, devices := toy().Append(nil, nil, pod, node)
		if len(rows) != len(devices)*Inputs {
			t.Fatalf("want %d numbers for each of %d candidates, got %d", Inputs, len(devices), len(rows))
		}
		for i, v := range rows {
			at := i % Inputs
			if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
				t.Errorf("number %d: %v", at, v)
			}
			if at >= Count && v != 0 && v != 1 || at >= Count && v == 0 && rows[i-Count] != 0 {
				t.Errorf("bit of %s: %v with value %v", Schema()[at-Count].Name, v, rows[i-Count])
			}
		}
	})
}

// TestAppendLooksOnly: a node is compared for every pod, so a look must not change it.
func TestAppendLooksOnly(t *testing.T) {
	pod := &Pod{Class: gpushare.Class{CPUMilli: 1000, GPUs: 1, GPUMilli: 300}}
	node := &Node{CPUMilli: 8000, Free: gpushare.Free{CPUMilli: 8000, Idle: []int{1000, 400}}}
	v := toy()
	first, _ := v.Append(nil, nil, pod, node)
	second, _ := v.Append(nil, nil, pod, node)
	if diff := cmp.Diff(first, second, cmpopts.EquateNaNs()); diff != "" {
		t.Errorf("second look (-first +second):\n%s", diff)
	}
	if diff := cmp.Diff([]int{1000, 400}, node.Free.Idle); diff != "" {
		t.Errorf("devices (-want +got):\n%s", diff)
	}
}

func BenchmarkAppend(b *testing.B) {
	typical := make([]gpushare.TypicalPod, 35)
	for i := range typical {
		typical[i] = gpushare.TypicalPod{Class: gpushare.Class{CPUMilli: int64(1000 * i), GPUs: 1, GPUMilli: 100 + 25*i}, Frequency: 1. / 35}
	}
	v := NewVectors(gpushare.NewMeter(typical, []string{"T4"}))
	pod := &Pod{Class: gpushare.Class{CPUMilli: 7000, GPUs: 1, GPUMilli: 500}, MemoryBytes: 3 << 30}
	node := &Node{CPUMilli: 96000, MemoryBytes: 1 << 38, MemoryFreeBytes: 1 << 37, Free: gpushare.Free{CPUMilli: 50000, Idle: []int{500, 1000, 1000, 300, 0, 0, 0, 0}}}
	rows, devices := make([]float32, 0, 8*Inputs), make([]int, 0, 8)
	b.ReportAllocs()
	for b.Loop() {
		rows, devices = v.Append(rows[:0], devices[:0], pod, node)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(devices)), "ns/candidate")
}

func TestTypicalPodsSurviveBeingWritten(t *testing.T) {
	want := []gpushare.TypicalPod{{Class: gpushare.Class{CPUMilli: 4000, GPUs: 1, GPUMilli: 500, Models: "T4|P100"}, Frequency: 0.25}}
	text, err := FormatTypical(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := ParseTypical(text)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("typical pods (-written +read):\n%s", diff)
	}
	for _, bad := range []string{"{", `[{"Frequency":2}]`, `[{"Frequency":0.5,"GPUMilli":5000}]`, `[{"Frequency":-1}]`} {
		if _, err := ParseTypical(bad); err == nil {
			t.Errorf("want %s refused", bad)
		}
	}
}
