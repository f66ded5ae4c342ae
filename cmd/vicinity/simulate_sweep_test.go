package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/input/records"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/replay"
)

func TestSimulateReplaysRecords(t *testing.T) {
	t.Chdir(t.TempDir())
	record := `{"version":1,"session":"s","seq":%d,"kind":"Attempt","pod":{"namespace":"paib-gpu","name":%q,"uid":"u"},` +
		`"attempt":1,"start":"2026-01-01T00:00:0%dZ","outcome":"Bound","node":%q,"nodes":{"total":2}}` + "\n"
	for name, content := range map[string]string{
		"nodes.csv": "sn,cpu_milli,memory_mib,gpu,model\na,8000,8192,1,T4\nb,8000,8192,2,T4\n",
		"pods.csv":  "name,cpu_milli,memory_mib,num_gpu,gpu_milli\np,100,1,1,1000\nq,100,1,2,1000\n",
		"r.jsonl":   fmt.Sprintf(record, 1, "p", 0, "b") + fmt.Sprintf(record, 3, "gone", 1, "b") + fmt.Sprintf(record, 4, "q", 2, "b"),
	} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// Best fit puts the pod with one GPU on the node with one; q goes where it was.
	stdout, stderr, err := execute(t, "vicinity", "simulate", "replay", "r.jsonl", "--nodes", "nodes.csv", "--pods", "pods.csv",
		"-p", "BestFit", "-o", "json", "--speed", "1000")
	if err != nil {
		t.Fatal(err)
	}
	var result replay.Result
	if err := json.Unmarshal([]byte(stdout), &result); err != nil {
		t.Fatal(err)
	}
	want := replay.Result{
		Schema: replay.Schema, Policies: []string{"BestFit"}, Attempts: 3, Pods: 2, Same: []int{1}, Unknown: []string{"paib-gpu/gone"},
		Gaps:        []records.Gap{{Session: "s", After: 1, Missing: 1}},
		Differences: []replay.Row{{Pod: "paib-gpu/p", Recorded: "b", Replayed: []string{"a"}}},
	}
	if diff := cmp.Diff(want, result); diff != "" {
		t.Errorf("replay (-want +got):\n%s", diff)
	}
	if !strings.Contains(stderr, "3 attempts of 3 pods, 1 missing in 1 gaps") || !strings.Contains(stderr, "paib-gpu/gone") {
		t.Errorf("want the gap and the unknown pod on stderr, found:\n%s", stderr)
	}
	for _, args := range [][]string{{"absent.jsonl", "--nodes", "nodes.csv"}, {"pods.csv", "--nodes", "nodes.csv"}, {"r.jsonl", "--nodes", "nodes.csv", "--speed", "-1"}} {
		_, _, err := execute(t, "vicinity", append([]string{"simulate", "replay"}, args...)...)
		if err == nil || exitStatus(err) != badInputStatus {
			t.Errorf("%q: want bad input, found %v", args, err)
		}
	}
}

func TestSimulateSweepGoesOn(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, content := range map[string]string{
		"nodes.csv": "sn,cpu_milli,memory_mib,gpu,model\na,8000,8192,1,T4\nb,8000,8192,2,T4\n",
		"pods.csv":  "name,cpu_milli,memory_mib,num_gpu,gpu_milli\np,100,1,1,500\nq,100,1,2,1000\n",
	} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sweep := []string{"simulate", "sweep", "--nodes", "nodes.csv", "--pods", "pods.csv", "--policies", "FGD,BestFit,FGD=1+BestFit=2", "--seeds", "1-4"}
	whole, _, err := execute(t, "vicinity", append(sweep, "-o", "csv", "--out", "whole")...)
	if err != nil || strings.Count(whole, "\n") != 13 {
		t.Fatalf("want a header and 3 x 4 rows, found error %v and:\n%s", err, whole)
	}
	for _, shard := range []string{"0/2", "1/2", "0/2"} {
		if _, _, err := execute(t, "vicinity", append(sweep, "--out", "shards", "--shard", shard)...); err != nil {
			t.Fatal(err)
		}
	}
	merged, _, err := execute(t, "vicinity", "simulate", "sweep", "merge", "shards", "-o", "csv")
	if err != nil || strings.Count(merged, "\n") != 13 {
		t.Errorf("want the shards to make the whole, found error %v and:\n%s", err, merged)
	}
	job, _, err := execute(t, "vicinity", append(sweep, "--job", "-", "--job-image", "i", "--job-claim", "c")...)
	if err != nil || !strings.Contains(job, "/data/nodes.csv") || !strings.Contains(job, "completionMode: Indexed") {
		t.Errorf("want an Indexed Job with paths in the claim, found error %v and:\n%s", err, job)
	}
	for _, args := range [][]string{{"--seeds", "x"}, {"--shard", "9/2"}, {"--policies", "x"}, {"--tune", "-1"}, {"--workers", "0"}, {"--job", "-"}} {
		_, _, err := execute(t, "vicinity", append(sweep, args...)...)
		if err == nil || exitStatus(err) != badInputStatus {
			t.Errorf("%q: want bad input, found %v", args, err)
		}
	}
}

func TestSimulateFindsTheCapacity(t *testing.T) {
	t.Chdir(t.TempDir())
	pods := "name,cpu_milli,memory_mib,num_gpu,gpu_milli\n"
	pods += "p0,1000,1024,2,1000\np1,1000,1024,2,1000\np2,1000,1024,2,1000\np3,1000,1024,2,1000\np4,1000,1024,2,1000\n"
	if err := os.WriteFile("pods.csv", []byte(pods), 0o600); err != nil {
		t.Fatal(err)
	}
	// Five pods with two GPUs each, two of which fit on a node with four: three nodes.
	stdout, _, err := execute(t, "vicinity", "simulate", "capacity", "--pods", "pods.csv", "-p", "BestFit", "--shape", "cpu=8,memory=16Gi,gpus=4,model=T4", "-o", "json")
	if err != nil {
		t.Fatal(err)
	}
	var plan capacityPlan
	if err := json.Unmarshal([]byte(stdout), &plan); err != nil {
		t.Fatal(err)
	}
	if plan.Nodes != 3 || plan.Result.Scheduled != 5 {
		t.Errorf("want three nodes for five pods, found %+v", plan)
	}
	for _, shape := range []string{"", "cpu=8", "cpu=x,memory=1Gi", "cpu=8,memory=1Gi,disks=1", "cpu=8,memory=1Gi,gpus=many"} {
		_, _, err := execute(t, "vicinity", "simulate", "capacity", "--pods", "pods.csv", "--shape", shape)
		if err == nil || exitStatus(err) != badInputStatus || !strings.Contains(err.Error(), "--shape") {
			t.Errorf("%q: want bad input that names the flag, found %v", shape, err)
		}
	}
	if _, _, err := execute(t, "vicinity", "simulate", "capacity", "--pods", "pods.csv", "-p", "BestFit", "--shape", "cpu=8,memory=16Gi,gpus=1"); err == nil ||
		!strings.Contains(err.Error(), "paib-gpu/p0") {
		t.Errorf("want an error that names the pod that never fits, found %v", err)
	}
}

func TestAfterSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		stop := afterSilence(&out, "reading ...")
		time.Sleep(silentFor - 1)
		stop()
		time.Sleep(silentFor)
		if out.Len() > 0 {
			t.Errorf("want no word of what was quick, found %q", out.String())
		}
		stop = afterSilence(&out, "reading ...")
		time.Sleep(silentFor + 1)
		stop()
		if out.String() != "reading ...\n" {
			t.Errorf("want one line of what is slow, found %q", out.String())
		}
	})
}

func TestBar(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		quick := newBar(&out)
		quick.show(0, 2)
		quick.show(2, 2)
		if out.Len() > 0 {
			t.Errorf("want no word of what was quick, found %q", out.String())
		}
		slow := newBar(&out)
		slow.show(1, 4) // one was there already
		time.Sleep(3 * time.Second)
		slow.show(2, 4) // one took three seconds, two are left
		time.Sleep(time.Second)
		slow.show(3, 4) // too early for another line
		time.Sleep(time.Second)
		slow.show(4, 4)
		const want = "[###############...............] 2 of 4 runs, 6s left\n[##############################] 4 of 4 runs\n"
		if diff := cmp.Diff(want, out.String()); diff != "" {
			t.Errorf("bar (-want +got):\n%s", diff)
		}
	})
}
