package cacheaware

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
)

func TestPodFromPreFilterToScore(t *testing.T) {
	all := []string{"far", "gw", "rack-mate", "zone-mate"}
	claim := func(name string, labels map[string]string) *corev1.PersistentVolumeClaim {
		return &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name, Labels: labels}}
	}
	onGateway := map[string]int64{"gw": 100, "rack-mate": 75, "zone-mate": 50, "far": 0}
	fluidMarked := func(labels map[string]string) *corev1.Pod {
		return st.MakePod().Namespace("team").Name("p").UID("p").PVC("data").Labels(labels).Obj()
	}
	required := configv1.CacheAwareArgs{DatasetPolicy: vicinityv1alpha1.DatasetPolicyRequired}
	const policy, wait = vicinityv1alpha1.DatasetPolicyAnnotation, vicinityv1alpha1.DatasetWaitAnnotation
	cases := map[string]struct {
		pod    *corev1.Pod
		args   configv1.CacheAwareArgs
		claims []*corev1.PersistentVolumeClaim
		want   outcome
	}{
		"a pod without datasets is none of this plugin's business": {
			pod:  podWith(map[string]string{"app": "web"}),
			want: outcome{PreFilter: "Skip", Passing: all, PreScore: "Skip"},
		},
		"a dataset behind a gateway draws its pod there, then to its rack, then to its zone": {
			pod:  podWith(using("on-gw")),
			want: outcome{PreFilter: "Skip", Passing: all, PreScore: "Success", Scores: onGateway},
		},
		"two datasets: the mean, (100+0)/2, (75+0)/2, (50+0)/2, (0+100)/2": {
			pod: podWith(using("on-gw", "on-far")),
			want: outcome{
				PreFilter: "Skip", Passing: all, PreScore: "Success",
				Scores: map[string]int64{"gw": 50, "rack-mate": 38, "zone-mate": 25, "far": 50},
			},
		},
		"a dataset without a placement, or unknown, takes no part in the mean": {
			pod:  podWith(using("on-gw", "nowhere", "unheard-of")),
			want: outcome{PreFilter: "Skip", Passing: all, PreScore: "Success", Scores: onGateway},
		},
		"only datasets without a placement: one node is home": {
			pod: podWith(using("nowhere")),
			want: outcome{
				PreFilter: "Skip", Passing: all, PreScore: "Success",
				Scores: map[string]int64{"gw": 5, "rack-mate": 0, "zone-mate": 0, "far": 0},
			},
		},
		"a dataset that nobody caches on nodes has no home: all nodes are equal": {
			pod:  podWith(using("uncached", "unheard-of")),
			want: outcome{PreFilter: "Skip", Passing: all, PreScore: "Skip"},
		},
		"cold data may be left to chance: all nodes are equal": {
			pod:  podWith(using("nowhere")),
			args: configv1.CacheAwareArgs{ColdData: configv1.ColdData{Policy: configv1.ColdDataIgnore}},
			want: outcome{PreFilter: "Skip", Passing: all, PreScore: "Skip"},
		},
		"stale news are no news": {
			pod:  podWith(using("stale")),
			args: configv1.CacheAwareArgs{ColdData: configv1.ColdData{Policy: configv1.ColdDataIgnore}},
			want: outcome{PreFilter: "Skip", Passing: all, PreScore: "Skip"},
		},
		// 80 of 100 bytes in memory: 80. All of them on a hard disk: 50. In gw's rack 0.75 x 80, in its zone 0.5 x 80.
		"bytes and media": {
			pod: podWith(using("both-media")),
			want: outcome{
				PreFilter: "Skip", Passing: all, PreScore: "Success",
				Scores: map[string]int64{"gw": 80, "rack-mate": 60, "zone-mate": 40, "far": 50},
			},
		},
		"compatible scores: 100, 50 in zone and region, else 0": {
			pod:  podWith(using("on-gw")),
			args: configv1.CacheAwareArgs{Scoring: configv1.ScoringCompatible},
			want: outcome{
				PreFilter: "Skip", Passing: all, PreScore: "Success",
				Scores: map[string]int64{"gw": 100, "rack-mate": 50, "zone-mate": 50, "far": 0},
			},
		},
		"pods without datasets may be kept away from data": {
			pod:  podWith(nil),
			args: configv1.CacheAwareArgs{KeepOthersAwayPercent: 5},
			want: outcome{
				PreFilter: "Skip", Passing: all, PreScore: "Success",
				Scores: map[string]int64{"gw": 0, "rack-mate": 5, "zone-mate": 5, "far": 0},
			},
		},
		"a claim that Fluid manages names the dataset; Fluid's label makes it required": {
			pod:    fluidMarked(map[string]string{"fluid.io/dataset.on-gw.sched": "required"}),
			claims: []*corev1.PersistentVolumeClaim{claim("data", map[string]string{"fluid.io/managed-by": "on-gw"})},
			want: outcome{
				PreFilter: "Success", Nodes: []string{"gw"}, Passing: []string{"gw"}, PreScore: "Success",
				Scores: map[string]int64{"gw": 100},
			},
		},
		"Fluid's label with another value, and for a dataset that the pod does not use": {
			pod: fluidMarked(map[string]string{
				"fluid.io/dataset.on-gw.sched": "please", "fluid.io/dataset.nowhere.sched": "required",
			}),
			claims: []*corev1.PersistentVolumeClaim{claim("data", map[string]string{"fluid.io/wrapped-by": "on-gw"})},
			want:   outcome{PreFilter: "Skip", Passing: all, PreScore: "Success", Scores: onGateway},
		},
		"waiting begins: the node itself": {
			pod: podWith(using("on-gw"), wait, "30s"),
			want: outcome{
				PreFilter: "Success", Nodes: []string{"gw"}, Passing: []string{"gw"}, PreScore: "Success",
				Scores: map[string]int64{"gw": 100},
			},
		},
		"after one wait: the rack too": {
			pod: rejectedFor(31*time.Second, podWith(using("on-gw"), wait, "30s")),
			want: outcome{
				PreFilter: "Success", Passing: []string{"gw", "rack-mate"}, PreScore: "Success",
				Scores: map[string]int64{"gw": 100, "rack-mate": 75},
			},
		},
		"after four waits: anywhere; the default wait is the arguments'": {
			pod:  rejectedFor(2*time.Minute, podWith(using("on-gw"))),
			args: configv1.CacheAwareArgs{WaitForWarmNode: metav1.Duration{Duration: 30 * time.Second}},
			want: outcome{PreFilter: "Skip", Passing: all, PreScore: "Success", Scores: onGateway},
		},
		"the arguments' wait does not relax what a pod requires": {
			pod:  rejectedFor(time.Hour, podWith(using("on-gw"), policy, "Required")),
			args: configv1.CacheAwareArgs{WaitForWarmNode: metav1.Duration{Duration: 30 * time.Second}},
			want: outcome{
				PreFilter: "Success", Nodes: []string{"gw"}, Passing: []string{"gw"}, PreScore: "Success",
				Scores: map[string]int64{"gw": 100},
			},
		},
		"waiting for what is nowhere ends with the first wait": {
			pod: rejectedFor(30*time.Second, podWith(using("nowhere"), wait, "30s")),
			want: outcome{
				PreFilter: "Skip", Passing: all, PreScore: "Success",
				Scores: map[string]int64{"gw": 5, "rack-mate": 0, "zone-mate": 0, "far": 0},
			},
		},
		"a volume claim marked by Datashim names the dataset": {
			pod:    st.MakePod().Namespace("team").Name("p").UID("p").PVC("data").Obj(),
			claims: []*corev1.PersistentVolumeClaim{claim("data", map[string]string{"dataset": "on-gw"})},
			want:   outcome{PreFilter: "Skip", Passing: all, PreScore: "Success", Scores: onGateway},
		},
		"a volume claim without the mark counts if a dataset has its name": {
			pod:  st.MakePod().Namespace("team").Name("p").UID("p").PVC("on-gw").Obj(),
			want: outcome{PreFilter: "Skip", Passing: all, PreScore: "Success", Scores: onGateway},
		},
		"a volume claim of another kind is not a dataset": {
			pod:    st.MakePod().Namespace("team").Name("p").UID("p").PVC("disk").Obj(),
			claims: []*corev1.PersistentVolumeClaim{claim("disk", nil)},
			want:   outcome{PreFilter: "Skip", Passing: all, PreScore: "Skip"},
		},
		"datasets of another namespace do not count": {
			pod:  st.MakePod().Namespace("other").Name("p").UID("p").Labels(using("on-gw")).Obj(),
			args: configv1.CacheAwareArgs{ColdData: configv1.ColdData{Policy: configv1.ColdDataIgnore}},
			want: outcome{PreFilter: "Skip", Passing: all, PreScore: "Skip"},
		},
		"required by annotation: only the gateway passes": {
			pod: podWith(using("on-gw"), policy, "Required"),
			want: outcome{
				PreFilter: "Success", Nodes: []string{"gw"}, Passing: []string{"gw"}, PreScore: "Success",
				Scores: map[string]int64{"gw": 100},
			},
		},
		"required by the arguments, relaxed by the annotation": {
			pod: podWith(using("on-gw"), policy, "Preferred"), args: required,
			want: outcome{PreFilter: "Skip", Passing: all, PreScore: "Success", Scores: onGateway},
		},
		"two required datasets on different nodes: no node has both": {
			pod: podWith(using("on-gw", "on-far")), args: required,
			want: outcome{PreFilter: `UnschedulableAndUnresolvable: no node holds all required datasets; ` +
				`"team/on-gw" is missing on most nodes`},
		},
		"required and nowhere": {
			pod: podWith(using("on-gw", "nowhere")), args: required,
			want: outcome{PreFilter: `UnschedulableAndUnresolvable: required dataset "team/nowhere" is nowhere: ` +
				`no usable node is known to serve or hold it`},
		},
		"a malformed label is named": {
			pod: podWith(map[string]string{"dataset.x.id": "on-gw"}),
			want: outcome{
				PreFilter: `UnschedulableAndUnresolvable: label "dataset.x.id": want an integer as index, found "x"`,
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, ctx := ktesting.NewTestContext(t)
			c := newCluster(ctx, t, tc.args, tc.claims...)
			if diff := cmp.Diff(tc.want, c.schedule(ctx, t, tc.pod)); diff != "" {
				t.Errorf("outcome (-want +got):\n%s", diff)
			}
		})
	}
}

// TestPostFilterNamesTheScarcestDataset: of two required datasets the one that fewer nodes hold.
func TestPostFilterNamesTheScarcestDataset(t *testing.T) {
	_, ctx := ktesting.NewTestContext(t)
	c := newCluster(ctx, t, configv1.CacheAwareArgs{DatasetPolicy: vicinityv1alpha1.DatasetPolicyRequired})
	state, pod := framework.NewCycleState(), podWith(using("both-media", "on-far"))
	c.PreFilter(ctx, state, pod, nil)
	_, status := c.PostFilter(ctx, state, pod, nil)
	if want := `required dataset "team/on-far" is missing on most nodes: 1 place(s) hold it`; status.Message() != want {
		t.Errorf("PostFilter says %q, want %q", status.Message(), want)
	}
	if _, status := c.PostFilter(ctx, framework.NewCycleState(), podWith(nil), nil); status.Message() != "" || !status.IsRejected() {
		t.Errorf("without datasets PostFilter says %q; want it to say nothing and change nothing", status.Message())
	}
}

func TestMalformedPolicyIsNamed(t *testing.T) {
	_, ctx := ktesting.NewTestContext(t)
	c := newCluster(ctx, t, configv1.CacheAwareArgs{})
	got := c.schedule(ctx, t, podWith(nil, vicinityv1alpha1.DatasetPolicyAnnotation, "Maybe")).PreFilter
	for _, part := range []string{"UnschedulableAndUnresolvable", vicinityv1alpha1.DatasetPolicyAnnotation, "Maybe", "Required"} {
		if !strings.Contains(got, part) {
			t.Errorf("PreFilter = %s; want it to contain %q", got, part)
		}
	}
}

// TestDatasetsAreLogged: the line that the predecessor's users looked for, at the verbosity they will use.
func TestDatasetsAreLogged(t *testing.T) {
	logger := ktesting.NewLogger(t, ktesting.NewConfig(ktesting.Verbosity(2), ktesting.BufferLogs(true)))
	ctx := klog.NewContext(t.Context(), logger)
	newCluster(ctx, t, configv1.CacheAwareArgs{}).schedule(ctx, t, podWith(using("on-gw")))
	log := logger.GetSink().(ktesting.Underlier).GetBuffer().String()
	for _, part := range []string{"team/pod", "team/on-gw", "kubernetes.io/hostname=gw"} {
		if !strings.Contains(log, part) {
			t.Errorf("log at V(2) is %q; want it to contain %q", log, part)
		}
	}
}
