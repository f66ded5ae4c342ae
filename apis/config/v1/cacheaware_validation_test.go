package v1

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func TestValidateCacheAwareArgs(t *testing.T) {
	nine := make([]TopologyTier, 9)
	for i := range nine {
		nine[i] = TopologyTier{LabelKey: "example.com/t" + string(rune('a'+i)), Percent: int32(90 - i)}
	}
	cases := map[string]struct {
		args CacheAwareArgs
		want []string // parts of the error; none: valid
	}{
		"defaults": {},
		"unknown policy lists the legal ones": {
			args: CacheAwareArgs{DatasetPolicy: "Sometimes"},
			want: []string{"args.datasetPolicy", `"Sometimes"`, `"Preferred"`, `"Required"`},
		},
		"a wider tier must score less than a nearer one": {
			args: CacheAwareArgs{Tiers: []TopologyTier{{LabelKey: "a", Percent: 50}, {LabelKey: "b", Percent: 50}}},
			want: []string{"args.tiers[1].percent", "less than 50"},
		},
		"a tier must score less than the node": {
			args: CacheAwareArgs{Tiers: []TopologyTier{{LabelKey: "a", Percent: 100}}},
			want: []string{"args.tiers[0].percent", "less than 100"},
		},
		"zero and negative scores": {
			args: CacheAwareArgs{Tiers: []TopologyTier{{LabelKey: "a"}, {LabelKey: "b", Percent: -1}}},
			want: []string{"args.tiers[0].percent", "args.tiers[1].percent"},
		},
		"a key that is no label key": {
			args: CacheAwareArgs{Tiers: []TopologyTier{{LabelKey: "not a key", Percent: 50}}},
			want: []string{"args.tiers[0].labelKey"},
		},
		"a key used twice": {
			args: CacheAwareArgs{Tiers: []TopologyTier{{LabelKey: "a", Percent: 50}, {LabelKey: "a", Percent: 20}}},
			want: []string{"args.tiers[1].labelKey", "Duplicate"},
		},
		"the hostname is the node itself": {
			args: CacheAwareArgs{Tiers: []TopologyTier{{LabelKey: "kubernetes.io/hostname", Percent: 50}}},
			want: []string{"args.tiers[0].labelKey", "the node itself is not a tier"},
		},
		"an unknown source lists the legal ones; a source stands once": {
			args: CacheAwareArgs{Sources: []DatasetSource{"Alluxio", "Fluid", "Fluid"}},
			want: []string{"args.sources[0]", `"Alluxio"`, `"Datashim"`, "args.sources[2]", "Duplicate"},
		},
		"an unknown scoring lists the legal ones": {
			args: CacheAwareArgs{Scoring: "Best"},
			want: []string{"args.scoring", `"Compatible"`},
		},
		"media out of range, unknown, and repeated": {
			args: CacheAwareArgs{Media: []MediumWorth{{Medium: "SSD", Percent: 101}, {Medium: "Tape", Percent: 5}, {Medium: "SSD", Percent: 5}}},
			want: []string{"args.media[0].percent", "args.media[1].medium", `"HDD"`, "args.media[2].medium", "Duplicate"},
		},
		"news that would be stale before the next heartbeat": {
			args: CacheAwareArgs{StaleAfter: metav1.Duration{Duration: time.Minute}},
			want: []string{"args.staleAfter", "between 2m0s and 24h0m0s"},
		},
		"negative durations and numbers": {
			args: CacheAwareArgs{
				WaitForWarmNode: metav1.Duration{Duration: -1}, KeepOthersAwayPercent: -1,
				GatewayLoad: GatewayLoad{Threshold: -1}, ColdData: ColdData{Policy: "Maybe", HomePercent: 200},
			},
			want: []string{
				"args.waitForWarmNode", "args.keepOthersAwayPercent", "args.gatewayLoad.threshold",
				"args.coldData.policy", "args.coldData.homePercent",
			},
		},
		"too many tiers": {
			args: CacheAwareArgs{Tiers: nine},
			want: []string{"args.tiers", "must have at most 8"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			SetDefaults_CacheAwareArgs(&tc.args)
			err := ValidateCacheAwareArgs(field.NewPath("args"), &tc.args)
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
