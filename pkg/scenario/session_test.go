package scenario

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/vicinity-scheduler/vicinity/pkg/localstack"
	"github.com/vicinity-scheduler/vicinity/pkg/scenario/format"
)

// newSession is a session of a scenario with these steps on a pretended API server that has objects.
func newSession(t *testing.T, steps string, objects ...client.Object) *session {
	t.Helper()
	s, err := format.Parse("p/x.yaml", []byte("name: x\nsteps:\n"+steps))
	if err != nil {
		t.Fatal(err)
	}
	mapper := meta.NewDefaultRESTMapper(nil)
	for kind, scope := range map[string]meta.RESTScope{
		"Pod": meta.RESTScopeNamespace, "ConfigMap": meta.RESTScopeNamespace,
		"Namespace": meta.RESTScopeRoot, "Node": meta.RESTScopeRoot, "PersistentVolume": meta.RESTScopeRoot,
	} {
		mapper.Add(corev1.SchemeGroupVersion.WithKind(kind), scope)
	}
	kube := fake.NewClientBuilder().WithRESTMapper(mapper).WithScheme(clientgoscheme.Scheme).WithObjects(objects...).
		WithStatusSubresource(&corev1.Pod{}).Build()
	return &session{scenario: s, stack: &localstack.Stack{Kube: kube}, dir: t.TempDir(), kubeconfig: []byte("admin's")}
}

// placed is a pod in the namespace of newSession's scenario.
func placed(name, node string) *corev1.Pod {
	p := pod(name, node)
	p.Namespace = "scenario-p-x"
	return &p
}

func TestStepsOutcome(t *testing.T) {
	const expectation = "- expect: {pod: a, node: n1}\n" // Parse wants one; it holds in each case
	present := []client.Object{placed("a", "n1")}
	tests := map[string]struct {
		steps   string
		objects []client.Object
		wantErr []string // nothing: the steps succeed
		unmet   bool
	}{
		"expected pod":              {steps: "- expect: {pod: a, node: n1}", objects: present},
		"expected pod stays":        {steps: "- expect: {pod: a, node: n1, for: 60ms}", objects: present},
		"misplaced pod fails early": {steps: "- expect: {pod: a, node: n2, within: 10m}", objects: present, unmet: true, wantErr: []string{"steps[0].expect", "node n2", "pod a on node n1"}},
		"missing pod fails in time": {steps: "- expect: {pod: b, node: n1, within: 60ms}", objects: present, unmet: true, wantErr: []string{"no pod b"}},
		"pod of nobody cannot be created again": {
			steps: "- expect: {pod: a, node: n2, recreate: true}", objects: present, wantErr: []string{"this scenario has not applied it"},
		},
		"wait for what is there":      {steps: expectation + "- waitFor: {kind: Pod, name: a, contains: {spec: {nodeName: n1}}}", objects: present},
		"wait for what never comes":   {steps: expectation + "- waitFor: {kind: Pod, name: b, within: 60ms}", objects: present, unmet: true, wantErr: []string{"steps[1].waitFor", "want it to exist"}},
		"wait for what differs":       {steps: expectation + "- waitFor: {kind: Pod, name: a, contains: {status: {phase: Failed}}, within: 60ms}", objects: present, unmet: true, wantErr: []string{`{"status":{"phase":"Failed"}}`}},
		"wait for a condition":        {steps: expectation + "- waitFor: {kind: Pod, name: a, condition: Ready, within: 60ms}", objects: present, unmet: true, wantErr: []string{"Ready to be True"}},
		"wait for what stays to go":   {steps: expectation + "- waitFor: {kind: Pod, name: a, gone: true, within: 60ms}", objects: present, unmet: true, wantErr: []string{"want it gone"}},
		"wait for what is gone to go": {steps: expectation + "- waitFor: {kind: Pod, name: b, gone: true}", objects: present},
		"delete what is there":        {steps: expectation + "- delete: {objects: [{kind: Pod, name: a}]}\n- waitFor: {kind: Pod, name: a, gone: true}", objects: present},
		"delete what is not there":    {steps: expectation + "- delete: {objects: [{kind: Pod, name: b}]}", objects: present, wantErr: []string{"steps[1].delete", "deleting Pod b", "not found"}},
		"patch the status":            {steps: expectation + "- patchStatus: {kind: Pod, name: a, status: {reason: X}}\n- waitFor: {kind: Pod, name: a, contains: {status: {reason: X}}}", objects: present},
		"unknown kind":                {steps: expectation + "- waitFor: {kind: Podd, name: a}", objects: present, wantErr: []string{"looking up v1 Podd"}},
		"kill what never ran":         {steps: expectation + "- kill: {process: scheduler}", objects: present, wantErr: []string{"steps[1].kill", "was not started here"}},
		"run a file that was written": {
			steps: expectation + `
- writeFile: {path: deep/er/hello.sh, executable: true, content: "#!/bin/sh\necho hello $1 in $NAMESPACE with $(cat $KUBECONFIG)"}
- run: {command: [deep/er/hello.sh, you], output: "hello you in scenario-p-x with admin's"}
`,
			objects: present,
		},
		"run with a variable":      {steps: expectation + "- run: {command: [sh, -c, 'test $A = b'], env: {A: b}}", objects: present},
		"run and expect a failure": {steps: expectation + "- run: {command: [sh, -c, 'exit 3'], exitCode: 3}", objects: present},
		"run and fail":             {steps: expectation + "- run: {command: [sh, -c, 'echo oh; exit 3']}", objects: present, unmet: true, wantErr: []string{"exit code 0, found 3: oh"}},
		"run with other output":    {steps: expectation + "- run: {command: [echo, that], output: this}", objects: present, unmet: true, wantErr: []string{`want "this"`, "found: that"}},
		"run for too long":         {steps: expectation + "- run: {command: [sleep, '60'], within: 60ms}", objects: present, unmet: true, wantErr: []string{"did not end within 60ms"}},
		"run what is not there":    {steps: expectation + "- run: {command: [no-such-program]}", objects: present, wantErr: []string{"no-such-program"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			err := newSession(t, tc.steps, tc.objects...).runSteps(t.Context())
			if len(tc.wantErr) == 0 && err != nil {
				t.Fatal(err)
			}
			for _, want := range tc.wantErr {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("want an error with %q, found %v", want, err)
				}
			}
			if _, unmet := asUnmet(err); unmet != tc.unmet {
				t.Errorf("want an unmet expectation: %t, found %t: %v", tc.unmet, unmet, err)
			}
		})
	}
}

func TestApplyFillsIn(t *testing.T) {
	s := newSession(t, `
- apply:
    objects:
    - {apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {nodeName: n1, containers: [{name: c, image: i}]}}
    - {apiVersion: v1, kind: Pod, metadata: {name: b, namespace: other}, spec: {schedulerName: mine, containers: [{name: c, image: i}]}}
    - {apiVersion: v1, kind: Namespace, metadata: {name: more}}
- expect: {pod: a, node: n1}
`)
	if err := s.runSteps(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	pods := &corev1.PodList{}
	if err := s.stack.Kube.List(t.Context(), pods); err != nil {
		t.Fatal(err)
	}
	for _, p := range pods.Items {
		got[p.Namespace+"/"+p.Name] = p.Spec.SchedulerName
	}
	want := map[string]string{"scenario-p-x/a": "vicinity-scheduler", "other/b": "mine"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("schedulers by pod (-want +got):\n%s", diff)
	}
	if want := (observation{pod: "a", node: "n1"}); s.decided != want {
		t.Errorf("want %+v to be decisive, found %+v", want, s.decided)
	}
}

func TestCleanUp(t *testing.T) {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}
	stray := placed("made-by-a-controller", "n1")
	s := newSession(t, `
- apply:
    objects:
    - {apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {nodeName: n1, containers: [{name: c, image: i}]}}
    - {apiVersion: v1, kind: PersistentVolume, metadata: {name: v}, spec: {nfs: {server: s, path: /p}}}
    - {apiVersion: v1, kind: ConfigMap, metadata: {name: c}}
- expect: {pod: a, node: n1}
`, node, stray, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "scenario-p-x"}})
	if err := s.runSteps(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.cleanUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, obj := range []client.Object{
		node, stray, placed("a", ""),
		&corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "v"}},
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "scenario-p-x", Name: "c"}},
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "scenario-p-x"}},
	} {
		if err := s.stack.Kube.Get(t.Context(), client.ObjectKeyFromObject(obj), obj); !apierrors.IsNotFound(err) {
			t.Errorf("want %T %s to be gone, found error %v", obj, obj.GetName(), err)
		}
	}
}

func TestWriteFileKeepsSecretsPrivate(t *testing.T) {
	s := newSession(t, "- writeFile: {path: a/b, content: text}\n- expect: {pod: a, node: n1}", placed("a", "n1"))
	if err := s.runSteps(t.Context()); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(s.dir, "a", "b"))
	if err != nil {
		t.Fatal(err)
	}
	if mode := info.Mode().Perm(); mode != 0o600 {
		t.Errorf("want mode 0600, found %o", mode)
	}
}

func TestToNode(t *testing.T) {
	s, err := format.Parse("p/x.yaml", []byte(`
name: x
steps:
- apply:
    nodes:
    - name: n1
      zone: z
      cpu: "2"
      resources: {example.com/gpu: "4"}
      labels: {a: b}
      taints: [{key: k, value: v, effect: NoExecute}]
      unschedulable: true
- expect: {pod: a, node: n1}
`))
	if err != nil {
		t.Fatal(err)
	}
	apply, ok := s.Steps[0].Action.(*format.Apply)
	if !ok {
		t.Fatalf("want an apply, found %T", s.Steps[0].Action)
	}
	got := toNode(&apply.Nodes[0]).Object()
	if got.Labels["a"] != "b" || got.Labels[corev1.LabelTopologyZone] != "z" || got.Labels[corev1.LabelHostname] != "n1" {
		t.Errorf("want the given labels, the zone and the host name, found %v", got.Labels)
	}
	allocatable := map[string]string{}
	for name, quantity := range got.Status.Allocatable {
		allocatable[string(name)] = quantity.String()
	}
	want := map[string]string{"cpu": "2", "memory": "32Gi", "pods": "110", "example.com/gpu": "4"}
	if diff := cmp.Diff(want, allocatable); diff != "" {
		t.Errorf("allocatable (-want +got):\n%s", diff)
	}
	wantSpec := corev1.NodeSpec{Unschedulable: true, Taints: []corev1.Taint{{Key: "k", Value: "v", Effect: corev1.TaintEffectNoExecute}}}
	if diff := cmp.Diff(wantSpec, got.Spec); diff != "" {
		t.Errorf("spec (-want +got):\n%s", diff)
	}
}

func TestContains(t *testing.T) {
	object := map[string]any{"a": int64(1), "m": map[string]any{"x": "y", "l": []any{"p", "q"}}, "n": nil}
	tests := map[string]struct {
		want map[string]any
		hold bool
	}{
		"nothing":                {nil, true},
		"equal value":            {map[string]any{"a": int64(1)}, true},
		"other value":            {map[string]any{"a": int64(2)}, false},
		"part of a map":          {map[string]any{"m": map[string]any{"x": "y"}}, true},
		"absent key":             {map[string]any{"b": nil}, false},
		"key in absent map":      {map[string]any{"b": map[string]any{"c": "d"}}, false},
		"empty map over nothing": {map[string]any{"n": map[string]any{}}, true},
		"whole list":             {map[string]any{"m": map[string]any{"l": []any{"p", "q"}}}, true},
		"part of a list":         {map[string]any{"m": map[string]any{"l": []any{"p"}}}, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := contains(object, tc.want); got != tc.hold {
				t.Errorf("want %t, found %t", tc.hold, got)
			}
		})
	}
}

func TestProcessesAreTheComponents(t *testing.T) {
	if diff := cmp.Diff(localstack.Components(), format.Processes()); diff != "" {
		t.Errorf("names in scenario files differ from those of the components (-want +got):\n%s", diff)
	}
	sets, err := localstack.ForeignCRDSets()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sets, format.SharedCRDs()); diff != "" {
		t.Errorf("sets of CRDs in scenario files differ from those that can be installed (-want +got):\n%s", diff)
	}
}

func TestRoundSeconds(t *testing.T) {
	if got := roundSeconds(1234567 * time.Microsecond); got != 1.235 {
		t.Errorf("want milliseconds, 1.235, found %v", got)
	}
}
