package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"
)

type traceRecordOptions struct {
	connection connectionOptions
	path       string
	duration   time.Duration
}

func newTraceRecordCommand() *cobra.Command {
	o := &traceRecordOptions{}
	cmd := &cobra.Command{
		Use:   "record --path FILE",
		Short: "Record the objects of a cluster, and how they change, for replay in the simulator",
		Long: "Record the objects of a cluster that scheduling depends on, and how they change, as JSON lines: what is there first, each\n" +
			"kind before those that refer to it, then every change with its time, until --duration is over or Ctrl-C. The form is that\n" +
			"of kube-scheduler-simulator's recorder. The cluster is only read; Secrets and ConfigMaps are not.",
		Example: "  vicinity trace record --path cluster.jsonl --duration 10m",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.run(cmd.Context(), cmd.ErrOrStderr())
		},
	}
	o.connection.addFlags(cmd)
	cmd.Flags().StringVar(&o.path, "path", "", "`FILE` to write; one that is there is kept, and the command fails")
	cmd.Flags().DurationVar(&o.duration, "duration", 0, "how long to record; 0 until Ctrl-C")
	return cmd
}

// recordedResources are what scheduling depends on, each after what it refers to.
func recordedResources() []schema.GroupVersionResource {
	return []schema.GroupVersionResource{
		{Version: "v1", Resource: "namespaces"},
		{Group: "scheduling.k8s.io", Version: "v1", Resource: "priorityclasses"},
		{Group: "storage.k8s.io", Version: "v1", Resource: "storageclasses"},
		{Version: "v1", Resource: "persistentvolumeclaims"},
		{Version: "v1", Resource: "nodes"},
		{Version: "v1", Resource: "persistentvolumes"},
		{Version: "v1", Resource: "pods"},
	}
}

func (o *traceRecordOptions) run(ctx context.Context, errOut io.Writer) (err error) {
	if o.path == "" {
		return errors.New("want --path of the file to write")
	}
	config, _, err := o.connection.load()
	if err != nil {
		return err
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("connecting with the cluster: %w", err)
	}
	file, err := os.OpenFile(o.path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("recording: %w", err)
	}
	if o.duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.duration)
		defer cancel()
	}
	log := newChangeLog(file)
	err = log.record(ctx, client)
	err = errors.Join(err, log.flush(), file.Close())
	fmt.Fprintf(errOut, "recorded %d changes to %s\n", log.lines, o.path)
	return err
}

// change is a line of a recording.
type change struct {
	Time     time.Time `json:"time"`
	Event    string    `json:"event"`
	Resource any       `json:"resource"`
}

// changeLog writes changes. Informers call it from a goroutine each.
type changeLog struct {
	now func() time.Time

	mu    sync.Mutex
	out   *bufio.Writer
	lines int
	err   error
}

func newChangeLog(out io.Writer) *changeLog {
	return &changeLog{out: bufio.NewWriter(out), now: time.Now}
}

// flushInterval is how often what was recorded goes to the file.
const recordFlushInterval = 2 * time.Second

// record watches until ctx ends. Kinds are begun one after the other, each once the objects of the one before are
// written.
func (l *changeLog) record(ctx context.Context, client dynamic.Interface) error {
	factory := dynamicinformer.NewDynamicSharedInformerFactory(client, 0)
	defer factory.Shutdown()
	for _, resource := range recordedResources() {
		informer := factory.ForResource(resource).Informer()
		handled, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    func(obj any) { l.write("Add", obj) },
			UpdateFunc: func(before, obj any) { l.update(before, obj) },
			DeleteFunc: func(obj any) { l.remove(obj) },
		})
		if err != nil {
			return fmt.Errorf("watching %s: %w", resource.Resource, err)
		}
		factory.Start(ctx.Done())
		if !cache.WaitForCacheSync(ctx.Done(), handled.HasSynced) {
			return fmt.Errorf("%s were not listed before the end; may you list and watch them in all namespaces?", resource.Resource)
		}
	}
	ticker := time.NewTicker(recordFlushInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			if err := l.flush(); err != nil {
				return err
			}
		}
	}
}

// update leaves out what informers repeat.
func (l *changeLog) update(before, obj any) {
	a, okA := before.(*unstructured.Unstructured)
	b, okB := obj.(*unstructured.Unstructured)
	if okA && okB && a.GetResourceVersion() == b.GetResourceVersion() {
		return
	}
	l.write("Update", obj)
}

// remove writes what identifies an object. Its deletion may have been missed, and be known from a later list only.
func (l *changeLog) remove(obj any) {
	if missed, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = missed.Obj
	}
	object, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return
	}
	metadata := map[string]any{"name": object.GetName()}
	if namespace := object.GetNamespace(); namespace != "" {
		metadata["namespace"] = namespace
	}
	l.write("Delete", map[string]any{"apiVersion": object.GetAPIVersion(), "kind": object.GetKind(), "metadata": metadata})
}

func (l *changeLog) write(event string, obj any) {
	if object, ok := obj.(*unstructured.Unstructured); ok {
		object = object.DeepCopy()
		object.SetManagedFields(nil)
		obj = object.Object
	}
	line, err := json.Marshal(change{Time: l.now().UTC(), Event: event, Resource: obj})
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil {
		_, err = l.out.Write(append(line, '\n'))
	}
	if err != nil {
		l.err = errors.Join(l.err, err)
		return
	}
	l.lines++
}

// flush writes to the file, and returns what has failed so far.
func (l *changeLog) flush() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := errors.Join(l.err, l.out.Flush()); err != nil {
		return fmt.Errorf("recording: %w", err)
	}
	return nil
}
