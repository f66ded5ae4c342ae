package scenario

import (
	"context"

	"github.com/vicinity-scheduler/vicinity/pkg/localcluster"
	"github.com/vicinity-scheduler/vicinity/pkg/scenario/format"
)

func (s *session) resumeNode(ctx context.Context, r *format.ResumeNode) error {
	value := localcluster.KwokManaged
	if err := s.labelNode(ctx, r.Node, &value); err != nil {
		return err
	}
	return s.stack.WaitNodes(ctx, []string{r.Node})
}
