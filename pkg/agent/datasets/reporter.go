package datasets

import (
	"context"
	"math"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
)

// minReportInterval is the shortest time between two reports, failed ones included.
const minReportInterval = 15 * time.Second

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
	heartbeat        time.Duration

	// reported is what the latest report said; nil before the first.
	reported    map[key]int64
	reportedAt  time.Time
	attemptedAt time.Time
	// failure is why the latest attempt failed, nil if it did not.
	failure error
}

// mayTry tells whether the API server may be spoken to again.
func (r *reporter) mayTry(now time.Time) bool {
	return r.attemptedAt.IsZero() || now.Sub(r.attemptedAt) >= minReportInterval
}

// reason returns why a report is due, "" if it is not.
func (r *reporter) reason(list []vicinityv1alpha1.CachedDataset, now time.Time) string {
	switch {
	case r.reported == nil:
		return reasonStart
	case changed(r.reported, bytesOf(list), r.thresholdPercent):
		return reasonChange
	case now.Sub(r.reportedAt) >= r.heartbeat:
		return reasonHeartbeat
	}
	return ""
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
	reason := r.reason(list, now)
	if reason == "" {
		return "", nil
	}
	r.attemptedAt = now
	status := vicinityv1alpha1.NodeDatasetCacheStatus{ObservedAt: metav1.NewTime(now), Datasets: list}
	if r.failure = r.store.Write(ctx, status); r.failure != nil {
		return "", r.failure
	}
	r.reported, r.reportedAt = bytesOf(list), now
	return reason, nil
}
