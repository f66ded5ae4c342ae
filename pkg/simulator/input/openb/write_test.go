package openb_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/input/faults"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/input/openb"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/workload"
)

// TestWrittenTraceIsRead writes a generated trace and reads it back.
func TestWrittenTraceIsRead(t *testing.T) {
	cluster, pods, err := workload.Published().Generate(0.05, 1)
	if err != nil {
		t.Fatal(err)
	}
	var nodesFile, podsFile bytes.Buffer
	if err := openb.WriteNodes(&nodesFile, cluster.Nodes); err != nil {
		t.Fatal(err)
	}
	if err := openb.WritePods(&podsFile, pods); err != nil {
		t.Fatal(err)
	}
	list := &faults.List{}
	gotNodes := openb.ReadNodes("nodes.csv", nodesFile.Bytes(), list)
	gotPods := openb.ReadPods("pods.csv", podsFile.Bytes(), true, list)
	if err := list.Err(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(cluster.Nodes, gotNodes, cmpopts.IgnoreFields(model.Node{}, "Labels", "MaxPods")); diff != "" {
		t.Errorf("nodes (-written +read):\n%s", diff)
	}
	if diff := cmp.Diff(pods, gotPods, cmpopts.IgnoreFields(model.Pod{}, "Namespace", "Labels", "MemoryBytes")); diff != "" {
		t.Errorf("pods (-written +read):\n%s", diff)
	}
	for i := range pods {
		if pods[i].MemoryBytes>>20 != gotPods[i].MemoryBytes>>20 {
			t.Fatalf("pod %s asks for %d bytes, written as %d", pods[i].Name, gotPods[i].MemoryBytes, pods[i].MemoryBytes)
		}
	}
}
