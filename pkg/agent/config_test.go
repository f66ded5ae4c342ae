package agent

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
)

const header = "apiVersion: config.vicinity.dev/v1\nkind: AgentConfiguration\n"

// defaulted returns the configuration that runs the collectors given.
func defaulted(collectors ...configv1.CollectorSchedule) *configv1.AgentConfiguration {
	return &configv1.AgentConfiguration{
		TypeMeta:   metav1.TypeMeta{APIVersion: "config.vicinity.dev/v1", Kind: "AgentConfiguration"},
		Collectors: collectors,
	}
}

func TestDecodeConfiguration(t *testing.T) {
	schedule := func(name string, interval, timeout time.Duration) configv1.CollectorSchedule {
		return configv1.CollectorSchedule{
			Name: name, Interval: metav1.Duration{Duration: interval}, Timeout: metav1.Duration{Duration: timeout},
		}
	}
	tests := []struct {
		name      string
		in        string
		available []string
		want      *configv1.AgentConfiguration
		wantErr   string
	}{
		{
			name: "nothing but the kind",
			in:   header,
			want: defaulted(),
		},
		{
			name:      "collectors with and without times",
			in:        header + "collectors:\n- name: disk\n- name: net\n  interval: 1m\n- name: walk\n  interval: 1h30m\n  timeout: 10m\n",
			available: []string{"disk", "net", "walk"},
			want: defaulted(
				schedule("disk", 15*time.Second, 15*time.Second),
				schedule("net", time.Minute, 30*time.Second),
				schedule("walk", 90*time.Minute, 10*time.Minute),
			),
		},
		{
			name: "JSON is YAML too",
			in:   `{"apiVersion":"config.vicinity.dev/v1","kind":"AgentConfiguration","collectors":[]}`,
			want: &configv1.AgentConfiguration{TypeMeta: defaulted().TypeMeta, Collectors: []configv1.CollectorSchedule{}},
		},
		{
			name: "comments and separators around the document",
			in:   "# Written by the chart.\n---\n" + header + "---\n# The end.\n",
			want: defaulted(),
		},
		{
			name:    "a collector that this build does not have",
			in:      header + "collectors:\n- name: disk\n",
			wantErr: `collectors[0].name: Unsupported value: "disk": this build of the agent has no collectors, remove the entry`,
		},
		{
			name:      "several faults of value are reported together",
			in:        header + "collectors:\n- name: dsik\n- name: net\n  interval: 10ms\n",
			available: []string{"disk", "net"},
			wantErr: `[collectors[0].name: Unsupported value: "dsik": supported values: "disk", "net", ` +
				`collectors[1].interval: Invalid value: "10ms": must be between 1s and 24h0m0s]`,
		},
		{
			name:    "an unknown field is named with its path",
			in:      header + "collectors:\n- name: disk\n  intervall: 5s\n",
			wantErr: `not an AgentConfiguration: unknown field "collectors[0].intervall"`,
		},
		{
			name:    "several unknown fields are reported together; case matters",
			in:      header + "Collectors: []\nlogLevel: 4\n",
			wantErr: "not an AgentConfiguration: unknown field \"Collectors\"\nunknown field \"logLevel\"",
		},
		{
			name:    "a field given twice",
			in:      header + "collectors: []\ncollectors: []\n",
			wantErr: `not YAML: yaml: unmarshal errors:` + "\n" + `  line 4: key "collectors" already set in map`,
		},
		{
			name:    "a wrong type is named with its field",
			in:      header + "collectors: disk\n",
			wantErr: "not an AgentConfiguration: json: cannot unmarshal string into Go struct field AgentConfiguration.collectors of type []v1.CollectorSchedule",
		},
		{
			name:    "a duration without a unit",
			in:      header + "collectors:\n- name: disk\n  interval: \"15\"\n",
			wantErr: `not an AgentConfiguration: time: missing unit in duration "15"`,
		},
		{
			name:    "another kind and version",
			in:      "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles: []\n",
			wantErr: `[apiVersion: Unsupported value: "kubescheduler.config.k8s.io/v1": supported values: "config.vicinity.dev/v1", kind: Unsupported value: "KubeSchedulerConfiguration": supported values: "AgentConfiguration"]`,
		},
		{
			name:    "no kind",
			in:      "apiVersion: config.vicinity.dev/v1\n",
			wantErr: `kind: Unsupported value: "": supported values: "AgentConfiguration"`,
		},
		{
			name:    "an empty file",
			in:      "# nothing yet\n",
			wantErr: `expected an AgentConfiguration, found nothing; start with "apiVersion: config.vicinity.dev/v1" and "kind: AgentConfiguration"`,
		},
		{
			name:    "two documents: neither is ignored",
			in:      header + "---\n" + header,
			wantErr: "expected one YAML document, found several; remove all but one",
		},
		{
			name:    "a list",
			in:      "- a\n",
			wantErr: "expected an AgentConfiguration: json: cannot unmarshal array into Go value of type v1.TypeMeta",
		},
		{
			name:    "no YAML",
			in:      "a: b: c\n",
			wantErr: "not YAML: yaml: mapping values are not allowed in this context",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := DecodeConfiguration([]byte(tt.in), tt.available)
			gotErr := ""
			if err != nil {
				gotErr = err.Error()
			}
			if diff := cmp.Diff(tt.wantErr, gotErr); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("configuration (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLoadConfiguration(t *testing.T) {
	file := filepath.Join(t.TempDir(), "agent-config.yaml")
	write := func(content string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}

	got, err := LoadConfiguration("", nil)
	if diff := cmp.Diff(defaulted(), got); diff != "" || err != nil {
		t.Errorf("configuration without a file: %v (-want +got):\n%s", err, diff)
	}

	write(header)
	got, err = LoadConfiguration(file, nil)
	if diff := cmp.Diff(defaulted(), got); diff != "" || err != nil {
		t.Errorf("configuration from a file: %v (-want +got):\n%s", err, diff)
	}

	write(header + "node: m02\n")
	if _, err = LoadConfiguration(file, nil); err == nil || !strings.Contains(err.Error(), file+`: not an AgentConfiguration: unknown field "node"`) {
		t.Errorf("LoadConfiguration() of a wrong file = %v, want an error that names file and field", err)
	}
	if _, err = LoadConfiguration(file+".missing", nil); err == nil || !strings.Contains(err.Error(), "cannot read the agent's configuration: open "+file+".missing") {
		t.Errorf("LoadConfiguration() of a missing file = %v, want an error that names it", err)
	}
}

// FuzzDecodeConfiguration checks that whatever is accepted is legal, and survives being written and read again.
func FuzzDecodeConfiguration(f *testing.F) {
	available := []string{"disk", "net"}
	f.Add([]byte(header))
	f.Add([]byte(header + "collectors:\n- name: disk\n  interval: 1s\n  timeout: 100ms\n- name: net\n"))
	f.Add([]byte(header + "collectors: [{name: disk, interval: 24h}]\n---\n# end\n"))
	f.Add([]byte(header + "collectors:\n- &a {name: disk}\n- *a\n"))
	f.Add([]byte(`{"apiVersion":"config.vicinity.dev/v1","kind":"AgentConfiguration","collectors":[null]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		config, err := DecodeConfiguration(data, available)
		if err != nil {
			return
		}
		for _, c := range config.Collectors {
			interval, timeout := c.Interval.Duration, c.Timeout.Duration
			if c.Name != "disk" && c.Name != "net" || interval < time.Second || interval > 24*time.Hour ||
				timeout < 100*time.Millisecond || timeout > interval {
				t.Errorf("accepted an illegal schedule: %+v", c)
			}
		}
		written, err := yaml.Marshal(config)
		if err != nil {
			t.Fatal(err)
		}
		again, err := DecodeConfiguration(written, available)
		if err != nil {
			t.Fatalf("cannot read what was written: %v\n%s", err, written)
		}
		// An empty list is written like none.
		if len(config.Collectors) == 0 {
			config.Collectors = nil
		}
		if diff := cmp.Diff(config, again); diff != "" {
			t.Errorf("configuration changed by being written (-want +got):\n%s", diff)
		}
	})
}
