package v1

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func seconds(s float64) metav1.Duration {
	return metav1.Duration{Duration: time.Duration(s * float64(time.Second))}
}

func TestSetDefaultsAgentConfiguration(t *testing.T) {
	meta := metav1.TypeMeta{APIVersion: "config.vicinity.dev/v1", Kind: "AgentConfiguration"}
	tests := []struct {
		name string
		in   AgentConfiguration
		want AgentConfiguration
	}{
		{
			name: "an empty configuration runs nothing",
			want: AgentConfiguration{TypeMeta: meta},
		},
		{
			name: "a bare name gets the default interval, and a timeout as long",
			in:   AgentConfiguration{Collectors: []CollectorSchedule{{Name: "a"}}},
			want: AgentConfiguration{TypeMeta: meta, Collectors: []CollectorSchedule{
				{Name: "a", Interval: seconds(15), Timeout: seconds(15)},
			}},
		},
		{
			name: "the timeout follows the interval up to 30s",
			in: AgentConfiguration{Collectors: []CollectorSchedule{
				{Name: "a", Interval: seconds(2)}, {Name: "b", Interval: seconds(30)}, {Name: "c", Interval: seconds(3600)},
			}},
			want: AgentConfiguration{TypeMeta: meta, Collectors: []CollectorSchedule{
				{Name: "a", Interval: seconds(2), Timeout: seconds(2)},
				{Name: "b", Interval: seconds(30), Timeout: seconds(30)},
				{Name: "c", Interval: seconds(3600), Timeout: seconds(30)},
			}},
		},
		{
			name: "what is set stays, legal or not",
			in: AgentConfiguration{Collectors: []CollectorSchedule{
				{Name: "a", Interval: seconds(-1), Timeout: seconds(600)},
			}},
			want: AgentConfiguration{TypeMeta: meta, Collectors: []CollectorSchedule{
				{Name: "a", Interval: seconds(-1), Timeout: seconds(600)},
			}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			SetDefaults_AgentConfiguration(&tt.in)
			if diff := cmp.Diff(tt.want, tt.in); diff != "" {
				t.Errorf("defaulted configuration (-want +got):\n%s", diff)
			}
		})
	}
}

func TestValidateAgentConfiguration(t *testing.T) {
	legal := CollectorSchedule{Name: "disk", Interval: seconds(15), Timeout: seconds(5)}
	with := func(change func(*CollectorSchedule)) []CollectorSchedule {
		changed := legal
		change(&changed)
		return []CollectorSchedule{changed}
	}
	tests := []struct {
		name       string
		collectors []CollectorSchedule
		available  []string
		want       string
	}{
		{name: "nothing to run", available: nil, want: ""},
		{name: "a known collector", collectors: []CollectorSchedule{legal}, available: []string{"disk"}, want: ""},
		{
			name: "the widest legal times", available: []string{"disk"},
			collectors: with(func(s *CollectorSchedule) { s.Interval, s.Timeout = seconds(86400), seconds(86400) }),
		},
		{
			name: "the narrowest legal times", available: []string{"disk"},
			collectors: with(func(s *CollectorSchedule) { s.Interval, s.Timeout = seconds(1), seconds(0.1) }),
		},
		{
			name: "a collector of another build: the error lists what there is", available: []string{"rtt", "datasets"},
			collectors: []CollectorSchedule{legal},
			want:       `collectors[0].name: Unsupported value: "disk": supported values: "datasets", "rtt"`,
		},
		{
			name:       "a build without collectors says so",
			collectors: []CollectorSchedule{legal},
			want:       `collectors[0].name: Unsupported value: "disk": this build of the agent has no collectors, remove the entry`,
		},
		{
			name: "no name", available: []string{"disk"},
			collectors: with(func(s *CollectorSchedule) { s.Name = "" }),
			want:       `collectors[0].name: Required value: name the collector to run`,
		},
		{
			name: "listed twice", available: []string{"disk"},
			collectors: []CollectorSchedule{legal, legal},
			want:       `collectors[1].name: Duplicate value: "disk"`,
		},
		{
			name: "too often; the timeout is not judged by a wrong interval", available: []string{"disk"},
			collectors: with(func(s *CollectorSchedule) { s.Interval = seconds(0.5) }),
			want:       `collectors[0].interval: Invalid value: "500ms": must be between 1s and 24h0m0s`,
		},
		{
			name: "too seldom", available: []string{"disk"},
			collectors: with(func(s *CollectorSchedule) { s.Interval = seconds(86401) }),
			want:       `collectors[0].interval: Invalid value: "24h0m1s": must be between 1s and 24h0m0s`,
		},
		{
			name: "a timeout beyond the interval", available: []string{"disk"},
			collectors: with(func(s *CollectorSchedule) { s.Timeout = seconds(16) }),
			want:       `collectors[0].timeout: Invalid value: "16s": must be between 100ms and the interval, 15s`,
		},
		{
			name: "a negative timeout", available: []string{"disk"},
			collectors: with(func(s *CollectorSchedule) { s.Timeout = seconds(-1) }),
			want:       `collectors[0].timeout: Invalid value: "-1s": must be between 100ms and the interval, 15s`,
		},
		{
			name: "all faults at once", available: []string{"rtt"},
			collectors: with(func(s *CollectorSchedule) { s.Timeout = seconds(-1) }),
			want: `[collectors[0].name: Unsupported value: "disk": supported values: "rtt", ` +
				`collectors[0].timeout: Invalid value: "-1s": must be between 100ms and the interval, 15s]`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got string
			if err := ValidateAgentConfiguration(nil, &AgentConfiguration{Collectors: tt.collectors}, tt.available); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

func TestValidateAgentConfigurationTellsWhereItStands(t *testing.T) {
	c := &AgentConfiguration{Collectors: []CollectorSchedule{{Interval: seconds(1), Timeout: seconds(1)}}}
	err := ValidateAgentConfiguration(field.NewPath("agent"), c, nil)
	const want = "agent.collectors[0].name: Required value: name the collector to run"
	if err == nil || err.Error() != want {
		t.Errorf("ValidateAgentConfiguration() = %v, want %s", err, want)
	}
}
