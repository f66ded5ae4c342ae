package tracesink

import (
	"context"
	"errors"
	"fmt"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	oteltrace "go.opentelemetry.io/otel/trace"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	"github.com/vicinity-scheduler/vicinity/pkg/trace"
)

// Tracing makes an OpenTelemetry span of each attempt, with a child for each extension point. Spans are made of finished
// records, with the times in them, so the scheduler carries no tracer, and without this sink nothing costs anything. The
// SDK's batches are bounded: spans that a slow collector does not take are dropped.
type Tracing struct {
	provider *sdktrace.TracerProvider
	tracer   oteltrace.Tracer
	metrics  *Metrics
	// root is the context that spans begin in: a record stands for what is over, so there is no other.
	root func() context.Context
}

const tracingSink = "tracing"

// NewTracing connects with the collector.
func NewTracing(ctx context.Context, scheduler string, args *configv1.SnifferTracingSink, metrics *Metrics) (*Tracing, error) {
	options := []otlptracegrpc.Option{otlptracegrpc.WithEndpoint(args.Endpoint)}
	if args.Insecure {
		options = append(options, otlptracegrpc.WithInsecure())
	}
	exporter, err := otlptrace.New(ctx, otlptracegrpc.NewClient(options...))
	if err != nil {
		return nil, fmt.Errorf("exporter of spans: %w", err)
	}
	return newTracing(ctx, scheduler, int(args.SamplePercent), sdktrace.WithBatcher(exporter), metrics), nil
}

func newTracing(ctx context.Context, scheduler string, percent int, processor sdktrace.TracerProviderOption, metrics *Metrics) *Tracing {
	provider := sdktrace.NewTracerProvider(processor,
		sdktrace.WithSampler(sdktrace.TraceIDRatioBased(float64(percent)/100)),
		sdktrace.WithResource(resource.NewSchemaless(
			attribute.String("service.name", "vicinity-scheduler"), attribute.String("service.instance.id", scheduler))))
	return &Tracing{
		provider: provider, tracer: provider.Tracer("github.com/vicinity-scheduler/vicinity/pkg/tracesink"), metrics: metrics,
		root: func() context.Context { return ctx },
	}
}

// Write makes the spans of an attempt.
func (t *Tracing) Write(r *trace.Record) {
	if r.Kind != trace.KindAttempt {
		return
	}
	ctx, span := t.tracer.Start(t.root(), "schedule pod", oteltrace.WithTimestamp(r.Start), oteltrace.WithNewRoot())
	if !span.IsRecording() {
		span.End()
		return
	}
	span.SetAttributes(attributesOf(r)...)
	if r.Outcome == trace.OutcomeError || r.Outcome == trace.OutcomeUnschedulable {
		span.SetStatus(codes.Error, r.Message)
	}
	for i := range r.Phases {
		begun := r.Start.Add(r.Phases[i].Offset)
		_, phase := t.tracer.Start(ctx, r.Phases[i].Name, oteltrace.WithTimestamp(begun))
		phase.End(oteltrace.WithTimestamp(begun.Add(r.Phases[i].Duration)))
	}
	span.End(oteltrace.WithTimestamp(r.End))
	t.metrics.written.WithLabelValues(tracingSink).Inc()
}

// attributesOf uses the names of OpenTelemetry's conventions for Kubernetes where there are any.
func attributesOf(r *trace.Record) []attribute.KeyValue {
	out := []attribute.KeyValue{
		attribute.String("k8s.namespace.name", r.Pod.Namespace), attribute.String("k8s.pod.name", r.Pod.Name),
		attribute.String("k8s.pod.uid", r.Pod.UID), attribute.String("k8s.node.name", r.Node),
		attribute.String("scheduler.profile", r.Profile), attribute.Int("scheduler.attempt", r.Attempt),
		attribute.String("scheduler.outcome", string(r.Outcome)), attribute.String("scheduler.found", string(r.Found)),
		attribute.Int("scheduler.nodes.total", r.Nodes.Total), attribute.Int("scheduler.nodes.feasible", r.Nodes.Feasible),
		attribute.Int64("scheduler.queue_wait_ns", int64(r.QueueWait)), attribute.Bool("scheduler.tentative", r.Tentative),
	}
	if r.Plugin != "" {
		out = append(out, attribute.String("scheduler.plugin", r.Plugin))
	}
	return out
}

// Close sends what is left, until ctx ends.
func (t *Tracing) Close(ctx context.Context) error {
	if err := t.provider.Shutdown(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("spans of decisions: %w", err)
	}
	return nil
}
