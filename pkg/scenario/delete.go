package scenario

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vicinity-scheduler/vicinity/pkg/scenario/format"
)

const deleteTimeout = 30 * time.Second

func (s *session) delete(ctx context.Context, d *format.Delete) error {
	s.unsettled = true
	for i := range d.Objects {
		obj, err := s.object(d.Objects[i])
		if err != nil {
			return err
		}
		if err := s.remove(ctx, obj); err != nil {
			return fmt.Errorf("deleting %s %s: %w", obj.GetKind(), obj.GetName(), err)
		}
		if err := s.stack.WaitGone(ctx, obj, deleteTimeout); err != nil {
			return err
		}
	}
	return s.stack.RemoveCRDs(ctx, d.CRDs...)
}

// remove deletes without waiting. Pods on fake nodes have nobody who would use a grace period.
func (s *session) remove(ctx context.Context, obj *unstructured.Unstructured) error {
	return s.stack.Kube.Delete(ctx, obj, client.GracePeriodSeconds(0))
}
