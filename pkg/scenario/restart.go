package scenario

import (
	"context"

	"github.com/vicinity-scheduler/vicinity/pkg/scenario/format"
)

func (s *session) restart(ctx context.Context, r *format.Restart) error {
	return s.stack.RestartComponent(ctx, r.Process)
}
