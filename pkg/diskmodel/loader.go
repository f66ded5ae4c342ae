package diskmodel

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"

	"github.com/vicinity-scheduler/vicinity/pkg/blockio"
)

const (
	// DefaultRefreshInterval is the predecessor's.
	DefaultRefreshInterval = 90 * time.Second
	// DefaultTimeout bounds one attempt to fetch a document.
	DefaultTimeout = 10 * time.Second
	// parallelFetches bounds how many documents are fetched at once: one slow server does not hold up the others.
	parallelFetches = 8
)

// Options describe a [Loader]. All are optional.
type Options struct {
	// Path is a file or folder with model documents, or with a list of vendors.
	Path string
	// Default is the model of disks that no document is for. Without it, it is that of kind Identity.
	Default *Model
	// RefreshInterval is the time between two looks at whether documents have changed; 0: DefaultRefreshInterval.
	RefreshInterval time.Duration
	// Timeout bounds one attempt to fetch a document; 0: DefaultTimeout.
	Timeout time.Duration
	// Backoff says how attempts are repeated; without Steps: three attempts, after half a second and a second.
	Backoff wait.Backoff
	// Client makes the requests. Without it, one with the environment's proxies.
	Client *http.Client
	// Changed, if set, is called after each change of the snapshot, from the loader's goroutines.
	Changed func()
}

// Loader keeps models up to date. Its methods may be called from any goroutine.
type Loader struct {
	options  Options
	fetcher  fetcher
	failures *prometheus.CounterVec
	current  atomic.Pointer[Snapshot]
	wake     chan struct{}

	refreshing sync.Mutex         // held while refreshing; guards files
	files      map[string][]entry // entries of Options.Path by file name

	mu      sync.Mutex // guards what is below, and the making of snapshots
	vendors []entry    // of SetVendors
	loaded  map[Key]loadedModel
}

type loadedModel struct {
	digest [sha256.Size]byte
	model  *Model
}

// NewLoader returns a Loader that has loaded nothing yet: every disk has the default model. Its metrics are
// registered with reg.
func NewLoader(options Options, reg registerer) (*Loader, error) {
	if options.Default == nil {
		options.Default = &Model{Model: blockio.Identity{}}
	}
	if options.RefreshInterval <= 0 {
		options.RefreshInterval = DefaultRefreshInterval
	}
	if options.Timeout <= 0 {
		options.Timeout = DefaultTimeout
	}
	if options.Backoff.Steps <= 0 {
		options.Backoff = wait.Backoff{Steps: 3, Duration: time.Second / 2, Factor: 2, Jitter: 0.2}
	}
	if options.Client == nil {
		// A connection a minute is cheap; one kept open would have goroutines of its own.
		options.Client = &http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true}}
	}
	l := &Loader{
		options:  options,
		fetcher:  fetcher{client: options.Client, timeout: options.Timeout, backoff: options.Backoff},
		failures: newFailures(), wake: make(chan struct{}, 1), loaded: map[Key]loadedModel{},
	}
	l.current.Store(&Snapshot{fallback: options.Default})
	if err := registerMetrics(reg, l.failures, func() int { return l.Snapshot().Len() }); err != nil {
		return nil, err
	}
	return l, nil
}

// Snapshot returns what is loaded now. It does not block and does not allocate.
func (l *Loader) Snapshot() *Snapshot { return l.current.Load() }

// SetVendors replaces the list of vendors: the value of the key diskVendors of the ConfigMap, "" when there is none.
// It takes effect with the next refresh, which a running loader begins at once. A vendor that also has a document
// at Options.Path has the one of the list. Entries with faults are left out; a text that is no list leaves the
// former one in place. Either is returned as an error, for the log, and counted.
func (l *Loader) SetVendors(diskVendors string) error {
	entries, faults, err := parseVendors([]byte(diskVendors))
	if err != nil {
		l.failures.WithLabelValues(reasonList).Inc()
		return err
	}
	l.mu.Lock()
	l.vendors = entries
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default: // a refresh is due already
	}
	for i, fault := range faults {
		faults[i] = &failure{reason: reasonList, err: fault}
	}
	return l.count(faults)
}

// count counts errors and joins them.
func (l *Loader) count(errs []error) error {
	for _, err := range errs {
		l.failures.WithLabelValues(reasonOf(err)).Inc()
	}
	return errors.Join(errs...)
}

// Run refreshes now, then after each interval and each new list of vendors, until ctx ends. Errors are logged.
func (l *Loader) Run(ctx context.Context) {
	logger := klog.FromContext(ctx)
	for ctx.Err() == nil {
		if err := l.Refresh(ctx); err != nil && ctx.Err() == nil {
			logger.Error(err, "Some disk models could not be loaded, their last good ones stay in use")
		}
		timer := time.NewTimer(wait.Jitter(l.options.RefreshInterval, 0.1))
		select {
		case <-ctx.Done():
		case <-l.wake:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// Refresh loads every document once. Each model is in use as soon as it is loaded; those that nothing names any
// more are dropped. The error joins the failures, which are counted as well.
func (l *Loader) Refresh(ctx context.Context) error {
	l.refreshing.Lock()
	defer l.refreshing.Unlock()
	var failed struct {
		sync.Mutex
		errs []error
	}
	if l.options.Path != "" {
		files, faults, err := readPath(l.options.Path, l.files)
		failed.errs = append(failed.errs, faults...)
		if err != nil {
			failed.errs = append(failed.errs, &failure{reason: reasonFetch, err: err})
		} else {
			l.files = files
		}
	}
	entries, faults := l.entries()
	failed.errs = append(failed.errs, faults...)
	l.keepOnly(entries)
	var group errgroup.Group
	group.SetLimit(parallelFetches)
	for key, e := range entries {
		group.Go(func() error {
			if err := l.load(ctx, e); err != nil {
				failed.Lock()
				defer failed.Unlock()
				failed.errs = append(failed.errs, fmt.Errorf("disk model of vendor %.40q, model %.40q: %w", key.Vendor, key.Model, err))
			}
			return nil
		})
	}
	_ = group.Wait() // the functions return no errors: each is to be counted
	if ctx.Err() != nil {
		return ctx.Err() // what was interrupted is no failure of a document
	}
	return l.count(failed.errs)
}

// entries returns what is to be loaded. Of several entries for one disk, the list's counts, which may be meant to
// replace a file's; of several files', the first one's does, and the others are faults.
func (l *Loader) entries() (entries map[Key]entry, faults []error) {
	entries = map[Key]entry{}
	for _, name := range slices.Sorted(maps.Keys(l.files)) {
		for _, e := range l.files[name] {
			if _, ok := entries[e.key]; ok {
				faults = append(faults, &failure{
					reason: reasonList,
					err: fmt.Errorf("%s: vendor %.40q, model %.40q has a document in another file already",
						name, e.key.Vendor, e.key.Model),
				})
				continue
			}
			entries[e.key] = e
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.vendors {
		entries[e.key] = e
	}
	return entries, faults
}

func (l *Loader) load(ctx context.Context, e entry) error {
	data, err := l.fetcher.document(ctx, e)
	if err != nil {
		return err
	}
	digest := sha256.Sum256(data)
	l.mu.Lock()
	last, ok := l.loaded[e.key]
	l.mu.Unlock()
	if ok && last.digest == digest {
		return nil
	}
	model, _, err := Parse(data)
	if err != nil {
		return err
	}
	l.mu.Lock()
	l.loaded[e.key] = loadedModel{digest: digest, model: model}
	l.publish()
	l.mu.Unlock()
	l.changed()
	return nil
}

// keepOnly drops the models that are not among the entries.
func (l *Loader) keepOnly(entries map[Key]entry) {
	l.mu.Lock()
	before := len(l.loaded)
	maps.DeleteFunc(l.loaded, func(key Key, _ loadedModel) bool {
		_, ok := entries[key]
		return !ok
	})
	dropped := len(l.loaded) != before
	if dropped {
		l.publish()
	}
	l.mu.Unlock()
	if dropped {
		l.changed()
	}
}

// publish makes what is loaded the current snapshot. The caller holds mu.
func (l *Loader) publish() {
	models := make(map[Key]*Model, len(l.loaded))
	for key, m := range l.loaded {
		models[key] = m.model
	}
	l.current.Store(&Snapshot{models: models, fallback: l.options.Default, generation: l.Snapshot().Generation() + 1})
}

func (l *Loader) changed() {
	if l.options.Changed != nil {
		l.options.Changed()
	}
}
