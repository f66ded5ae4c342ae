package sweep

import (
	"context"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/report"
)

// Player plays one cell. It is called from several goroutines at once.
type Player func(ctx context.Context, cell Cell) (*report.Document, error)

// Run plays what the store does not have yet. progress is called after each cell, by one goroutine at a time, and once at
// the start. The first error ends the sweep; what is done by then is kept.
func Run(ctx context.Context, cells []Cell, shard Shard, workers int, store *Store, play Player, progress func(done, of int)) error {
	cells = shard.cells(cells)
	done := 0
	var missing []Cell
	for _, cell := range cells {
		if store.Done(cell) {
			done++
		} else {
			missing = append(missing, cell)
		}
	}
	progress(done, len(cells))
	group, running := errgroup.WithContext(ctx)
	group.SetLimit(max(workers, 1))
	var mu sync.Mutex
	for _, cell := range missing {
		if running.Err() != nil {
			break
		}
		group.Go(func() error {
			if err := running.Err(); err != nil {
				return err
			}
			d, err := play(running, cell)
			if err != nil {
				return fmt.Errorf("%s on %s with seed %d: %w", cell.Policy, cell.Trace, cell.Seed, err)
			}
			if err := store.Add(d); err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			done++
			progress(done, len(cells))
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return ctx.Err()
}
