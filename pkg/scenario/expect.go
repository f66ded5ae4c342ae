package scenario

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vicinity-scheduler/vicinity/pkg/scenario/format"
)

const (
	expectTimeout = 20 * time.Second
	// pollInterval is short because the API server is on the same machine and serves nobody else.
	pollInterval = 50 * time.Millisecond
)

// expectation adds to an expectation of a file what it takes to compare it with a cluster.
type expectation struct{ *format.Expect }

func (s *session) expect(ctx context.Context, given *format.Expect) error {
	e, within := expectation{given}, durationOr(given.Within, expectTimeout)
	if e.Metric != nil {
		if err := s.awaitMetric(ctx, e.Metric, within); err != nil {
			return err
		}
		s.saw(e, observation{reason: e.Because})
		return nil
	}
	look := e.look
	if e.Record != nil {
		look = e.lookForRecords
	}
	last, err := e.await(ctx, s, within, look)
	if err != nil {
		return err
	}
	if !last.met {
		return &unmetError{seen: last.seen, reason: fmt.Sprintf("want %s, found %s", e.want(), last.found)}
	}
	if e.For != nil {
		if last, err = e.hold(ctx, s, last); err != nil {
			return err
		}
		if !last.met {
			return &unmetError{seen: last.seen, reason: fmt.Sprintf("want %s for %s, but then found %s", e.want(), e.For.Duration, last.found)}
		}
	}
	s.saw(e, last.seen)
	return nil
}

// await looks until the expectation holds, cannot hold any more, or the time is over.
func (e expectation) await(ctx context.Context, s *session, within time.Duration,
	look func(context.Context, *session) (verdict, error),
) (last verdict, err error) {
	var misplaced verdict // what was found before the pod was created again, for the message
	_, err = poll(ctx, within, func(ctx context.Context) (bool, error) {
		now, err := look(ctx, s)
		if err != nil {
			return false, err // also when the time is over in the middle of looking: then the last look counts
		}
		last = now
		if last.met || !last.final {
			return last.met, nil
		}
		if !e.Recreate {
			return true, nil
		}
		misplaced = last
		return false, s.recreate(ctx, last.seen.pod)
	})
	if !last.met && misplaced.found != "" {
		last = misplaced
	}
	return last, err
}

// hold looks until the expectation does not hold any more or it has held for long enough since the last look.
func (e expectation) hold(ctx context.Context, s *session, last verdict) (verdict, error) {
	_, err := poll(ctx, e.For.Duration, func(ctx context.Context) (bool, error) {
		now, err := e.look(ctx, s)
		if err != nil {
			return false, err
		}
		last = now
		return !last.met, nil
	})
	return last, err
}

// look compares the expectation with the pods that there are now.
func (e expectation) look(ctx context.Context, s *session) (verdict, error) {
	pods, err := s.pods(ctx)
	return e.judge(pods), err
}

// pods are those of the scenario's namespace.
func (s *session) pods(ctx context.Context) ([]corev1.Pod, error) {
	pods := &corev1.PodList{}
	if err := s.stack.Kube.List(ctx, pods, client.InNamespace(s.scenario.Namespace())); err != nil {
		return nil, fmt.Errorf("listing the pods: %w", err)
	}
	return pods.Items, nil
}

// recreate deletes a pod and applies it again as it was applied last.
func (s *session) recreate(ctx context.Context, name string) error {
	for _, obj := range slices.Backward(s.created) {
		if obj.GetKind() != "Pod" || obj.GetName() != name {
			continue
		}
		if err := client.IgnoreNotFound(s.remove(ctx, obj)); err != nil {
			return fmt.Errorf("deleting pod %s: %w", name, err)
		}
		if err := s.stack.WaitGone(ctx, obj, deleteTimeout); err != nil {
			return err
		}
		s.unsettled = true
		if err := s.settle(ctx); err != nil {
			return err
		}
		return s.stack.Apply(ctx, obj)
	}
	return fmt.Errorf("pod %s cannot be created again: this scenario has not applied it", name)
}

// poll asks until the answer is yes or the time is over, and returns the last answer. It fails only when asking fails or
// ctx ends.
func poll(ctx context.Context, within time.Duration, ask wait.ConditionWithContextFunc) (bool, error) {
	err := wait.PollUntilContextTimeout(ctx, pollInterval, within, true, ask)
	switch {
	case err == nil:
		return true, nil
	case ctx.Err() != nil:
		return false, context.Cause(ctx)
	case wait.Interrupted(err):
		return false, nil
	}
	return false, err
}
