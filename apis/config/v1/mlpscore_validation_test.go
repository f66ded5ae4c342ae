package v1

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func TestValidateMLPScoreArgs(t *testing.T) {
	cases := map[string]struct {
		args MLPScoreArgs
		want []string // parts of the error; none: valid
	}{
		"defaults": {},
		"all that can be set, at its limits": {args: MLPScoreArgs{
			Mode: MLPScoreActive, ModelConfigMap: "mlpscore-model", Deadline: metav1.Duration{Duration: time.Second},
			Fallback: MLPScoreFallbackNeutral,
			External: &MLPScoreExternal{URL: "https://scorer.example:5000/score", Timeout: metav1.Duration{Duration: time.Millisecond}},
		}},
		"an unknown mode and fallback list the legal ones": {
			args: MLPScoreArgs{Mode: "On", Fallback: "BestFit"},
			want: []string{"args.mode", `"On"`, `"Off"`, `"Shadow"`, `"Active"`, "args.fallback", `"BestFit"`, `"FGD"`, `"Neutral"`},
		},
		"a model from two places": {
			args: MLPScoreArgs{ModelFile: "/models/a.safetensors", ModelConfigMap: "mlpscore-model"},
			want: []string{"args.modelConfigMap", "Forbidden"},
		},
		"a ConfigMap that cannot exist": {
			args: MLPScoreArgs{ModelConfigMap: "Not_A_Name"},
			want: []string{"args.modelConfigMap", "Not_A_Name"},
		},
		"a deadline too short to look at one node": {
			args: MLPScoreArgs{Deadline: metav1.Duration{Duration: time.Nanosecond}},
			want: []string{"args.deadline"},
		},
		"a deadline below zero": {
			args: MLPScoreArgs{Deadline: metav1.Duration{Duration: -time.Second}},
			want: []string{"args.deadline"},
		},
		"a server without a host, asked for a minute": {
			args: MLPScoreArgs{External: &MLPScoreExternal{URL: "http://", Timeout: metav1.Duration{Duration: time.Minute}}},
			want: []string{"args.external.timeout", "args.external.url"},
		},
		"a server that is a file": {
			args: MLPScoreArgs{External: &MLPScoreExternal{URL: "file:///etc/passwd"}},
			want: []string{"args.external.url"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			SetDefaults_MLPScoreArgs(&tc.args)
			err := ValidateMLPScoreArgs(field.NewPath("args"), &tc.args)
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
