package mlpmodel

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"

	"github.com/vicinity-scheduler/vicinity/pkg/feature"
	"github.com/vicinity-scheduler/vicinity/pkg/mlp/safetensors"
)

// DefaultInterval is the time between two looks at a file.
const DefaultInterval = 5 * time.Second

// Loader has the model to use. Its methods may be called from any goroutine.
type Loader struct {
	current atomic.Pointer[feature.Model]
	loads   *prometheus.CounterVec

	mu sync.Mutex // one offer at a time
	// offered is the digest of what was offered last, so that the same fault is not reported again and again.
	offered [sha256.Size]byte
}

// registerer is the part of a prometheus registry that is used.
type registerer interface {
	Register(collector prometheus.Collector) error
}

// New returns a loader that has the built-in model. Its metric is registered with reg. An error means that the built-in
// model itself cannot be used.
func New(builtIn []byte, reg registerer) (*Loader, error) {
	model, err := feature.DecodeModel(builtIn)
	if err != nil {
		return nil, fmt.Errorf("built-in model: %w", err)
	}
	l := &Loader{loads: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "vicinity_mlpscore_model_loads_total",
		Help: "Models offered by a file or ConfigMap, by whether they are used (loaded) or not (refused).",
	}, []string{"result"})}
	if err := reg.Register(l.loads); err != nil {
		return nil, fmt.Errorf("registering metrics of models: %w", err)
	}
	l.current.Store(model)
	return l, nil
}

// Current returns the model to use now. It neither blocks nor allocates.
func (l *Loader) Current() *feature.Model { return l.current.Load() }

// Offer replaces the model by that of a file's content, if it can be used; otherwise the error says why, and the model
// stays. Content that was just offered is not looked at again.
func (l *Loader) Offer(data []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	digest := sha256.Sum256(data)
	if digest == l.offered {
		return nil
	}
	l.offered = digest
	model, err := feature.DecodeModel(data)
	if err != nil {
		l.loads.WithLabelValues("refused").Inc()
		return fmt.Errorf("model refused, %q stays in use: %w", l.Current().Name, err)
	}
	l.loads.WithLabelValues("loaded").Inc()
	l.current.Store(model)
	return nil
}

// WatchFile offers the file's content now and whenever it has changed, until ctx ends.
func (l *Loader) WatchFile(ctx context.Context, file string, interval time.Duration) {
	last := ""
	wait.UntilWithContext(ctx, func(ctx context.Context) {
		data, err := read(file)
		before := l.Current()
		if err == nil {
			err = l.Offer(data)
		}
		switch {
		case err == nil:
			last = ""
			if now := l.Current(); now != before {
				klog.FromContext(ctx).Info("Model is in use", "model", now.Name, "file", file)
			}
		case err.Error() != last: // a file that stays away is reported once
			last = err.Error()
			klog.FromContext(ctx).Error(err, "Model file cannot be used", "file", file, "inUse", before.Name)
		}
	}, interval)
}

// read reads a file that may be of any size, or no file at all.
func read(path string) ([]byte, error) {
	// Without O_NONBLOCK opening a pipe would wait for somebody to write.
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("want a regular file at %s, found %s", path, info.Mode().Type())
	}
	// One byte more than is allowed is enough for the reader to see that it is too much.
	return io.ReadAll(io.LimitReader(file, safetensors.MaxBytes+1))
}
