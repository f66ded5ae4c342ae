package datasets

import (
	"context"
	"math"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
	"github.com/vicinity-scheduler/vicinity/pkg/agent/report"
)

// statusStore is where the node's report stands. Its errors say what to do.
type statusStore interface {
	// Read returns the report of an earlier agent, nil if there is none.
	Read(ctx context.Context) (*vicinityv1alpha1.NodeDatasetCacheStatus, error)
	// Write replaces the report.
	Write(ctx context.Context, status vicinityv1alpha1.NodeDatasetCacheStatus) error
	// Close releases the connection.
	Close()
}

// reporter decides when a report is sent, and sends it.
type reporter struct {
	store statusStore
	// thresholdPercent is by how much a dataset must differ from what was reported to be reported early.
	thresholdPercent int32
	schedule         report.Schedule

	// reported is what the latest report said.
	reported map[key]int64
}

// changed tells whether a dataset has appeared, is gone, or differs by at least so many percent of what was reported.
func changed(reported, current map[key]int64, percent int32) bool {
	if len(reported) != len(current) {
		return true
	}
	for at, bytes := range current {
		last, ok := reported[at]
		if !ok || bytes != last && math.Abs(float64(bytes)-float64(last)) >= float64(last)*float64(percent)/100 {
			return true
		}
	}
	return false
}

// report sends a report if one is due. It returns why it was sent, "" if it was not.
func (r *reporter) report(ctx context.Context, list []vicinityv1alpha1.CachedDataset, now time.Time) (string, error) {
	reason := r.schedule.Reason(now, changed(r.reported, bytesOf(list), r.thresholdPercent))
	if reason == "" {
		return "", nil
	}
	r.schedule.Attempt(now)
	status := vicinityv1alpha1.NodeDatasetCacheStatus{ObservedAt: metav1.NewTime(now), Datasets: list}
	if err := r.schedule.Done(now, r.store.Write(ctx, status)); err != nil {
		return "", err
	}
	r.reported = bytesOf(list)
	return reason, nil
}
