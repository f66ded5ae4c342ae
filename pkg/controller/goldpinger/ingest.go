package goldpinger

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
)

const (
	// parallel is how many pods are asked at once.
	parallel = 16
	// askTimeout bounds one request; /check_all itself takes up to 5 s.
	askTimeout = 10 * time.Second
	// retries is how often /check_all is asked again when a passive pod answered: behind a Service it is another one then.
	retries = 3
)

// ingester asks Goldpinger and writes what it says.
type ingester struct {
	options *Options
	cached  client.Client
	direct  client.Reader
	http    *http.Client
	metrics *metrics
	now     func() time.Time

	table  table
	totals map[string]map[series]total // by pod, in mode Metrics
}

// Start implements manager.Runnable. It runs on the leader only, once the caches are filled.
func (g *ingester) Start(ctx context.Context) error {
	logger := klog.FromContext(ctx).WithName("goldpinger")
	ctx = klog.NewContext(ctx, logger)
	defer g.http.CloseIdleConnections()
	ticker := time.NewTicker(g.options.Interval)
	defer ticker.Stop()
	for {
		if err := g.round(ctx); err != nil && ctx.Err() == nil {
			logger.Error(err, "Goldpinger: what is known stays, trying again", "after", g.options.Interval)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// round asks once and writes what is due. The error is the first of them all; the metrics count every one.
func (g *ingester) round(ctx context.Context) error {
	var nodes corev1.NodeList
	if err := g.cached.List(ctx, &nodes, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("reading the nodes: %w", err)
	}
	var pods []corev1.Pod
	if g.options.Mode != CheckAll {
		var list corev1.PodList
		err := g.direct.List(ctx, &list, client.InNamespace(g.options.PodNamespace), client.MatchingLabelsSelector{Selector: g.options.selector})
		if err != nil {
			return fmt.Errorf("reading Goldpinger's pods: %w", err)
		}
		pods = list.Items
	}
	known := newDirectory(nodes.Items, pods)
	pings, source, faults := g.ask(ctx, pods)
	for i := range pings {
		faults = append(faults, g.take(&pings[i], source, known))
	}
	if len(pings) > 0 {
		g.metrics.lastSuccess.Set(float64(g.now().Unix()))
	}
	faults = append(faults, g.write(ctx, known))
	return g.count(faults)
}

// ask returns all pings that could be had.
func (g *ingester) ask(ctx context.Context, pods []corev1.Pod) (pings []ping, source vicinityv1alpha1.RTTSource, faults []error) {
	switch g.options.Mode {
	case Check, Metrics:
		pings, faults = g.askEach(ctx, pods)
		if g.options.Mode == Metrics {
			return pings, vicinityv1alpha1.RTTSourceGoldpingerUDP, faults
		}
		return pings, vicinityv1alpha1.RTTSourceGoldpinger, faults
	default:
		pings, faults = g.askAll(ctx)
		return pings, vicinityv1alpha1.RTTSourceGoldpinger, faults
	}
}

func (g *ingester) askAll(ctx context.Context) ([]ping, []error) {
	address, err := url.JoinPath(g.options.URL, "check_all")
	if err != nil {
		return nil, []error{fmt.Errorf("%w: %w", errUnreachable, err)}
	}
	var body []byte
	for range retries {
		askCtx, cancel := context.WithTimeout(ctx, askTimeout)
		body, err = fetch(askCtx, g.http, address, maxCheckAll)
		cancel()
		if !errors.Is(err, errPassive) {
			break
		}
	}
	if err != nil {
		return nil, []error{err}
	}
	pings, faults, err := parseCheckAll(body)
	if err != nil {
		return nil, []error{fmt.Errorf("%w: %w", errMalformed, err)}
	}
	return pings, malformed(faults)
}

// askEach asks every pod for itself.
func (g *ingester) askEach(ctx context.Context, pods []corev1.Pod) (pings []ping, faults []error) {
	found, wrong := make([][]ping, len(pods)), make([][]error, len(pods))
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	next := make([]map[series]total, len(pods))
	for i := range pods {
		if pods[i].Status.PodIP == "" || pods[i].DeletionTimestamp != nil {
			continue
		}
		group.Go(func() error {
			askCtx, cancel := context.WithTimeout(groupCtx, askTimeout)
			defer cancel()
			found[i], next[i], wrong[i] = g.askOne(askCtx, &pods[i])
			return nil
		})
	}
	_ = group.Wait() // the functions return nil
	totals := make(map[string]map[series]total, len(pods))
	for i := range pods {
		pings, faults = append(pings, found[i]...), append(faults, wrong[i]...)
		if next[i] == nil {
			next[i] = g.totals[pods[i].Name] // it did not answer this time
		}
		if next[i] != nil {
			totals[pods[i].Name] = next[i]
		}
	}
	g.totals = totals
	return pings, faults
}

// askOne asks one pod.
func (g *ingester) askOne(ctx context.Context, pod *corev1.Pod) ([]ping, map[series]total, []error) {
	address := "http://" + net.JoinHostPort(pod.Status.PodIP, strconv.Itoa(int(g.options.Port)))
	from := peer{key: pod.Spec.NodeName, hostIP: pod.Status.HostIP}
	if g.options.Mode == Check {
		body, err := fetch(ctx, g.http, address+"/check", maxCheck)
		if errors.Is(err, errPassive) {
			return nil, nil, nil
		}
		if err != nil {
			return nil, nil, []error{err}
		}
		pings, faults, err := parseCheck(body, from)
		if err != nil {
			faults = append(faults, err)
		}
		return pings, nil, malformed(faults)
	}
	body, err := fetch(ctx, g.http, address+"/metrics", maxCheck)
	if err != nil {
		return nil, nil, []error{err}
	}
	now, err := parseHistograms(body)
	if err != nil {
		return nil, nil, []error{fmt.Errorf("%w: %w", errMalformed, err)}
	}
	var pings []ping
	last := g.totals[pod.Name]
	for s, t := range now {
		// What was counted before the first look may be from days ago.
		before, seen := last[s]
		if mean, ok := t.since(before); ok && seen {
			pings = append(pings, ping{from: from, to: peer{hostIP: s.hostIP}, rtt: mean, answered: true})
		}
	}
	return pings, now, nil
}

// malformed marks the faults that are not marked.
func malformed(faults []error) []error {
	for i, fault := range faults {
		if !errors.Is(fault, errImpossible) {
			faults[i] = fmt.Errorf("%w: %w", errMalformed, fault)
		}
	}
	return faults
}

// take notes one ping.
func (g *ingester) take(p *ping, source vicinityv1alpha1.RTTSource, known *directory) error {
	from, ok := known.find(p.from)
	if !ok {
		return fmt.Errorf("%w: %q, %q", errUnknownNode, p.from.key, p.from.hostIP)
	}
	to, ok := known.find(p.to)
	if !ok {
		return fmt.Errorf("%w: %q, %q", errUnknownNode, p.to.key, p.to.hostIP)
	}
	if from == to || !g.table.take(from, to, p, source, g.now()) {
		return nil
	}
	if p.answered {
		g.metrics.answered.Inc()
	} else {
		g.metrics.lost.Inc()
	}
	return nil
}
