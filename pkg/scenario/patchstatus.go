package scenario

import (
	"context"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vicinity-scheduler/vicinity/pkg/scenario/format"
)

func (s *session) patchStatus(ctx context.Context, p *format.PatchStatus) error {
	obj, err := s.object(p.Reference)
	if err != nil {
		return err
	}
	patch, err := json.Marshal(map[string]any{"status": p.Status})
	if err != nil {
		return fmt.Errorf("writing the patch: %w", err)
	}
	if err := s.stack.Kube.Status().Patch(ctx, obj, client.RawPatch(types.MergePatchType, patch)); err != nil {
		return fmt.Errorf("patching the status of %s %s: %w", p.Kind, p.Name, err)
	}
	s.unsettled = true
	return nil
}
