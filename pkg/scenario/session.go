package scenario

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vicinity-scheduler/vicinity/pkg/localstack"
	"github.com/vicinity-scheduler/vicinity/pkg/scenario/format"
)

const cleanupTimeout = time.Minute

// session is one run of one scenario: what its steps act on and what they leave behind.
type session struct {
	scenario *format.Scenario
	stack    *localstack.Stack
	// dir is the scenario's working folder.
	dir string
	// kubeconfig is an admin's, for programs that the scenario runs.
	kubeconfig []byte
	// binDir comes first on the PATH of programs that the scenario runs; empty when unknown.
	binDir string
	// created are the applied objects in the order in which they were applied first.
	created []*unstructured.Unstructured
	// unsettled means that objects other than pods have changed since other processes had time to notice.
	unsettled bool
	// records are the scheduler's decision records, as far as an expectation asked for them.
	records *records
	// goldpinger answers the controller's questions; nil until a step asks for it.
	goldpinger *goldpinger
	// decided is what the decisive expectation saw.
	decided observation
}

// play runs the scenario's steps and says how they ended. It does not clean up, except for the working folder.
func (s *session) play(ctx context.Context) (result Result) {
	began := time.Now()
	result = Result{Scenario: s.scenario.ID(), Plugin: s.scenario.Plugin}
	defer func() { result.Seconds = roundSeconds(time.Since(began)) }()
	err := s.begin(ctx)
	if err == nil {
		err = s.runSteps(ctx)
	}
	err = errors.Join(err, s.goldpinger.close())
	if s.dir != "" {
		err = errors.Join(err, os.RemoveAll(s.dir))
	}
	result.Pod, result.Node, result.Reason, result.OK = s.decided.pod, s.decided.node, s.decided.reason, err == nil
	if cause := context.Cause(ctx); err != nil && cause != nil && !errors.Is(err, cause) {
		err = fmt.Errorf("%w, because: %w", err, cause)
	}
	if err != nil {
		result.Reason = err.Error()
		if unmet, ok := asUnmet(err); ok && unmet.seen.pod != "" {
			result.Pod, result.Node = unmet.seen.pod, unmet.seen.node
		}
	}
	return result
}

func (s *session) runSteps(ctx context.Context) error {
	for i, step := range s.scenario.Steps {
		if err := s.do(ctx, step.Action); err != nil {
			return fmt.Errorf("steps[%d].%s: %w", i, step.Verb, err)
		}
	}
	return nil
}

// do does one step. It returns an *unmetError when the cluster is not as the step expects.
func (s *session) do(ctx context.Context, action format.Action) error {
	switch a := action.(type) {
	case *format.Apply:
		return s.apply(ctx, a)
	case *format.Delete:
		return s.delete(ctx, a)
	case *format.PatchStatus:
		return s.patchStatus(ctx, a)
	case *format.Expect:
		return s.expect(ctx, a)
	case *format.WaitFor:
		return s.waitFor(ctx, a)
	case *format.PauseNode:
		return s.pauseNode(ctx, a)
	case *format.ResumeNode:
		return s.resumeNode(ctx, a)
	}
	return s.doOutside(ctx, action)
}

// doOutside does the steps that act on processes and files, not on the cluster's objects.
func (s *session) doOutside(ctx context.Context, action format.Action) error {
	switch a := action.(type) {
	case *format.Start:
		return s.start(ctx, a)
	case *format.Kill:
		return s.kill(ctx, a)
	case *format.Restart:
		return s.restart(ctx, a)
	case *format.WriteFile:
		return s.writeFile(ctx, a)
	case *format.Run:
		return s.run(ctx, a)
	case *format.Goldpinger:
		return s.setGoldpinger(ctx, a)
	}
	return fmt.Errorf("nothing here does a %T", action)
}

// begin creates the working folder and the namespace, and waits until pods can be created in it.
func (s *session) begin(ctx context.Context) error {
	if err := s.makeFolder(); err != nil {
		return err
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.scenario.Namespace()}}
	if err := s.stack.Kube.Create(ctx, namespace); err != nil {
		return fmt.Errorf("creating namespace %s: %w", namespace.Name, err)
	}
	account := client.ObjectKey{Namespace: namespace.Name, Name: "default"}
	ready, err := poll(ctx, cleanupTimeout, func(ctx context.Context) (bool, error) {
		err := s.stack.Kube.Get(ctx, account, &corev1.ServiceAccount{})
		return err == nil, client.IgnoreNotFound(err)
	})
	if err == nil && !ready {
		err = fmt.Errorf("no ServiceAccount default appeared within %s", cleanupTimeout)
	}
	if err != nil {
		return fmt.Errorf("waiting until namespace %s can have pods: %w", namespace.Name, err)
	}
	return nil
}

// saw remembers what a satisfied expectation saw if it decides the scenario.
func (s *session) saw(e expectation, seen observation) {
	if e.Expect == s.scenario.Decisive() {
		s.decided = seen
	}
}

// cleanUp removes what the next scenario could see: pods, nodes and other cluster-scoped objects. The namespace goes
// away by itself later.
func (s *session) cleanUp(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, cleanupTimeout)
	defer cancel()
	var clusterScoped []*unstructured.Unstructured
	for _, obj := range slices.Backward(s.created) {
		if obj.GetNamespace() == "" && obj.GetKind() != "Node" {
			clusterScoped = append(clusterScoped, obj)
			continue
		}
		if err := client.IgnoreNotFound(s.remove(ctx, obj)); err != nil {
			return fmt.Errorf("deleting %s %s: %w", obj.GetKind(), obj.GetName(), err)
		}
	}
	if err := s.removePods(ctx); err != nil {
		return err
	}
	for _, obj := range clusterScoped {
		if err := client.IgnoreNotFound(s.remove(ctx, obj)); err != nil {
			return fmt.Errorf("deleting %s %s: %w", obj.GetKind(), obj.GetName(), err)
		}
		if err := s.stack.WaitGone(ctx, obj, cleanupTimeout); err != nil {
			return err
		}
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.scenario.Namespace()}}
	if err := client.IgnoreNotFound(s.stack.Kube.Delete(ctx, namespace)); err != nil {
		return fmt.Errorf("deleting namespace %s: %w", namespace.Name, err)
	}
	return nil
}

// removePods deletes the namespace's pods until there are none, since controllers may make new ones for a moment, and
// then the nodes, whoever created them.
func (s *session) removePods(ctx context.Context) error {
	namespace := client.InNamespace(s.scenario.Namespace())
	gone, err := poll(ctx, cleanupTimeout, func(ctx context.Context) (bool, error) {
		if err := s.stack.Kube.DeleteAllOf(ctx, &corev1.Pod{}, namespace, client.GracePeriodSeconds(0)); err != nil {
			return false, err
		}
		pods := &corev1.PodList{}
		err := s.stack.Kube.List(ctx, pods, namespace)
		return len(pods.Items) == 0, err
	})
	if err == nil && !gone {
		err = fmt.Errorf("there are still some after %s", cleanupTimeout)
	}
	if err != nil {
		return fmt.Errorf("deleting the pods in namespace %s: %w", s.scenario.Namespace(), err)
	}
	if err := s.stack.Kube.DeleteAllOf(ctx, &corev1.Node{}); err != nil {
		return fmt.Errorf("deleting the nodes: %w", err)
	}
	return nil
}

// awaitNamespacesGone waits for the deletions that cleanUp has left to kube-controller-manager.
func awaitNamespacesGone(ctx context.Context, stack *localstack.Stack, scenarios []*format.Scenario) error {
	for _, scenario := range scenarios {
		namespace := &corev1.Namespace{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"},
			ObjectMeta: metav1.ObjectMeta{Name: scenario.Namespace()},
		}
		if err := stack.WaitGone(ctx, namespace, cleanupTimeout); err != nil {
			return err
		}
	}
	return nil
}
