package main

import (
	"context"
	"crypto/rand"
	"errors"
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
	recorder := sniffer.NewRecorder(sniffer.Identity{Scheduler: hostname(), Session: rand.Text()}, clock.RealClock{}, metrics)
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

// newSinks opens what the arguments ask for. On an error those that were opened are closed again.
func newSinks(ctx context.Context, args configv1.SnifferSinks) (sinks []sniffer.Sink, err error) {
	metrics, err := tracesink.NewMetrics(registry{})
	if err != nil {
		return nil, err
	}
	logger := klog.FromContext(ctx)
	var errs []error
	add := func(sink sniffer.Sink, err error) {
		if err != nil {
			errs = append(errs, err)
			return
		}
		sinks = append(sinks, sink)
	}
	if args.File != nil {
		add(tracesink.NewFile(logger, args.File, metrics), nil)
	}
	if args.Service != nil {
		add(tracesink.NewStream(ctx, args.Service, metrics))
	}
	if args.Notify != nil {
		add(tracesink.NewNotify(ctx, args.Notify, metrics))
	}
	if args.Tracing != nil {
		add(tracesink.NewTracing(ctx, hostname(), args.Tracing, metrics))
	}
	if args.Live != nil {
		add(tracesink.NewLive(ctx, args.Live))
	}
	if len(errs) > 0 {
		for _, sink := range sinks {
			errs = append(errs, sink.Close(ctx))
		}
		return nil, errors.Join(errs...)
	}
	return sinks, nil
}

// hostname is the name of the scheduler in what it records. Records without one are of use too.
func hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return "unknown"
	}
	return name
}
