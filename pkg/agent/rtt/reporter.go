package rtt

import (
	"context"
	"math"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
	"github.com/vicinity-scheduler/vicinity/pkg/agent/report"
)

const (
	// minChange is by how much a median must differ at least to be news: less is the noise of a machine that is busy.
	minChange = 100 * time.Microsecond
	// lossChange is by how much a loss must differ to be news, in parts per million.
	lossChange = 50_000
	wholeLoss  = millionth
)

// statusStore is where the node's report stands. Its errors say what to do.
type statusStore interface {
	// Read returns the report of an earlier agent, nil if there is none.
	Read(ctx context.Context) (*vicinityv1alpha1.NodeRTTStatus, error)
	// Write replaces the agent's part of the report.
	Write(ctx context.Context, status vicinityv1alpha1.NodeRTTStatus) error
	// Zone returns the value of the node's zone label, "" without one.
	Zone(ctx context.Context) (string, error)
	// Close releases the connection.
	Close()
}

// reporter decides when a report is sent, and sends it.
type reporter struct {
	store statusStore
	// thresholdPercent is by how much a median must differ from what was reported to be reported early.
	thresholdPercent int32
	schedule         report.Schedule

	// reported is what the latest report said, by place.
	reported map[place]vicinityv1alpha1.RTT
}

// place is what an entry of a report is about.
type place struct {
	name     string
	endpoint bool
}

// changed tells whether there is news. What is only not reported any more is none: it can wait for the heartbeat.
func (r *reporter) changed(current map[place]vicinityv1alpha1.RTT) bool {
	for at, now := range current {
		last, ok := r.reported[at]
		if !ok || (last.LossPartsPerMillion == wholeLoss) != (now.LossPartsPerMillion == wholeLoss) {
			return true
		}
		if math.Abs(float64(now.LossPartsPerMillion)-float64(last.LossPartsPerMillion)) >= lossChange {
			return true
		}
		least := max(float64(last.P50Microseconds)*float64(r.thresholdPercent)/100, float64(minChange.Microseconds()))
		if math.Abs(float64(now.P50Microseconds)-float64(last.P50Microseconds)) >= least {
			return true
		}
	}
	return false
}

// report sends a report if one is due. It returns why it was sent, "" if it was not.
func (r *reporter) report(ctx context.Context, status vicinityv1alpha1.NodeRTTStatus, now time.Time) (string, error) {
	current := byPlace(&status)
	reason := r.schedule.Reason(now, r.changed(current))
	if reason == "" {
		return "", nil
	}
	r.schedule.Attempt(now)
	status.ObservedAt = metav1.NewTime(now)
	if err := r.schedule.Done(now, r.store.Write(ctx, status)); err != nil {
		return "", err
	}
	r.reported = current
	return reason, nil
}

func byPlace(status *vicinityv1alpha1.NodeRTTStatus) map[place]vicinityv1alpha1.RTT {
	all := make(map[place]vicinityv1alpha1.RTT, len(status.Peers)+len(status.Endpoints))
	for i := range status.Peers {
		all[place{name: status.Peers[i].Node}] = status.Peers[i].RTT
	}
	for i := range status.Endpoints {
		all[place{name: status.Endpoints[i].Endpoint, endpoint: true}] = status.Endpoints[i].RTT
	}
	return all
}
