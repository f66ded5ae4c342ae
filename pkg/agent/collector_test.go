package agent

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
)

func TestBuildMakesWhatTheConfigurationEnables(t *testing.T) {
	var made []string
	builder := func(name string) Builder {
		return Builder{Name: name, New: func(_ context.Context, o BuilderOptions) (Collector, error) {
			made = append(made, name+" on "+o.NodeName)
			return &fakeCollector{name: name}, nil
		}}
	}
	schedule := func(name string, interval, timeout time.Duration) configv1.CollectorSchedule {
		return configv1.CollectorSchedule{
			Name: name, Interval: metav1.Duration{Duration: interval}, Timeout: metav1.Duration{Duration: timeout},
		}
	}
	got, err := Build(t.Context(), []Builder{builder("a"), builder("b"), builder("c")}, BuilderOptions{
		NodeName: "m02",
		Config: &configv1.AgentConfiguration{Collectors: []configv1.CollectorSchedule{
			schedule("c", time.Minute, time.Second), schedule("a", time.Hour, time.Minute),
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"c on m02", "a on m02"}, made); diff != "" {
		t.Errorf("collectors made (-want +got):\n%s", diff)
	}
	want := []Scheduled{
		{Collector: &fakeCollector{name: "c"}, Interval: time.Minute, Timeout: time.Second},
		{Collector: &fakeCollector{name: "a"}, Interval: time.Hour, Timeout: time.Minute},
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b Collector) bool { return a.Name() == b.Name() })); diff != "" {
		t.Errorf("schedules (-want +got):\n%s", diff)
	}
}

func TestBuildLeavesNothingOpenWhenItFails(t *testing.T) {
	tests := []struct {
		name string
		new  func(made *fakeCollector) (Collector, error)
		want []string
	}{
		{
			name: "the second collector cannot be made",
			new:  func(*fakeCollector) (Collector, error) { return nil, errors.New("no permission") },
			want: []string{`cannot make collector "second": no permission`},
		},
		{
			name: "the second collector has another name",
			new: func(made *fakeCollector) (Collector, error) {
				made.name = "other"
				return made, nil
			},
			want: []string{`the builder of collector "second" made one that calls itself "other"`},
		},
		{
			name: "closing fails as well",
			new: func(made *fakeCollector) (Collector, error) {
				made.name, made.close = "other", func(context.Context) error { return errors.New("busy") }
				return made, nil
			},
			want: []string{`calls itself "other"`, "busy"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			closed := false
			first := &fakeCollector{name: "first", close: func(context.Context) error { closed = true; return nil }}
			_, err := Build(t.Context(), []Builder{
				{Name: "first", New: func(context.Context, BuilderOptions) (Collector, error) { return first, nil }},
				{Name: "second", New: func(context.Context, BuilderOptions) (Collector, error) { return tt.new(&fakeCollector{}) }},
			}, BuilderOptions{Config: &configv1.AgentConfiguration{
				Collectors: []configv1.CollectorSchedule{{Name: "first"}, {Name: "second"}},
			}})
			for _, want := range tt.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("Build() = %v, want an error with %q", err, want)
				}
			}
			if !closed {
				t.Error("the first collector was left open")
			}
		})
	}
}

func TestBuildRefusesMistakesOfTheProgram(t *testing.T) {
	a := Builder{Name: "a", New: func(context.Context, BuilderOptions) (Collector, error) { return &fakeCollector{name: "a"}, nil }}
	enabled := func(name string) *configv1.AgentConfiguration {
		return &configv1.AgentConfiguration{Collectors: []configv1.CollectorSchedule{{Name: name}}}
	}
	if _, err := Build(t.Context(), []Builder{a, a}, BuilderOptions{Config: enabled("a")}); err == nil {
		t.Error("Build() with two builders of one name succeeded, want an error")
	}
	if _, err := Build(t.Context(), []Builder{a}, BuilderOptions{Config: enabled("b")}); err == nil {
		t.Error("Build() of an unknown collector succeeded, want an error")
	}
}
