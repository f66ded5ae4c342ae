package v1

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func TestValidateDiskIOArgs(t *testing.T) {
	cases := map[string]struct {
		args DiskIOArgs
		want []string // parts of the error; none: valid
	}{
		"defaults": {},
		"a shape": {args: DiskIOArgs{
			ScoreStrategy: DiskIORequestedToCapacityRatio,
			Shape:         []UtilizationShapePoint{{Utilization: 0, Score: 0}, {Utilization: 100, Score: 10}},
		}},
		"an unknown strategy lists the legal ones": {
			args: DiskIOArgs{ScoreStrategy: "Best"},
			want: []string{"args.scoreStrategy", `"Best"`, `"LeastAllocated"`, `"MostAllocated"`},
		},
		"no namespace name, and one twice": {
			args: DiskIOArgs{NSWhiteList: []string{"kube-system", "Not_A_Name", "kube-system"}},
			want: []string{"args.nsWhiteList[1]", "invalid namespace format", "args.nsWhiteList[2]", "Duplicate"},
		},
		"a strategy without its shape": {
			args: DiskIOArgs{ScoreStrategy: DiskIORequestedToCapacityRatio},
			want: []string{"args.shape", "Required"},
		},
		"a shape without its strategy": {
			args: DiskIOArgs{Shape: []UtilizationShapePoint{{}}},
			want: []string{"args.shape", "Forbidden"},
		},
		"a shape that goes back, and leaves its scale": {
			args: DiskIOArgs{
				ScoreStrategy: DiskIORequestedToCapacityRatio,
				Shape:         []UtilizationShapePoint{{Utilization: 50, Score: 11}, {Utilization: 50, Score: -1}},
			},
			want: []string{"args.shape[0].score", "args.shape[1].utilization", "args.shape[1].score"},
		},
		"numbers out of range": {
			args: DiskIOArgs{
				BestEffortMinimum: -1, StaleAfter: metav1.Duration{Duration: time.Millisecond},
				FillDuration: metav1.Duration{Duration: 2 * time.Hour}, PressureWeightPercent: 101,
			},
			want: []string{"args.bestEffortMinimum", "args.staleAfter", "args.fillDuration", "args.pressureWeightPercent"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			SetDefaults_DiskIOArgs(&tc.args)
			err := ValidateDiskIOArgs(field.NewPath("args"), &tc.args)
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
