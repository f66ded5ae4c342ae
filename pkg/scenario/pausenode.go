package scenario

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vicinity-scheduler/vicinity/pkg/localcluster"
	"github.com/vicinity-scheduler/vicinity/pkg/scenario/format"
)

func (s *session) pauseNode(ctx context.Context, p *format.PauseNode) error {
	return s.labelNode(ctx, p.Node, nil)
}

// labelNode sets the label by which kwok knows its nodes, or removes it when value is nil.
func (s *session) labelNode(ctx context.Context, name string, value *string) error {
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"labels": map[string]any{localcluster.KwokLabel: value}},
	})
	if err != nil {
		return fmt.Errorf("writing the patch: %w", err)
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if err := s.stack.Kube.Patch(ctx, node, client.RawPatch(types.MergePatchType, patch)); err != nil {
		return fmt.Errorf("labelling node %s: %w", name, err)
	}
	s.unsettled = true
	return nil
}
