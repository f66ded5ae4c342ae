package mlpscore

import (
	"fmt"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"k8s.io/utils/clock"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
	"github.com/vicinity-scheduler/vicinity/pkg/feature"
	"github.com/vicinity-scheduler/vicinity/pkg/gpushare"
	"github.com/vicinity-scheduler/vicinity/pkg/mlp"
)

// cpuModel scores a node by one feature, the free share of CPU after the placement: easy to compute by hand.
func cpuModel(t testing.TB, weight float32) *feature.Model {
	t.Helper()
	weights := make([]float32, feature.Inputs)
	for i, f := range feature.Schema() {
		if f.Name == "after.cpuFree" {
			weights[i] = weight
		}
	}
	network, err := mlp.NewNetwork([]mlp.Layer{{Inputs: feature.Inputs, Outputs: 1, Weights: weights, Bias: []float32{0}}})
	if err != nil {
		t.Fatal(err)
	}
	return &feature.Model{
		Model:   &mlp.Model{Network: network},
		Typical: []gpushare.TypicalPod{{Class: gpushare.Class{CPUMilli: 1000, GPUs: 1, GPUMilli: 500, Models: "T4"}, Frequency: 1}},
	}
}

type fixed struct{ model *feature.Model }

func (f *fixed) Current() *feature.Model { return f.model }

// fixture is a plugin with its models and metrics.
type fixture struct {
	*MLPScore
	models *fixed
}

func newFixture(t testing.TB, args configv1.MLPScoreArgs, now clock.PassiveClock) fixture {
	t.Helper()
	configv1.SetDefaults_MLPScoreArgs(&args)
	metrics, err := NewMetrics(prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	models := &fixed{model: cpuModel(t, 1)}
	pl, err := New(t.Context(), &args, models, metrics, noNodes, now)
	if err != nil {
		t.Fatal(err)
	}
	return fixture{MLPScore: pl, models: models}
}

func active() configv1.MLPScoreArgs { return configv1.MLPScoreArgs{Mode: configv1.MLPScoreActive} }

// node is an empty node with so many cores and GPUs, and pods that run on it.
func node(name, cores string, gpus int, pods ...*corev1.Pod) fwk.NodeInfo {
	capacity := map[corev1.ResourceName]string{"cpu": cores, "memory": "64Gi", "pods": "100"}
	if gpus > 0 {
		capacity[gpuCount] = fmt.Sprint(gpus)
	}
	info := framework.NewNodeInfo(pods...)
	info.SetNode(st.MakeNode().Name(name).Label(vicinityv1alpha1.GPUModelAnnotation, "T4").Capacity(capacity).Obj())
	return info
}

func pod(cpu string, annotations ...string) *corev1.Pod {
	p := st.MakePod().Name("p").Namespace("default").Req(map[corev1.ResourceName]string{"cpu": cpu, "memory": "1Gi"}).Obj()
	for i := 0; i+1 < len(annotations); i += 2 {
		metav1.SetMetaDataAnnotation(&p.ObjectMeta, annotations[i], annotations[i+1])
	}
	return p
}

// scores runs PreScore, Score and NormalizeScore as the framework does.
func (f fixture) scores(t *testing.T, p *corev1.Pod, nodes []fwk.NodeInfo) map[string]int64 {
	t.Helper()
	state := framework.NewCycleState()
	if status := f.PreScore(t.Context(), state, p, nodes); !status.IsSuccess() {
		t.Fatalf("PreScore: %v", status)
	}
	return f.normalised(t, state, p, nodes)
}

func (f fixture) normalised(t *testing.T, state fwk.CycleState, p *corev1.Pod, nodes []fwk.NodeInfo) map[string]int64 {
	t.Helper()
	var list fwk.NodeScoreList
	for _, info := range nodes {
		score, status := f.Score(t.Context(), state, p, info)
		if !status.IsSuccess() {
			t.Fatalf("Score of %s: %v", info.Node().Name, status)
		}
		list = append(list, fwk.NodeScore{Name: info.Node().Name, Score: score})
	}
	if status := f.NormalizeScore(t.Context(), state, p, list); !status.IsSuccess() {
		t.Fatalf("NormalizeScore: %v", status)
	}
	out := map[string]int64{}
	for _, s := range list {
		out[s.Name] = s.Score
	}
	return out
}

func readState(t *testing.T, state fwk.CycleState) *podState {
	t.Helper()
	data, err := state.Read(scoreKey)
	if err != nil {
		t.Fatal(err)
	}
	s, ok := data.(*podState)
	if !ok {
		t.Fatalf("state is %T", data)
	}
	return s
}
