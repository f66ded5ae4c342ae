package localstack

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

const testConfig = `
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection: {leaderElect: true}
profiles:
- schedulerName: vicinity-scheduler
  pluginConfig:
  - name: CacheAware
    args: {datasets: 1}
  plugins:
    multiPoint:
      enabled:
      - {name: CacheAware, weight: 10}
`

func TestSchedulerConfigChanges(t *testing.T) {
	tests := map[string]struct {
		change func(SchedulerConfig) error
		want   string
	}{
		"nothing": {
			change: func(SchedulerConfig) error { return nil },
			want:   testConfig,
		},
		"kubeconfig": {
			change: func(c SchedulerConfig) error { return c.SetKubeconfig("/k") },
			want:   testConfig + "clientConnection: {kubeconfig: /k}\n",
		},
		"kubeconfig that is there already": {
			change: func(c SchedulerConfig) error {
				if err := c.SetKubeconfig("/k"); err != nil {
					return err
				}
				return c.SetKubeconfig("/other")
			},
			want: testConfig + "clientConnection: {kubeconfig: /k}\n",
		},
		"weight of a plugin that is enabled": {
			change: func(c SchedulerConfig) error { return c.SetPlugin(PluginSetting{Name: "CacheAware", Weight: 3}) },
			want:   strings.Replace(testConfig, "weight: 10", "weight: 3", 1),
		},
		"weight of another plugin": {
			change: func(c SchedulerConfig) error { return c.SetPlugin(PluginSetting{Name: "ImageLocality", Weight: 3}) },
			want:   testConfig + "      - {name: ImageLocality, weight: 3}\n",
		},
		"args of a plugin that has some": {
			change: func(c SchedulerConfig) error {
				return c.SetPlugin(PluginSetting{Name: "CacheAware", Args: map[string]any{"datasets": int64(2)}})
			},
			want: strings.Replace(testConfig, "datasets: 1", "datasets: 2", 1),
		},
		"args of a plugin that has none": {
			change: func(c SchedulerConfig) error {
				return c.SetPlugin(PluginSetting{Name: "InterPodAffinity", Args: map[string]any{"hardPodAffinityWeight": int64(2)}})
			},
			want: strings.Replace(testConfig, "  plugins:", "  - name: InterPodAffinity\n    args: {hardPodAffinityWeight: 2}\n  plugins:", 1),
		},
		"plugin at one of its extension points only": {
			change: func(c SchedulerConfig) error {
				return c.SetPlugin(PluginSetting{Name: "CacheAware", Weight: 3, Points: []string{"score"}})
			},
			want: strings.Replace(testConfig, "enabled:\n      - {name: CacheAware, weight: 10}", "enabled: []", 1) +
				"    score: {enabled: [{name: CacheAware, weight: 3}]}\n",
		},
		"plugin that is disabled": {
			change: func(c SchedulerConfig) error { return c.SetPlugin(PluginSetting{Name: "CacheAware", Disabled: true}) },
			want:   strings.Replace(testConfig, "enabled:\n      - {name: CacheAware, weight: 10}", "enabled: []\n      disabled: [{name: CacheAware}]", 1),
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			original, err := ParseSchedulerConfig([]byte(testConfig))
			if err != nil {
				t.Fatal(err)
			}
			changed := original.Clone()
			if err := tc.change(changed); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(normalise(t, []byte(tc.want)), normalise(t, text(t, changed))); diff != "" {
				t.Errorf("configuration (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(normalise(t, []byte(testConfig)), normalise(t, text(t, original))); diff != "" {
				t.Errorf("changing the clone has changed the original:\n%s", diff)
			}
		})
	}
}

func text(t *testing.T, c SchedulerConfig) []byte {
	t.Helper()
	data, err := c.YAML()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// normalise gives equal YAML texts equal values, whatever their order of keys and their layout.
func normalise(t *testing.T, data []byte) any {
	t.Helper()
	var value any
	if err := yaml.Unmarshal(data, &value); err != nil {
		t.Fatal(err)
	}
	return value
}

func TestAddCompatProfiles(t *testing.T) {
	config, err := ParseSchedulerConfig([]byte(testConfig + "- schedulerName: sniffer\n"))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time adds nothing
		if err := config.AddCompatProfiles(); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"vicinity-scheduler", "sniffer", "scheduler-plugins-scheduler", "diskio-aware-scheduler", "custom-scheduler"}
	if diff := cmp.Diff(want, config.ProfileNames()); diff != "" {
		t.Fatalf("profiles (-want +got):\n%s", diff)
	}
	profiles := listOfMaps(config.content["profiles"])
	if diff := cmp.Diff(profiles[0]["plugins"], profiles[4]["plugins"]); diff != "" {
		t.Errorf("want the default profile's plugins in the others (-want +got):\n%s", diff)
	}
	if _, ok := profiles[1]["plugins"]; ok {
		t.Error("want a profile that was there to stay as it was")
	}
	if err := config.SetPlugin(PluginSetting{Name: "CacheAware", Weight: 1}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(normalise(t, []byte("multiPoint: {enabled: [{name: CacheAware, weight: 10}]}")), jsonRoundTrip(t, profiles[4]["plugins"])); diff != "" {
		t.Errorf("want copies that are independent (-want +got):\n%s", diff)
	}
}

func jsonRoundTrip(t *testing.T, value any) any {
	t.Helper()
	data, err := yaml.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return normalise(t, data)
}

func TestSchedulerConfigFaults(t *testing.T) {
	tests := map[string]struct {
		text   string
		change func(SchedulerConfig) error
		want   string
	}{
		"not YAML":      {text: "a: [", want: "reading the scheduler configuration"},
		"repeated key":  {text: testConfig + "kind: X\n", want: "already set"},
		"another kind":  {text: "kind: Pod", want: `found "Pod"`},
		"empty":         {text: "", want: "want kind KubeSchedulerConfiguration"},
		"no profile":    {text: "kind: KubeSchedulerConfiguration", change: SchedulerConfig.AddCompatProfiles, want: "vicinity-scheduler"},
		"odd structure": {text: "kind: KubeSchedulerConfiguration\nclientConnection: text", change: func(c SchedulerConfig) error { return c.SetKubeconfig("/k") }, want: "clientConnection"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			config, err := ParseSchedulerConfig([]byte(tc.text))
			if err == nil && tc.change != nil {
				err = tc.change(config)
			}
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("want an error with %q, found %v", tc.want, err)
			}
		})
	}
}
