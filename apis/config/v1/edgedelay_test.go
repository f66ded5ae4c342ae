package v1

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func TestEdgeDelayDefaultsAreTheDocumentedOnes(t *testing.T) {
	got := EdgeDelayArgs{}
	SetDefaults_EdgeDelayArgs(&got)
	want := EdgeDelayArgs{
		UnconstrainedPods: "PreferCloud", CloudSelector: "kubernetes.io/role=cloud", OnUnknown: "Estimate", Percentile: 50, Clustering: "Off",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("defaults (-want +got):\n%s", diff)
	}
}

func TestValidateEdgeDelayArgs(t *testing.T) {
	layers := func(durations ...time.Duration) (out []metav1.Duration) {
		for _, d := range durations {
			out = append(out, metav1.Duration{Duration: d})
		}
		return out
	}
	cases := map[string]struct {
		args EdgeDelayArgs
		want []string // parts of the error; none: valid
	}{
		"defaults": {},
		"everything": {args: EdgeDelayArgs{
			UnconstrainedPods: "RequireCloud", CloudSelector: "provider in (a, b),!edge", OnUnknown: "Reject", Percentile: 99,
			Clustering: "Layers", InitialClusterLayers: layers(0, 5*time.Millisecond, time.Second),
			StaticFiles: DelayFiles{Matrix: "/m", Metadata: "/n"},
		}},
		"unknown words list the legal ones": {
			args: EdgeDelayArgs{UnconstrainedPods: "Cloud", OnUnknown: "Guess", Clustering: "On"},
			want: []string{`args.unconstrainedPods`, `"PreferCloud"`, `args.onUnknown`, `"Allow"`, `args.clustering`, `"Layers"`},
		},
		"a percentile that sources do not tell": {args: EdgeDelayArgs{Percentile: 90}, want: []string{"args.percentile", "must be 50 or 99"}},
		"a selector that is none":               {args: EdgeDelayArgs{CloudSelector: "a==="}, want: []string{"args.cloudSelector"}},
		"a selector of every node":              {args: EdgeDelayArgs{CloudSelector: " "}, want: []string{"args.cloudSelector", "must not select every node"}},
		"layers without clustering":             {args: EdgeDelayArgs{InitialClusterLayers: layers(1)}, want: []string{"args.initialClusterLayers", "Forbidden"}},
		"layers that do not rise": {
			args: EdgeDelayArgs{Clustering: "Layers", InitialClusterLayers: layers(2, 2)}, want: []string{"args.initialClusterLayers[1]"},
		},
		"a negative layer, and one of two hours": {
			args: EdgeDelayArgs{Clustering: "Layers", InitialClusterLayers: layers(-1, 2*time.Hour)},
			want: []string{"args.initialClusterLayers[0]", "args.initialClusterLayers[1]"},
		},
		"too many layers": {
			args: EdgeDelayArgs{Clustering: "Layers", InitialClusterLayers: make([]metav1.Duration, 65)}, want: []string{"args.initialClusterLayers", "must have at most 64"},
		},
		"one file of two": {args: EdgeDelayArgs{StaticFiles: DelayFiles{Matrix: "/m"}}, want: []string{"args.staticFiles", "needs both"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			SetDefaults_EdgeDelayArgs(&tc.args)
			err := ValidateEdgeDelayArgs(field.NewPath("args"), &tc.args)
			if (err != nil) != (len(tc.want) > 0) {
				t.Fatalf("error %v, want parts %q", err, tc.want)
			}
			for _, part := range tc.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("error %q; want it to contain %q", err, part)
				}
			}
		})
	}
}
