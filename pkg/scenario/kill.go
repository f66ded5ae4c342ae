package scenario

import (
	"context"

	"github.com/vicinity-scheduler/vicinity/pkg/scenario/format"
)

func (s *session) kill(_ context.Context, k *format.Kill) error {
	return s.stack.KillComponent(k.Process)
}
