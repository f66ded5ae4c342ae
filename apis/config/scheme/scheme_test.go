package scheme_test

import (
	"os"
	"strings"
	"testing"

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
	obj, gvk, err := schedulerscheme.Codecs.UniversalDecoder().Decode([]byte(yaml), nil, nil)
	if err != nil {
		return nil, err
	}
	_ = gvk
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

func TestDecodingAppliesDefaults(t *testing.T) {
	defaultTiers := []configv1.TopologyTier{
		{LabelKey: "topology.vicinity.dev/rack", Percent: 75},
		{LabelKey: "topology.kubernetes.io/zone", Percent: 50},
		{LabelKey: "topology.kubernetes.io/region", Percent: 25},
	}
	cases := map[string]struct {
		yaml string
		want *configv1.CacheAwareArgs
	}{
		"arguments omitted": {
			yaml: header,
			want: &configv1.CacheAwareArgs{DatasetPolicy: "Preferred", Tiers: defaultTiers},
		},
		"arguments given in part": {
			yaml: header + `
  pluginConfig:
  - name: CacheAware
    args:
      datasetPolicy: Required
`,
			want: &configv1.CacheAwareArgs{DatasetPolicy: "Required", Tiers: defaultTiers},
		},
		"arguments given with kind and version": {
			yaml: header + `
  pluginConfig:
  - name: CacheAware
    args:
      apiVersion: kubescheduler.config.k8s.io/v1
      kind: CacheAwareArgs
      tiers: [{labelKey: example.com/cell, percent: 60}]
`,
			want: &configv1.CacheAwareArgs{
				DatasetPolicy: "Preferred",
				Tiers:         []configv1.TopologyTier{{LabelKey: "example.com/cell", Percent: 60}},
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			cfg, err := decode(tc.yaml)
			if err != nil {
				t.Fatal(err)
			}
			got := argsOf(t, cfg)
			if diff := cmp.Diff(tc.want, got, cmpopts.IgnoreTypes(metav1.TypeMeta{})); diff != "" {
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
