package rtttargets

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	crmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/vicinity-scheduler/vicinity/pkg/delay/targets"
)

const (
	// ConfigMapName is the ConfigMap with the list.
	ConfigMapName = "vicinity-rtt-targets"
	// Key is the document's key in the ConfigMap, and its file name where that is mounted.
	Key = "targets.json"

	fieldManager = "vicinity-controller"
	// publishInterval is the shortest time between two writes: each is brought to all nodes.
	publishInterval = 10 * time.Second
	// lookInterval is how often it is looked whether there is something to publish.
	lookInterval = time.Second
)

// Options is what the list is made with.
type Options struct {
	// Namespace holds the ConfigMap.
	Namespace string
	// Endpoints are patterns, with * and ?, of the external endpoints that agents may probe. None: no endpoint.
	Endpoints []string
}

// Validate says what is wrong with the options.
func (o *Options) Validate() error {
	for _, pattern := range o.Endpoints {
		if _, err := path.Match(pattern, ""); err != nil {
			return fmt.Errorf("--rtt-endpoints: expected patterns such as *.example.com:443, found %q: %w", pattern, err)
		}
	}
	return nil
}

// Setup returns what adds the list's keeper to the manager.
func Setup(o *Options) func(context.Context, manager.Manager) error {
	return func(ctx context.Context, m manager.Manager) error {
		metrics, err := newMetrics(crmetrics.Registry)
		if err != nil {
			return err
		}
		k := &keeper{
			options: o, cached: m.GetClient(), direct: m.GetAPIReader(), index: newIndex(), metrics: metrics, now: time.Now,
		}
		if err := k.watch(ctx, m); err != nil {
			return fmt.Errorf("targets of round-trip times: %w", err)
		}
		return m.Add(k)
	}
}

// keeper keeps the published list what it should be.
type keeper struct {
	options *Options
	cached  client.Client
	direct  client.Reader
	index   *index
	metrics *metrics
	now     func() time.Time

	mu          sync.Mutex
	nodeChanges uint64

	// The rest belongs to Start's goroutine.
	token     string
	published string
	seen      [2]uint64
	any       bool
}

// watch feeds the index. It runs on replicas that do not lead too: a new leader knows everything at once.
func (k *keeper) watch(ctx context.Context, m manager.Manager) error {
	pods, err := m.GetCache().GetInformer(ctx, &corev1.Pod{})
	if err != nil {
		return fmt.Errorf("watching pods: %w", err)
	}
	nodes, err := m.GetCache().GetInformer(ctx, &corev1.Node{})
	if err != nil {
		return fmt.Errorf("watching nodes: %w", err)
	}
	_, podsErr := pods.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { k.podChanged(object) },
		UpdateFunc: func(_, object any) { k.podChanged(object) },
		DeleteFunc: func(object any) {
			if gone, ok := object.(cache.DeletedFinalStateUnknown); ok {
				object = gone.Obj
			}
			if pod, ok := object.(*corev1.Pod); ok {
				k.index.remove(pod.UID)
			}
		},
	})
	_, nodesErr := nodes.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { k.nodeChanged() },
		UpdateFunc: func(before, after any) {
			if !sameNode(before, after) {
				k.nodeChanged()
			}
		},
		DeleteFunc: func(any) { k.nodeChanged() },
	})
	return errors.Join(podsErr, nodesErr)
}

func (k *keeper) podChanged(object any) {
	if pod, ok := object.(*corev1.Pod); ok {
		k.index.set(pod)
	}
}

// sameNode tells whether a change of a node is nothing but a heartbeat.
func sameNode(before, after any) bool {
	a, isNode := before.(*corev1.Node)
	b, areNodes := after.(*corev1.Node)
	return isNode && areNodes && a.Labels[corev1.LabelTopologyZone] == b.Labels[corev1.LabelTopologyZone] &&
		slices.Equal(addressesOf(a), addressesOf(b))
}

func (k *keeper) nodeChanged() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.nodeChanges++
}

func (k *keeper) versions() [2]uint64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	return [2]uint64{k.nodeChanges, k.index.version()}
}

// Start implements manager.Runnable. It runs on the leader only, once the caches are filled.
func (k *keeper) Start(ctx context.Context) error {
	logger := klog.FromContext(ctx).WithName("rtt-targets")
	ctx = klog.NewContext(ctx, logger)
	ticker := time.NewTicker(lookInterval)
	defer ticker.Stop()
	var tried time.Time
	for {
		if now := k.now(); now.Sub(tried) >= publishInterval && (!k.any || k.versions() != k.seen) {
			tried = now
			if err := k.publish(ctx); err != nil && ctx.Err() == nil {
				logger.Error(err, "Could not publish the list of targets, trying again", "after", publishInterval)
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// publish writes the list if it is not what is published.
func (k *keeper) publish(ctx context.Context) error {
	seen := k.versions()
	if k.token == "" {
		if err := k.inherit(ctx); err != nil {
			return err
		}
	}
	var nodes corev1.NodeList
	if err := k.cached.List(ctx, &nodes, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("reading the nodes: %w", err)
	}
	wanted := k.index.references()
	list, missed := compile(nodes.Items, wanted, k.options.Endpoints, k.token)
	k.metrics.observe(list, missed)
	document, err := list.Encode()
	if err != nil {
		return err
	}
	if string(document) != k.published {
		object := corev1ac.ConfigMap(ConfigMapName, k.options.Namespace).WithData(map[string]string{Key: string(document)})
		if err := k.cached.Apply(ctx, object, client.FieldOwner(fieldManager), client.ForceOwnership); err != nil {
			return fmt.Errorf("writing ConfigMap %s/%s, which is part of the installation: %w", k.options.Namespace, ConfigMapName, err)
		}
		k.published = string(document)
		k.metrics.publications.Inc()
		klog.FromContext(ctx).V(2).Info("Published the list of targets", "nodes", len(list.Nodes), "endpoints", len(list.Endpoints))
	}
	k.seen, k.any = seen, true
	return nil
}

// inherit takes the token of the published list, or makes the first.
func (k *keeper) inherit(ctx context.Context) error {
	var object corev1.ConfigMap
	err := k.direct.Get(ctx, client.ObjectKey{Namespace: k.options.Namespace, Name: ConfigMapName}, &object)
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("reading ConfigMap %s/%s: %w", k.options.Namespace, ConfigMapName, err)
	}
	k.published = object.Data[Key]
	if list, err := targets.Decode(strings.NewReader(k.published)); err == nil && list.Token != "" {
		k.token = list.Token
		return nil
	}
	var token [targets.TokenBytes]byte
	if _, err := rand.Read(token[:]); err != nil {
		return fmt.Errorf("no random numbers for the token of the echo: %w", err)
	}
	k.token = hex.EncodeToString(token[:])
	return nil
}

// metrics are listed in the package comment.
type metrics struct {
	references, endpoints prometheus.Gauge
	omitted               *prometheus.GaugeVec
	publications          prometheus.Counter
}

func newMetrics(r prometheus.Registerer) (*metrics, error) {
	const prefix = "vicinity_controller_rtt_"
	m := &metrics{
		references: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: prefix + "references", Help: "Nodes that pods' bounds of the round-trip time refer to.",
		}),
		endpoints: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: prefix + "endpoints", Help: "External endpoints that pods' bounds refer to and that agents may probe.",
		}),
		omitted: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: prefix + "omitted",
			Help: "What is not on the list of targets: nodes outside of the sample (node), and references, endpoints and selectors " +
				"that are too many or, of endpoints, not allowed.",
		}, []string{"kind"}),
		publications: prometheus.NewCounter(prometheus.CounterOpts{
			Name: prefix + "publications_total", Help: "How often the list of targets was written.",
		}),
	}
	err := errors.Join(r.Register(m.references), r.Register(m.endpoints), r.Register(m.omitted), r.Register(m.publications))
	if err != nil {
		return nil, fmt.Errorf("cannot register the metrics of the targets: %w", err)
	}
	return m, nil
}

func (m *metrics) observe(list *targets.List, missed omissions) {
	n := 0
	for i := range list.Nodes {
		if list.Nodes[i].Reference {
			n++
		}
	}
	m.references.Set(float64(n))
	m.endpoints.Set(float64(len(list.Endpoints)))
	for kind, count := range map[string]int{
		"node": missed.nodes, "reference": missed.references, "endpoint": missed.endpoints, "selector": missed.selectors,
	} {
		m.omitted.WithLabelValues(kind).Set(float64(count))
	}
}
