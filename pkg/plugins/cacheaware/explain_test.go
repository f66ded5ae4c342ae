package cacheaware

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	"github.com/vicinity-scheduler/vicinity/pkg/trace"
)

// TestScoresAreExplained: the terms are those that the score was made of, for nodes that the recorder asks about.
func TestScoresAreExplained(t *testing.T) {
	for _, tc := range []struct {
		name string
		pod  *corev1.Pod
		args configv1.CacheAwareArgs
		want map[string][]trace.Term
	}{
		{
			name: "one dataset: on its gateway, a rack away, and out of reach",
			pod:  podWith(using("on-gw")),
			want: map[string][]trace.Term{
				"gw":        {{Name: "on-gw", Value: 1, Unit: "share", Text: "node"}},
				"zone-mate": {{Name: "on-gw", Value: 0.5, Unit: "share", Text: corev1.LabelTopologyZone}},
				"far":       {{Name: "on-gw", Value: 0, Unit: "share", Text: "nowhere"}},
				"gone":      nil,
			},
		},
		{
			name: "only cold datasets: the home, and another node",
			pod:  podWith(using("nowhere")),
			want: map[string][]trace.Term{
				"gw":  {{Name: "home", Value: 5, Unit: "points", Text: "home of the cold dataset"}},
				"far": nil,
			},
		},
		{
			name: "a pod without datasets that leaves nodes with data to others",
			pod:  podWith(map[string]string{"app": "web"}),
			args: configv1.CacheAwareArgs{KeepOthersAwayPercent: 20},
			want: map[string][]trace.Term{
				"gw":        {{Name: "keepOthersAway", Text: "the node holds data that this pod does not use"}},
				"rack-mate": {{Name: "keepOthersAway", Value: 20, Unit: "points"}},
			},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := newCluster(t.Context(), t, tc.args)
			state := framework.NewCycleState()
			if _, status := c.PreFilter(t.Context(), state, tc.pod, nil); !status.IsSuccess() && !status.IsSkip() {
				t.Fatal(status)
			}
			var nodes []fwk.NodeInfo
			for _, name := range []string{"far", "gw", "rack-mate", "zone-mate"} {
				nodes = append(nodes, c.nodes[name])
			}
			if status := c.PreScore(t.Context(), state, tc.pod, nodes); !status.IsSuccess() {
				t.Fatal(status)
			}
			data, err := state.Read(trace.ExplainKeyPrefix + Name)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string][]trace.Term{}
			for node := range tc.want {
				got[node] = data.(trace.Explainer).Explain(node)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("terms (-want +got):\n%s", diff)
			}
		})
	}
}
