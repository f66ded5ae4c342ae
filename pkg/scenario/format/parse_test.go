package format

import (
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vicinity-scheduler/vicinity/test/scenarios"
)

// minimal is a scenario to which a test adds what it is about.
const minimal = `
name: x
steps:
- expect: {pod: a, node: n1}
`

func TestParse(t *testing.T) {
	got, err := Parse("some/where/cacheaware/full.yaml", []byte(`
# A comment before the document.
---
name: full
description: Everything at once.
profile:
  plugins:
    CacheAware: {weight: 5, args: {dataset: true}}
    NodeResourcesFit: {disabled: true}
crds: [datashim]
steps:
- apply:
    nodes: [{name: n1, cpu: 500m, taints: [{key: k, effect: NoSchedule}]}]
    objects: [{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {priority: 7}}]
- patchStatus: {kind: Pod, name: a, status: {phase: Running}}
- waitFor: {apiVersion: apps/v1, kind: Deployment, name: d, condition: Available, within: 5s}
- expect: {pod: a, node: n1, for: 1s, decisive: true}
- delete: {objects: [{kind: Pod, name: a}]}
- pauseNode: {node: n1}
- resumeNode: {node: n1}
- start: {process: agent, node: n1, config: {kind: AgentConfiguration}}
- kill: {process: scheduler}
- restart: {process: scheduler}
- writeFile: {path: a/b, content: text}
- run: {command: [cat, a/b], output: text}
- expect: {metric: {name: m, min: 0}}
`))
	if err != nil {
		t.Fatal(err)
	}
	if got.ID() != "cacheaware/full" || got.Namespace() != "scenario-cacheaware-full" || got.Description != "Everything at once." {
		t.Errorf("want cacheaware/full in its namespace, found %q in %q: %q", got.ID(), got.Namespace(), got.Description)
	}
	if want := []string{"datashim"}; !cmp.Equal(want, got.CRDs) {
		t.Errorf("want CRDs %q, found %q", want, got.CRDs)
	}
	var verbs []string
	for _, step := range got.Steps {
		verbs = append(verbs, step.Verb)
	}
	want := []string{
		"apply", "patchStatus", "waitFor", "expect", "delete",
		"pauseNode", "resumeNode", "start", "kill", "restart", "writeFile", "run", "expect",
	}
	if diff := cmp.Diff(want, verbs); diff != "" {
		t.Errorf("verbs (-want +got):\n%s", diff)
	}
	wantExpect := &Expect{Pod: "a", Node: "n1", For: &metav1.Duration{Duration: time.Second}, Decisive: true}
	if diff := cmp.Diff(wantExpect, got.Decisive()); diff != "" {
		t.Errorf("decisive expectation (-want +got):\n%s", diff)
	}
	priority := got.Steps[0].Action.(*Apply).Objects[0]["spec"].(map[string]any)["priority"]
	if priority != int64(7) {
		t.Errorf("want integers of objects to stay integers, found %T", priority)
	}
}

func TestParseFaults(t *testing.T) {
	steps := func(text string) string { return "name: x\nsteps:\n" + text }
	tests := map[string]struct {
		file string
		text string
		want []string
	}{
		"empty file":              {text: "# nothing\n", want: []string{"the file is empty"}},
		"not YAML":                {text: "a: [", want: []string{"reading YAML"}},
		"repeated key":            {text: minimal + "name: x\n", want: []string{`"name" already set`}},
		"two documents":           {text: minimal + "---\nname: y\n", want: []string{"one YAML document"}},
		"unknown top-level field": {text: minimal + "colour: red\n", want: []string{`unknown field "colour"`}},
		"wrong top-level type":    {text: minimal + "crds: datashim\n", want: []string{"cannot unmarshal string", "crds"}},
		"name differs from file": {
			file: "cacheaware/y.yaml", text: minimal,
			want: []string{"cacheaware/y.yaml: name", `want "y"`, `found "x"`},
		},
		"name is no DNS label":          {file: "cacheaware/A_b.yaml", text: strings.Replace(minimal, "x", "A_b", 1), want: []string{"namespace"}},
		"unknown CRD set":               {text: minimal + "crds: [rook]\n", want: []string{"crds[0]", "rook", "datashim"}},
		"repeated CRD set":              {text: minimal + "crds: [fluid, fluid]\n", want: []string{"crds[1]", "Duplicate"}},
		"profile changes nothing":       {text: minimal + "profile: {plugins: {A: {}}}\n", want: []string{"profile.plugins[A]"}},
		"disabled plugin has args":      {text: minimal + "profile: {plugins: {A: {disabled: true, args: {}}}}\n", want: []string{"profile.plugins[A].disabled"}},
		"negative weight":               {text: minimal + "profile: {plugins: {A: {weight: -1}}}\n", want: []string{"profile.plugins[A].weight"}},
		"unknown extension point":       {text: minimal + "profile: {plugins: {A: {points: [scoring]}}}\n", want: []string{"profile.plugins[A].points[0]", `"scoring"`}},
		"unknown field of profile":      {text: minimal + "profile: {plugins: {A: {wieght: 1}}}\n", want: []string{"profile.plugins.A.wieght"}},
		"no expectation":                {text: steps("- kill: {process: scheduler}"), want: []string{"at least one expect"}},
		"two decisive expectations":     {text: steps("- expect: {pod: a, node: n1, decisive: true}\n- expect: {pod: b, node: n1, decisive: true}"), want: []string{"found 2"}},
		"step without verb":             {text: steps("- {}"), want: []string{"steps[0]", "exactly one verb"}},
		"step with two verbs":           {text: steps("- {kill: {process: scheduler}, restart: {process: scheduler}}"), want: []string{"steps[0]", "found 2"}},
		"unknown verb":                  {text: steps("- kill: {process: scheduler}\n- jump: {}"), want: []string{"steps[1]", `"jump"`, "waitFor"}},
		"verb without fields":           {text: steps("- expect:"), want: []string{"steps[0].expect", "found nothing"}},
		"unknown field of a verb":       {text: steps("- expect: {pod: a, node: n1, nod: m}"), want: []string{"steps[0].expect", `unknown field "nod"`}},
		"unknown field of a node":       {text: steps("- apply: {nodes: [{name: a, zoen: z}]}"), want: []string{"steps[0].apply", "nodes[0].zoen"}},
		"field of wrong type":           {text: steps("- expect: {pod: [a], node: n1}"), want: []string{"steps[0].expect", "pod"}},
		"duration is no duration":       {text: steps("- expect: {pod: a, node: n1, within: soon}"), want: []string{"steps[0].expect", "soon"}},
		"quantity is no quantity":       {text: steps("- apply: {nodes: [{name: a, cpu: many}]}"), want: []string{"steps[0].apply", "quantities must match"}},
		"duration too long":             {text: steps("- expect: {pod: a, node: n1, within: 1h}"), want: []string{"steps[0].expect.within", "10m"}},
		"duration not positive":         {text: steps("- expect: {pod: a, node: n1, for: 0s}"), want: []string{"steps[0].expect.for"}},
		"record":                        {text: steps("- expect: {record: {contains: {outcome: Bound}}}"), want: []string{"steps[0].expect", "exactly one of pod, pods, selector"}},
		"record of nothing":             {text: steps("- expect: {pod: p, record: {times: -1}}"), want: []string{"record.contains: Required", "record.times"}},
		"record and node":               {text: steps("- expect: {pod: p, node: m01, record: {contains: {a: b}}}"), want: []string{"use a step for each"}},
		"expectation of nothing":        {text: steps("- expect: {pod: a}"), want: []string{"steps[0].expect", "node, nodes, maxNodes or pending"}},
		"expectation of nobody":         {text: steps("- expect: {node: n1}"), want: []string{"steps[0].expect", "exactly one of pod, pods, selector"}},
		"pod and pods":                  {text: steps("- expect: {pod: a, pods: [b], node: n1}"), want: []string{"found 2"}},
		"node and nodes":                {text: steps("- expect: {pod: a, node: n1, nodes: [m1]}"), want: []string{"steps[0].expect.nodes"}},
		"node and pending":              {text: steps("- expect: {pod: a, node: n1, pending: p}"), want: []string{"steps[0].expect.pending"}},
		"count without selector":        {text: steps("- expect: {pod: a, node: n1, count: 2}"), want: []string{"steps[0].expect.count"}},
		"recreate with selector":        {text: steps("- expect: {selector: {a: b}, node: n1, recreate: true}"), want: []string{"steps[0].expect.recreate"}},
		"unnamed pod in list":           {text: steps("- expect: {pods: [a, ''], node: n1}"), want: []string{"steps[0].expect.pods[1]"}},
		"metric and pod":                {text: steps("- expect: {pod: a, metric: {name: m, min: 1}}"), want: []string{"steps[0].expect.metric"}},
		"metric without bound":          {text: steps("- expect: {metric: {name: m}}"), want: []string{"steps[0].expect.metric", "min, max"}},
		"metric with empty range":       {text: steps("- expect: {metric: {name: m, min: 2, max: 1}}"), want: []string{"steps[0].expect.metric.min"}},
		"metric of unknown process":     {text: steps("- expect: {metric: {process: etcd, name: m, min: 2}}"), want: []string{"steps[0].expect.metric.process", "scheduler"}},
		"apply nothing":                 {text: steps("- apply: {}"), want: []string{"steps[0].apply"}},
		"unnamed node":                  {text: steps("- apply: {nodes: [{cpu: 1}]}"), want: []string{"steps[0].apply.nodes[0].name"}},
		"node twice":                    {text: steps("- apply: {nodes: [{name: a}, {name: a}]}"), want: []string{"steps[0].apply.nodes[1].name"}},
		"object without kind":           {text: steps("- apply: {objects: [{apiVersion: v1, metadata: {name: a}}]}"), want: []string{"steps[0].apply.objects[0].kind"}},
		"object without name":           {text: steps("- apply: {objects: [{apiVersion: v1, kind: Pod, metadata: {}}]}"), want: []string{"steps[0].apply.objects[0].metadata.name"}},
		"object with a boolean as name": {text: steps("- apply: {objects: [{apiVersion: v1, kind: Pod, metadata: {name: y}}]}"), want: []string{"steps[0].apply.objects[0].metadata.name", "quotes"}},
		"object with odd metadata":      {text: steps("- apply: {objects: [{apiVersion: v1, kind: Pod, metadata: text}]}"), want: []string{"steps[0].apply.objects[0].metadata.name"}},
		"delete nothing":                {text: steps("- delete: {}"), want: []string{"steps[0].delete"}},
		"delete something unnamed":      {text: steps("- delete: {objects: [{kind: Pod}]}"), want: []string{"steps[0].delete.objects[0].name"}},
		"reference without kind":        {text: steps("- waitFor: {name: a}"), want: []string{"steps[0].waitFor.kind"}},
		"odd API version":               {text: steps("- waitFor: {apiVersion: a/b/c, kind: Pod, name: a}"), want: []string{"steps[0].waitFor.apiVersion"}},
		"wait for gone with fields":     {text: steps("- waitFor: {kind: Pod, name: a, gone: true, condition: Ready}"), want: []string{"steps[0].waitFor.gone"}},
		"patch nothing":                 {text: steps("- patchStatus: {kind: Pod, name: a}"), want: []string{"steps[0].patchStatus.status"}},
		"pause no node":                 {text: steps("- pauseNode: {}"), want: []string{"steps[0].pauseNode.node"}},
		"start an agent without a node": {text: steps("- start: {process: agent}"), want: []string{"steps[0].start.node"}},
		"start a controller on a node":  {text: steps("- start: {process: controller, node: a}"), want: []string{"steps[0].start", "only an agent"}},
		"start what nobody knows":       {text: steps("- start: {process: kubelet}"), want: []string{"steps[0].start.process", `"kubelet"`, `"agent"`}},
		"resume no node":                {text: steps("- resumeNode: {}"), want: []string{"steps[0].resumeNode.node"}},
		"kill unknown process":          {text: steps("- kill: {process: etcd}"), want: []string{"steps[0].kill.process", "etcd", "scheduler"}},
		"restart nothing":               {text: steps("- restart: {}"), want: []string{"steps[0].restart.process"}},
		"write outside":                 {text: steps("- writeFile: {path: ../a}"), want: []string{"steps[0].writeFile.path", "../a"}},
		"write nowhere":                 {text: steps("- writeFile: {content: a}"), want: []string{"steps[0].writeFile.path"}},
		"run nothing":                   {text: steps("- run: {command: []}"), want: []string{"steps[0].run.command"}},
		"several faults at once": {
			text: steps("- kill: {process: etcd}\n- run: {}\n- expect: {pod: a}"),
			want: []string{"steps[0].kill", "steps[1].run", "steps[2].expect"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			file := tc.file
			if file == "" {
				file = "cacheaware/x.yaml"
			}
			got, err := Parse(file, []byte(tc.text))
			if err == nil {
				t.Fatalf("want an error with %q, found scenario %+v", tc.want, got)
			}
			for _, want := range append(tc.want, file) {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("want an error with %q, found %q", want, err)
				}
			}
		})
	}
}

func TestEmbeddedScenariosParse(t *testing.T) {
	catalogue, err := Load(scenarios.FS())
	if err != nil {
		t.Fatal(err)
	}
	files, err := fs.Glob(scenarios.FS(), "*/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if len(catalogue) != len(files) || len(catalogue) == 0 {
		t.Errorf("want a scenario for each of %d files, found %d", len(files), len(catalogue))
	}
	for _, s := range catalogue {
		if s.Description == "" {
			t.Errorf("%s: want a description, which `vicinity demo --list` shows", s.ID())
		}
		if s.Decisive().Because == "" {
			t.Errorf("%s: want a because on the decisive expectation, which `vicinity demo` shows", s.ID())
		}
	}
}

// FuzzParse checks that no file makes the parser panic, and that what it accepts can be run and shown.
func FuzzParse(f *testing.F) {
	f.Add([]byte(minimal))
	catalogue, err := fs.Glob(scenarios.FS(), "*/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range catalogue {
		data, err := fs.ReadFile(scenarios.FS(), file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		const file = "cacheaware/x.yaml"
		s, err := Parse(file, data)
		if err != nil {
			if !strings.HasPrefix(err.Error(), file+": ") {
				t.Errorf("want an error that begins with the file, found %q", err)
			}
			return
		}
		if s.ID() != "cacheaware/x" || s.Decisive() == nil || s.Profile.Key() == "" != s.Profile.IsDefault() {
			t.Errorf("accepted a scenario that cannot be run: %+v", s)
		}
	})
}
