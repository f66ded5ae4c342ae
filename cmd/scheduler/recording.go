package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"time"

	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/utils/clock"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	"github.com/vicinity-scheduler/vicinity/pkg/plugins/sniffer"
	"github.com/vicinity-scheduler/vicinity/pkg/recording"
	"github.com/vicinity-scheduler/vicinity/pkg/tracesink"
)

// stopGrace is how long the scheduler takes at its end to write and deliver what was recorded.
const stopGrace = 5 * time.Second

// newRecorder returns the recorder of all profiles.
func newRecorder(pods cache.SharedIndexInformer) (*sniffer.Recorder, error) {
	metrics, err := sniffer.NewMetrics(registry{})
	if err != nil {
		return nil, err
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("name of the scheduler in decision records: %w", err)
	}
	recorder := sniffer.NewRecorder(sniffer.Identity{Scheduler: host, Session: rand.Text()}, clock.RealClock{}, metrics)
	return recorder, recorder.WatchPods(pods)
}

// startRecording puts the recorder around the scheduler's profiles that have plugin Sniffer, and begins to write. The
// returned function waits, once ctx has ended, until everything is written. With no such profile nothing is done.
func startRecording(ctx context.Context, sched *scheduler.Scheduler, recorder *sniffer.Recorder) (wait func(), err error) {
	if recorder == nil { // not even one of our plugins is enabled
		return func() {}, nil
	}
	args, enabled := recorder.Sinks()
	if !enabled {
		return func() {}, nil
	}
	// Sinks outlive ctx: what was recorded until its end is delivered then.
	sinks, err := newSinks(context.WithoutCancel(ctx), args)
	if err != nil {
		return nil, fmt.Errorf("sinks of plugin %s: %w", sniffer.Name, err)
	}
	recording.Install(sched, recorder)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := recorder.Run(ctx, sinks, stopGrace); err != nil {
			klog.FromContext(ctx).Error(err, "Not all decision records could be written before the end")
		}
	}()
	return func() { <-done }, nil
}

// newSinks opens what the arguments ask for.
func newSinks(ctx context.Context, args configv1.SnifferSinks) (sinks []sniffer.Sink, err error) {
	metrics, err := tracesink.NewMetrics(registry{})
	if err != nil {
		return nil, err
	}
	logger := klog.FromContext(ctx)
	if args.File != nil {
		sinks = append(sinks, tracesink.NewFile(logger, args.File, metrics))
	}
	if args.Service != nil {
		stream, err := tracesink.NewStream(ctx, logger, args.Service, metrics)
		if err != nil {
			return nil, err
		}
		sinks = append(sinks, stream)
	}
	if args.Live != nil {
		live, err := tracesink.NewLive(ctx, logger, args.Live)
		if err != nil {
			return nil, err
		}
		sinks = append(sinks, live)
	}
	return sinks, nil
}
