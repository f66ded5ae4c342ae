package scheme_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	schedulerscheme "k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	schedulerv1 "k8s.io/kubernetes/pkg/scheduler/apis/config/v1"

	"github.com/vicinity-scheduler/vicinity/apis/config/scheme"
	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
)

func TestMain(m *testing.M) {
	scheme.Install()
	os.Exit(m.Run())
}

// decode reads a configuration the way kube-scheduler does.
func decode(yaml string) (*config.KubeSchedulerConfiguration, error) {
	obj, _, err := schedulerscheme.Codecs.UniversalDecoder().Decode([]byte(yaml), nil, nil)
	if err != nil {
		return nil, err
	}
	return obj.(*config.KubeSchedulerConfiguration), nil
}

const header = `
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: vicinity-scheduler
  plugins:
    multiPoint:
      enabled:
      - name: CacheAware
        weight: 10
`

// argsOf returns CacheAware's decoded arguments of the first profile.
func argsOf(t *testing.T, cfg *config.KubeSchedulerConfiguration) *configv1.CacheAwareArgs {
	t.Helper()
	for _, pc := range cfg.Profiles[0].PluginConfig {
		if pc.Name == "CacheAware" {
			args, ok := pc.Args.(*configv1.CacheAwareArgs)
			if !ok {
				t.Fatalf("CacheAware's arguments are a %T", pc.Args)
			}
			return args
		}
	}
	t.Fatal("the profile has no arguments of CacheAware")
	return nil
}

// documentedDefaults are those that the comments of the fields promise.
func documentedDefaults() *configv1.CacheAwareArgs {
	return &configv1.CacheAwareArgs{
		DatasetPolicy: "Preferred",
		Sources:       []configv1.DatasetSource{"NodeDatasetCache", "Fluid", "Datashim"},
		StaleAfter:    metav1.Duration{Duration: 5 * time.Minute},
		Scoring:       "BytesSaved",
		Tiers: []configv1.TopologyTier{
			{LabelKey: "topology.vicinity.dev/rack", Percent: 75},
			{LabelKey: "topology.kubernetes.io/zone", Percent: 50},
			{LabelKey: "topology.kubernetes.io/region", Percent: 25},
		},
		Media: []configv1.MediumWorth{
			{Medium: "Memory", Percent: 100}, {Medium: "SSD", Percent: 80}, {Medium: "HDD", Percent: 50},
		},
		ColdData: configv1.ColdData{
			Policy: "Converge", WarmingTTL: metav1.Duration{Duration: 10 * time.Minute}, HomePercent: 5,
		},
	}
}

func TestDecodingAppliesDefaults(t *testing.T) {
	cases := map[string]struct {
		yaml string
		want func(defaults *configv1.CacheAwareArgs)
	}{
		"arguments omitted": {
			yaml: header,
			want: func(*configv1.CacheAwareArgs) {},
		},
		"arguments given in part": {
			yaml: header + `
  pluginConfig:
  - name: CacheAware
    args:
      datasetPolicy: Required
      waitForWarmNode: 30s
      gatewayLoad: {threshold: 4}
`,
			want: func(args *configv1.CacheAwareArgs) {
				args.DatasetPolicy = "Required"
				args.WaitForWarmNode.Duration = 30 * time.Second
				args.GatewayLoad.Threshold = 4
			},
		},
		"arguments given with kind and version": {
			yaml: header + `
  pluginConfig:
  - name: CacheAware
    args:
      apiVersion: kubescheduler.config.k8s.io/v1
      kind: CacheAwareArgs
      tiers: [{labelKey: example.com/cell, percent: 60}]
      coldData: {policy: Ignore}
`,
			want: func(args *configv1.CacheAwareArgs) {
				args.Tiers = []configv1.TopologyTier{{LabelKey: "example.com/cell", Percent: 60}}
				args.ColdData.Policy = "Ignore"
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			cfg, err := decode(tc.yaml)
			if err != nil {
				t.Fatal(err)
			}
			got, want := argsOf(t, cfg), documentedDefaults()
			tc.want(want)
			if diff := cmp.Diff(want, got, cmpopts.IgnoreTypes(metav1.TypeMeta{})); diff != "" {
				t.Errorf("arguments (-want +got):\n%s", diff)
			}
			if err := configv1.ValidateCacheAwareArgs(nil, got); err != nil {
				t.Errorf("defaulted arguments are not valid: %v", err)
			}
		})
	}
}

// TestStrictErrors: a typo must not silently fall back to a default, and the error must lead to the place.
func TestStrictErrors(t *testing.T) {
	cases := map[string]struct {
		args string
		want []string
	}{
		"unknown field": {
			args: "datasetPolcy: Required",
			want: []string{"profiles[0]", "pluginConfig[0]", "plugin CacheAware", `unknown field "datasetPolcy"`},
		},
		"wrong type": {
			args: "tiers: [{labelKey: zone, percent: many}]",
			want: []string{"profiles[0]", "pluginConfig[0]", "plugin CacheAware", "percent", "int32"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := decode(header + "\n  pluginConfig:\n  - name: CacheAware\n    args:\n      " + tc.args + "\n")
			if err == nil {
				t.Fatal("want an error")
			}
			for _, part := range tc.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("error %q; want it to contain %q", err, part)
				}
			}
		})
	}
}

// TestEncodingBack: the scheduler writes its configuration out (--write-config-to, /configz) as v1.
func TestEncodingBack(t *testing.T) {
	cfg, err := decode(header)
	if err != nil {
		t.Fatal(err)
	}
	back := schedulerv1.GetPluginArgConversionScheme()
	if _, err := back.ConvertToVersion(argsOf(t, cfg), schedulerv1.SchemeGroupVersion); err != nil {
		t.Errorf("arguments cannot be converted to v1: %v", err)
	}
}
