package integration

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vicinity-scheduler/vicinity/pkg/localstack"
)

const (
	// quiet is how long a pod must be left alone after a change that does not concern it. It is several times what a
	// change that does takes to be acted on.
	quiet = 700 * time.Millisecond
	// backoff is the scheduler's first one, and some more.
	backoff = 1200 * time.Millisecond
	// patience bounds what happens after a back-off of some seconds, on a machine that is busy.
	patience = 30 * time.Second
	poll     = 20 * time.Millisecond
)

const reader = `
apiVersion: v1
kind: Pod
metadata: {name: reader, namespace: default, labels: {%s}, annotations: {%s}}
spec:
  schedulerName: vicinity-scheduler
  containers: [{name: main, image: busybox}]
`

const readerLabels, readerAnnotations = `dataset.0.id: wanted, dataset.0.useas: mount`, `vicinity.dev/dataset-policy: Required`

// A time in the future is a clock that differs: it counts as now, so that these reports never become stale.
func report(node, observed, entries string) string {
	return fmt.Sprintf(`
apiVersion: vicinity.dev/v1alpha1
kind: NodeDatasetCache
metadata: {name: %s}
status: {observedAt: "2099-01-01T%sZ", datasets: [%s]}
`, node, observed, entries)
}

func cached(namespace, name string, bytes int) string {
	return fmt.Sprintf(`{namespace: %s, name: %s, medium: SSD, cachedBytes: %d, observedAt: "2099-01-01T00:00:00Z"}`, namespace, name, bytes)
}

// TestIntegrationRequeue: a pod whose dataset is nowhere costs no scheduling attempt until something changes that can
// help it, and then it is placed within a second.
func TestIntegrationRequeue(t *testing.T) {
	stack := startStack(t, "requeue")
	for _, name := range []string{"n1", "n2"} {
		if err := stack.ApplyNodes(t.Context(), []localstack.Node{{Name: name}}); err != nil {
			t.Fatal(err)
		}
	}
	config, err := stack.SchedulerConfig()
	if err != nil {
		t.Fatal(err)
	}
	if err := stack.StartScheduler(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	apply(t, stack, fmt.Sprintf(reader, readerLabels, readerAnnotations))
	awaitRejection(t, stack, `"default/wanted" is nowhere`)

	// The scheduler may answer before it has heard who is the administrator.
	eventually(t, "want the scheduler's metrics", func() (string, bool) {
		_, err := stack.Metrics(t.Context(), localstack.Scheduler)
		return fmt.Sprint(err), err == nil
	})
	// A back-off, which would hide an attempt that a change has caused, is over then.
	expectQuiet(t, stack, attempts(t, stack), backoff)

	unrelated := []struct{ name, object string }{
		{"another dataset appears on a node", report("n1", "00:00:00", cached("default", "other", 10))},
		{"that dataset's bytes change", report("n1", "00:00:01", cached("default", "other", 5000))},
		{"a sign of life, and nothing else", report("n1", "00:01:00", cached("default", "other", 5000))},
		{"a dataset of the same name in another namespace", report("n2", "00:00:00", cached("kube-public", "wanted", 10))},
		{"a node gets a label", `{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {colour: blue}}}`},
		{"a node comes", `{apiVersion: v1, kind: Node, metadata: {name: n3}}`},
		{"somebody else's volume claim comes", `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: wanted, namespace: default}
spec: {accessModes: [ReadOnlyMany], storageClassName: none, resources: {requests: {storage: 1Gi}}}
`},
		{"the pod gets a label", fmt.Sprintf(reader, readerLabels+", colour: blue", readerAnnotations)},
	}
	for _, change := range unrelated {
		t.Run("not after: "+change.name, func(t *testing.T) {
			before := attempts(t, stack)
			apply(t, stack, change.object)
			expectQuiet(t, stack, before, quiet)
		})
	}

	t.Run("after an annotation that this plugin reads", func(t *testing.T) {
		before := attempts(t, stack)
		apply(t, stack, fmt.Sprintf(reader, readerLabels, readerAnnotations+", vicinity.dev/dataset-wait: 20h"))
		eventually(t, fmt.Sprintf("want more than %d attempts", before), func() (string, bool) {
			now := attempts(t, stack)
			return fmt.Sprint(now), now > before
		})
	})

	t.Run("within a second of the dataset's arrival", func(t *testing.T) {
		began := time.Now()
		apply(t, stack, report("n2", "00:02:00", cached("default", "wanted", 10)))
		node := awaitPlace(t, stack)
		if took := time.Since(began); node != "n2" || took > time.Second {
			t.Errorf("placed on %s after %s, want n2 within a second", node, took)
		}
	})
}

// attempts is how often the scheduler has tried to place a pod, with whatever result.
func attempts(t *testing.T, stack *localstack.Stack) int {
	t.Helper()
	families, err := stack.Metrics(t.Context(), localstack.Scheduler)
	if err != nil {
		t.Fatal(err)
	}
	const name = "scheduler_schedule_attempts_total"
	if families[name] == nil {
		t.Fatalf("want metric %s of the scheduler, found none", name)
	}
	sum := 0.0
	for _, metric := range families[name].GetMetric() {
		sum += metric.GetCounter().GetValue()
	}
	return int(sum)
}

func expectQuiet(t *testing.T, stack *localstack.Stack, before int, long time.Duration) {
	t.Helper()
	for end := time.Now().Add(long); time.Now().Before(end); time.Sleep(poll) {
		if after := attempts(t, stack); after != before {
			t.Fatalf("%d attempts before, %d after; want no attempt", before, after)
		}
	}
}

func awaitRejection(t *testing.T, stack *localstack.Stack, reason string) {
	t.Helper()
	eventually(t, "want the pod Unschedulable with "+reason, func() (string, bool) {
		conditions := getReader(t, stack).Status.Conditions
		return fmt.Sprint(conditions), slices.ContainsFunc(conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodScheduled && c.Reason == corev1.PodReasonUnschedulable && strings.Contains(c.Message, reason)
		})
	})
}

func awaitPlace(t *testing.T, stack *localstack.Stack) (node string) {
	t.Helper()
	eventually(t, "want the pod placed", func() (string, bool) {
		pod := getReader(t, stack)
		node = pod.Spec.NodeName
		return fmt.Sprint(pod.Status.Conditions), node != ""
	})
	return node
}

// eventually asks until the answer is yes, and fails with what was found last if it is not in time.
func eventually(t *testing.T, want string, ask func() (found string, yes bool)) {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(poll) {
		found, yes := ask()
		if yes {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s within %s, found %s", want, patience, found)
		}
	}
}

func getReader(t *testing.T, stack *localstack.Stack) *corev1.Pod {
	t.Helper()
	pod := &corev1.Pod{}
	if err := stack.Kube.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "reader"}, pod); err != nil {
		t.Fatal(err)
	}
	return pod
}
