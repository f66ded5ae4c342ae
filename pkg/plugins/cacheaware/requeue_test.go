package cacheaware

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2/ktesting"
	fwk "k8s.io/kube-scheduler/framework"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
	"github.com/vicinity-scheduler/vicinity/pkg/locality"
)

func TestWhichEventsRequeue(t *testing.T) {
	logger, ctx := ktesting.NewTestContext(t)
	c := newCluster(ctx, t, configv1.CacheAwareArgs{DatasetPolicy: vicinityv1alpha1.DatasetPolicyRequired})
	waiting := podWith(using("on-gw"))
	malformed := podWith(map[string]string{"dataset.x.id": "a"})
	otherLabel := waiting.DeepCopy()
	otherLabel.Labels["app"] = "web"
	relaxed := podWith(using("on-gw"), vicinityv1alpha1.DatasetPolicyAnnotation, "Preferred")
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "data"}}
	withClaim := st.MakePod().Namespace("team").Name("p").PVC("data").Obj()

	cases := map[string]struct {
		hint func() (fwk.QueueingHint, error)
		want fwk.QueueingHint
	}{
		"the malformed label is corrected": {
			hint: func() (fwk.QueueingHint, error) { return c.afterPodUpdate(logger, malformed, malformed, waiting) },
			want: fwk.Queue,
		},
		"the annotation relaxes the policy": {
			hint: func() (fwk.QueueingHint, error) { return c.afterPodUpdate(logger, waiting, waiting, relaxed) },
			want: fwk.Queue,
		},
		"a label that means nothing here changes": {
			hint: func() (fwk.QueueingHint, error) { return c.afterPodUpdate(logger, waiting, waiting, otherLabel) },
			want: fwk.QueueSkip,
		},
		"the gateway's node appears": {
			hint: func() (fwk.QueueingHint, error) {
				return c.afterNodeChange(logger, waiting, nil, c.nodes["gw"].Node())
			},
			want: fwk.Queue,
		},
		"a node without the data appears": {
			hint: func() (fwk.QueueingHint, error) {
				return c.afterNodeChange(logger, waiting, nil, c.nodes["far"].Node())
			},
			want: fwk.QueueSkip,
		},
		"no node mends a label": {
			hint: func() (fwk.QueueingHint, error) {
				return c.afterNodeChange(logger, malformed, nil, c.nodes["gw"].Node())
			},
			want: fwk.QueueSkip,
		},
		"the pod's claim appears": {
			hint: func() (fwk.QueueingHint, error) { return c.afterClaimChange(logger, withClaim, nil, claim) },
			want: fwk.Queue,
		},
		"somebody else's claim appears": {
			hint: func() (fwk.QueueingHint, error) { return c.afterClaimChange(logger, waiting, nil, claim) },
			want: fwk.QueueSkip,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := tc.hint()
			if err != nil {
				t.Fatal(err)
			}
			if got != tc.want {
				t.Errorf("hint %v, want %v", got, tc.want)
			}
		})
	}
}

func TestDatasetChangeActivatesThePodsThatRequireIt(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	_, ctx := ktesting.NewTestContext(t)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c := newCluster(ctx, t, configv1.CacheAwareArgs{DatasetPolicy: vicinityv1alpha1.DatasetPolicyRequired})
	c.schedule(ctx, t, podWith(using("nowhere")))
	preferring := podWith(using("nowhere"), vicinityv1alpha1.DatasetPolicyAnnotation, "Preferred")
	preferring.Name, preferring.UID = "preferring", "preferring"
	c.schedule(ctx, t, preferring)

	c.datasets.change("on-gw", locality.Dataset{}) // of no interest to anyone
	c.datasets.change("nowhere", locality.Dataset{Replicas: []locality.Replica{{At: locality.OnNode("gw")}}})
	select {
	case got := <-c.activated:
		if got != "team/pod" {
			t.Errorf("activated %s, want team/pod", got)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("nothing was activated")
	}

	if c.waiting.Remove("pod"); c.waiting.Len() != 0 {
		t.Errorf("%d pods left behind", c.waiting.Len())
	}
	if len(c.activated) != 0 {
		t.Errorf("activated besides: %s", <-c.activated)
	}
}

// TestPatienceActivatesWithoutAnyEvent: the pod is put back when its wait is over, and by nothing else.
func TestPatienceActivatesWithoutAnyEvent(t *testing.T) {
	_, ctx := ktesting.NewTestContext(t)
	c := newCluster(ctx, t, configv1.CacheAwareArgs{})
	begin := time.Now()
	c.schedule(ctx, t, podWith(using("nowhere"), vicinityv1alpha1.DatasetWaitAnnotation, "300ms"))
	select {
	case got := <-c.activated:
		if waited := time.Since(begin); got != "team/pod" || waited < 300*time.Millisecond {
			t.Errorf("activated %s after %s, want team/pod after its wait", got, waited)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("nothing was activated")
	}
}

func TestWhichPodsAreSigned(t *testing.T) {
	_, ctx := ktesting.NewTestContext(t)
	sharing := configv1.CacheAwareArgs{ColdData: configv1.ColdData{Policy: configv1.ColdDataIgnore}}
	c := newCluster(ctx, t, sharing)
	sign := func(pod *corev1.Pod) ([]fwk.SignFragment, *fwk.Status) { return c.SignPod(ctx, pod) }

	if fragments, status := sign(podWith(nil)); len(fragments) != 0 || !status.IsSuccess() {
		t.Errorf("pod without datasets: %v, %v; want nothing to sign", fragments, status)
	}
	one, _ := sign(podWith(using("on-gw", "on-far")))
	same, _ := sign(podWith(using("on-far", "on-gw")))
	other, _ := sign(podWith(using("on-gw")))
	if len(one) != 1 || !cmp.Equal(one, same) || cmp.Equal(one, other) {
		t.Errorf("fragments %v, %v, %v; want the first two equal and the third different", one, same, other)
	}
	if _, status := sign(podWith(using("on-gw"), vicinityv1alpha1.DatasetPolicyAnnotation, "Required")); status.IsSuccess() {
		t.Error("a pod that requires a dataset was signed")
	}
	if _, status := sign(podWith(map[string]string{"dataset.x.id": "a"})); status.IsSuccess() {
		t.Error("a pod with malformed labels was signed")
	}
	if _, status := sign(podWith(using("on-gw"), vicinityv1alpha1.DatasetWaitAnnotation, "5s")); status.IsSuccess() {
		t.Error("a pod that waits for a warm node was signed")
	}
	sharing.GatewayLoad.Threshold = 3
	if _, status := newCluster(ctx, t, sharing).SignPod(ctx, podWith(using("on-gw"))); status.IsSuccess() {
		t.Error("a pod was signed although it loads its gateway")
	}
	if _, status := newCluster(ctx, t, configv1.CacheAwareArgs{}).SignPod(ctx, podWith(using("on-gw"))); status.IsSuccess() {
		t.Error("a pod was signed although it warms its node")
	}
}
