package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vicinity-scheduler/vicinity/pkg/decisions/api"
	"github.com/vicinity-scheduler/vicinity/pkg/localstack"
	"github.com/vicinity-scheduler/vicinity/pkg/trace"
)

// The predecessor's experiment: 8 nodes of 8 processors; jobs of 2 to 6 pods, five of each size: 25 jobs, 100 pods. Not all
// of them fit at once.
const (
	experimentNodes = 8
	iterations      = 5
	smallest        = 2
	largest         = 6
	experimentPods  = iterations * (2 + 3 + 4 + 5 + 6)
)

// TestIntegrationTheExperiment runs the workload that the predecessor lost events of and wrote four of five lines twice
// of. Here each pod's binding is recorded, and each change of a pod is one line.
func TestIntegrationTheExperiment(t *testing.T) {
	stack := startStack(t, "experiment")
	var nodes []localstack.Node
	for n := range experimentNodes {
		nodes = append(nodes, localstack.Node{Name: fmt.Sprintf("n%d", n)})
	}
	must(t, stack.ApplyNodes(t.Context(), nodes))
	config, err := stack.SchedulerConfig()
	must(t, err)
	must(t, stack.StartScheduler(t.Context(), config))
	must(t, stack.StartComponent(t.Context(), localstack.Sniffer, ""))
	began := time.Now().Add(-time.Second)
	runJobs(t, stack)

	ask := asker(t, stack)
	until(t, "every pod's end is known", func() error {
		var stays api.PodList
		ask("stays?limit=1000&since="+began.UTC().Format(time.RFC3339), &stays)
		ended := 0
		for _, pod := range stays.Items {
			if !pod.Ended.IsZero() && !pod.Decided.IsZero() && !pod.Started.IsZero() {
				ended++
			}
		}
		if ended != experimentPods {
			return fmt.Errorf("%d of %d pods have a decision, a start and an end", ended, experimentPods)
		}
		return nil
	})

	var sessions api.SessionList
	ask("sessions", &sessions)
	if len(sessions.Items) != 1 || sessions.Items[0].Missing != 0 {
		t.Errorf("sessions %+v: want one, with nothing missing", sessions.Items)
	}
	checkBindings(t, ask)
	checkEvents(t, ask)
	var occupancy api.Occupancy
	ask("occupancy?intervals=10&since="+began.UTC().Format(time.RFC3339), &occupancy)
	// A pod and its successor may share an interval, so more than eight are possible.
	if len(occupancy.Nodes) != experimentNodes || occupancy.Highest == 0 {
		t.Errorf("occupancy of %v, at most %d pods in an interval: want %d nodes, and pods", occupancy.Nodes, occupancy.Highest, experimentNodes)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func until(t *testing.T, what string, check func() error) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), 200*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		last = check()
		return last == nil, nil
	})
	if err != nil {
		t.Fatalf("%s: %v", what, last)
	}
}

// asker returns a function that asks the decision service.
func asker(t *testing.T, stack *localstack.Stack) func(path string, into any) {
	t.Helper()
	token, err := stack.ReaderToken(t.Context())
	must(t, err)
	address, err := stack.SnifferURL()
	must(t, err)
	return func(path string, into any) {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address+"/api/v1/"+path, http.NoBody)
		must(t, err)
		request.Header.Set("Authorization", "Bearer "+token)
		response, err := http.DefaultClient.Do(request)
		must(t, err)
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s", path, response.Status)
		}
		must(t, json.NewDecoder(response.Body).Decode(into))
	}
}

// runJobs creates the jobs and lets each pod end a second after it began, as its container would.
func runJobs(t *testing.T, stack *localstack.Stack) {
	t.Helper()
	for iteration := range iterations {
		for size := smallest; size <= largest; size++ {
			must(t, stack.Kube.Create(t.Context(), job(fmt.Sprintf("job-%d-size-%d", iteration, size), int32(size))))
		}
	}
	until(t, "all jobs are over", func() error {
		must(t, endPods(t.Context(), stack))
		var jobs batchv1.JobList
		must(t, stack.Kube.List(t.Context(), &jobs))
		over := 0
		for i := range jobs.Items {
			if jobs.Items[i].Status.CompletionTime != nil {
				over++
			}
		}
		if want := iterations * (largest - smallest + 1); over != want {
			return fmt.Errorf("%d of %d jobs are over", over, want)
		}
		return nil
	})
}

func job(name string, size int32) *batchv1.Job {
	limits := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec: batchv1.JobSpec{
			Completions: &size, Parallelism: &size, CompletionMode: new(batchv1.IndexedCompletion),
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				SchedulerName: "vicinity-scheduler", RestartPolicy: corev1.RestartPolicyNever,
				Containers: []corev1.Container{{Name: "main", Image: "busybox", Resources: corev1.ResourceRequirements{Limits: limits}}},
			}},
		},
	}
}

func endPods(ctx context.Context, stack *localstack.Stack) error {
	var pods corev1.PodList
	if err := stack.Kube.List(ctx, &pods, client.InNamespace("default")); err != nil {
		return err
	}
	now := metav1.Now()
	for i := range pods.Items {
		pod := &pods.Items[i]
		if pod.Status.Phase != corev1.PodRunning || len(pod.Status.ContainerStatuses) == 0 {
			continue
		}
		running := pod.Status.ContainerStatuses[0].State.Running
		if running == nil || now.Sub(running.StartedAt.Time) < time.Second {
			continue
		}
		pod.Status.Phase = corev1.PodSucceeded
		pod.Status.ContainerStatuses[0].State = corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{Reason: "Completed", StartedAt: running.StartedAt, FinishedAt: now},
		}
		if err := stack.Kube.Status().Update(ctx, pod); err != nil {
			return client.IgnoreNotFound(err)
		}
	}
	return nil
}

// checkBindings: each pod was bound once, and the attempts of each are numbered without gaps.
func checkBindings(t *testing.T, ask func(string, any)) {
	t.Helper()
	bound, attempts := map[string]int{}, map[string]map[int]int{}
	for after := ""; ; {
		var page api.DecisionList
		ask("decisions?limit=1000&after="+after, &page)
		for _, d := range page.Items {
			if d.Outcome == trace.OutcomeBound {
				bound[d.UID]++
			}
			if attempts[d.UID] == nil {
				attempts[d.UID] = map[int]int{}
			}
			attempts[d.UID][d.Attempt]++
		}
		if after = page.Next; after == "" {
			break
		}
	}
	if len(bound) != experimentPods {
		t.Errorf("bindings of %d pods are recorded, want %d", len(bound), experimentPods)
	}
	for uid, n := range bound {
		if n != 1 {
			t.Errorf("pod %s: %d bindings are recorded", uid, n)
		}
	}
	for uid, numbers := range attempts {
		for n := 1; n <= len(numbers); n++ {
			if numbers[n] != 1 {
				t.Errorf("pod %s: attempts %v: want each number once, from 1 on", uid, numbers)
			}
		}
	}
}

// checkEvents: what happens to a pod once is one line.
func checkEvents(t *testing.T, ask func(string, any)) {
	t.Helper()
	var events api.EventList
	ask("events?limit=1000&object=Pod&namespace=default", &events)
	lines := map[string]int{}
	perEvent := map[string]int{}
	for _, e := range events.Items {
		lines[fmt.Sprint(e.UID, " ", e.Endpoint == "podDelete", " ", e.Event, " ", e.Time)]++
		perEvent[e.Event]++
	}
	for line, n := range lines {
		if n > 1 {
			t.Errorf("%d lines: %s", n, line)
		}
	}
	want := map[string]int{}
	for _, event := range []string{"Pending", "PodScheduled", "Running", "PodReadyToStartContainers", "Initialized", "ContainersReady", "Ready", "Succeeded"} {
		want[event] = experimentPods
	}
	if diff := cmp.Diff(want, perEvent); diff != "" {
		t.Errorf("lines by event (-want +got)\n%s", diff)
	}
}
