package datasets

import (
	"context"

	"golang.org/x/time/rate"
)

// pausesPerSecond is how often a walk at its limit sleeps: seldom enough to cost nothing, often enough for the disk to
// serve others in between.
const pausesPerSecond = 20

// pace bounds how many steps all walks do in a second. Steps are paid for in advance and in bulk, because a timer for
// each would cost more than the step.
type pace struct {
	limiter *rate.Limiter
	credit  int
}

func newPace(perSecond int) *pace {
	return &pace{limiter: rate.NewLimiter(rate.Limit(perSecond), max(1, perSecond/pausesPerSecond))}
}

// take waits until one more step may be done. It returns false if that is not before ctx ends.
func (p *pace) take(ctx context.Context) bool {
	if ctx.Err() != nil {
		return false
	}
	if p.credit == 0 {
		n := p.limiter.Burst()
		if p.limiter.WaitN(ctx, n) != nil {
			return false
		}
		p.credit = n
	}
	p.credit--
	return true
}
