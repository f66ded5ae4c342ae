package openb

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/input/faults"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
)

const (
	nodeHeader = "sn,cpu_milli,memory_mib,gpu,model\n"
	podHeader  = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n"
)

func TestReadNodes(t *testing.T) {
	list := &faults.List{}
	got := ReadNodes("nodes.csv", []byte(nodeHeader+"a,64000,262144,2,P100\nb,32000,1,0,\n"), list)
	if err := list.Err(); err != nil || len(list.Warnings()) > 0 {
		t.Fatal(err, list.Warnings())
	}
	want := []model.Node{
		{
			Name: "a", CPUMilli: 64000, MemoryBytes: 256 << 30, MaxPods: 1001, GPUs: 2, GPUModel: "P100", Labels: map[string]string{
				"kubernetes.io/hostname": "a", "kubernetes.io/os": "linux", "alibabacloud.com/gpu-card-model": "P100",
			},
		},
		{
			Name: "b", CPUMilli: 32000, MemoryBytes: 1 << 20, MaxPods: 1001,
			Labels: map[string]string{"kubernetes.io/hostname": "b", "kubernetes.io/os": "linux"},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("nodes (-want +got):\n%s", diff)
	}
}

func TestReadPods(t *testing.T) {
	text := podHeader + "p0,12000,16384,1,460,V100M16|V100M32,LS,Running,10,20,11\np1,1000,1,0,0,,BE,Pending,5,,\n"
	want := []model.Pod{
		{
			Namespace: "paib-gpu", Name: "p0", CPUMilli: 12000, MemoryBytes: 16 << 30, GPUs: 1, GPUMilli: 460,
			GPUModels: []string{"V100M16", "V100M32"}, Labels: map[string]string{"openb/qos": "LS", "openb/phase": "Running"},
		},
		{
			Namespace: "paib-gpu", Name: "p1", CPUMilli: 1000, MemoryBytes: 1 << 20,
			Labels: map[string]string{"openb/qos": "BE", "openb/phase": "Pending"},
		},
	}
	list := &faults.List{}
	if diff := cmp.Diff(want, ReadPods("pods.csv", []byte(text), false, list)); diff != "" || list.Err() != nil {
		t.Errorf("pods without times (-want +got), error %v:\n%s", list.Err(), diff)
	}
	want[0].Arrival, want[0].Departure, want[1].Arrival = 10*time.Second, 20*time.Second, 5*time.Second
	if diff := cmp.Diff(want, ReadPods("pods.csv", []byte(text), true, list)); diff != "" || list.Err() != nil {
		t.Errorf("pods with times (-want +got), error %v:\n%s", list.Err(), diff)
	}
}

func TestFewerColumnsWillDo(t *testing.T) {
	list := &faults.List{}
	got := ReadPods("pods.csv", []byte("\ufeffnum_gpu,name,cpu_milli,memory_mib,gpu_milli\n8,p,1,1,1000\n"), true, list)
	want := []model.Pod{{Namespace: "paib-gpu", Name: "p", CPUMilli: 1, MemoryBytes: 1 << 20, GPUs: 8, GPUMilli: 1000}}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" || list.Err() != nil {
		t.Errorf("pods (-want +got), error %v:\n%s", list.Err(), diff)
	}
}

func TestFaultsNameFileLineAndColumn(t *testing.T) {
	row := "p,1000,1,1,500,,LS,Running,1,2,1\n"
	tests := map[string]struct{ text, want string }{
		"cut off in a row":        {podHeader + row + "q,1000,1", "in.csv:3: want 11 columns, found 3; the file may have been cut off"},
		"cut off in a quote":      {podHeader + "\"p,1000\n", "in.csv:2: not CSV: extraneous or missing \" in quoted-field"},
		"a column is missing":     {"name,cpu_milli,memory_mib,gpu_milli\n", "in.csv:1: num_gpu: want this column"},
		"nothing":                 {"", "in.csv: the file is empty"},
		"two GPUs in parts":       {podHeader + "p,1000,1,2,500,,LS,Running,1,2,1\n", "in.csv:2: gpu_milli: want 1000 with 2 GPUs"},
		"more than a GPU":         {podHeader + "p,1000,1,1,5000,,LS,Running,1,2,1\n", "in.csv:2: gpu_milli: want a whole number from 0 to 1000, found \"5000\""},
		"nothing of a GPU":        {podHeader + "p,1000,1,1,0,,LS,Running,1,2,1\n", "in.csv:2: gpu_milli: want 1 to 1000 per GPU"},
		"a negative request":      {podHeader + "p,-1,1,1,500,,LS,Running,1,2,1\n", "in.csv:2: cpu_milli: want a whole number from 0 to 1000000000, found \"-1\""},
		"a number with a unit":    {podHeader + "p,1000,1Gi,1,500,,LS,Running,1,2,1\n", "in.csv:2: memory_mib: want a whole number"},
		"two of one name":         {podHeader + row + row, "in.csv:3: name: p is there twice; the first one is in line 2"},
		"no name":                 {podHeader + ",1000,1,1,500,,LS,Running,1,2,1\n", "in.csv:2: name: want a name"},
		"gone before it has come": {podHeader + "p,1000,1,1,500,,LS,Running,3,2,1\n", "in.csv:2: deletion_time: want a time after creation_time 3, found 2"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			list := &faults.List{}
			ReadPods("in.csv", []byte(tc.text), true, list)
			if err := list.Err(); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("want an error with %q, found %v", tc.want, err)
			}
		})
	}
}

func TestALineWithoutEndIsWarnedAbout(t *testing.T) {
	list := &faults.List{}
	ReadNodes("in.csv", []byte(nodeHeader+"a,1,1,0,"), list)
	if all := strings.Join(list.Warnings(), "\n"); !strings.Contains(all, "in.csv: the last line has no end") || list.Err() != nil {
		t.Errorf("want a warning and no fault, found %q and %v", all, list.Err())
	}
}

func TestManyFaultsAreCounted(t *testing.T) {
	list := &faults.List{}
	ReadNodes("in.csv", []byte(nodeHeader+strings.Repeat("a,x,1,0,\n", 1000)), list)
	err := list.Err()
	// 1,000 bad numbers less one line of each name: the first row has a bad number, the others a name that is taken.
	if err == nil || strings.Count(err.Error(), "\n") != 20 || !strings.HasSuffix(err.Error(), "and 980 faults more") {
		t.Errorf("want 20 faults and the number of the rest, found %v", err)
	}
}

func TestKindOf(t *testing.T) {
	for text, want := range map[string]Kind{nodeHeader: Nodes, "\ufeff" + podHeader: Pods, "a,b\n": Unknown, "": Unknown} {
		if got := KindOf([]byte(text)); got != want {
			t.Errorf("%q: want %d, found %d", text, want, got)
		}
	}
}

// FuzzRead: no file panics, and what is not refused is valid in the model.
func FuzzRead(f *testing.F) {
	f.Add(nodeHeader + "a,64000,262144,2,P100\n")
	f.Add(podHeader + "p0,12000,16384,1,460,V100M16|V100M32,LS,Running,10,20,11\n")
	f.Add("name,num_gpu\n\"")
	f.Fuzz(func(t *testing.T, text string) {
		list := &faults.List{}
		cluster := model.Cluster{Nodes: ReadNodes("in.csv", []byte(text), list)}
		if list.Err() == nil && len(cluster.Nodes) > 0 {
			if err := cluster.Validate(); err != nil {
				t.Errorf("nodes were accepted that are not valid: %v", err)
			}
		}
		list = &faults.List{}
		pods := ReadPods("in.csv", []byte(text), true, list)
		if list.Err() == nil {
			if err := model.ValidatePods(pods); err != nil {
				t.Errorf("pods were accepted that are not valid: %v", err)
			}
		}
	})
}
