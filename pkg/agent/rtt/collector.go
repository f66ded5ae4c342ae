package rtt

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/klog/v2"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
	"github.com/vicinity-scheduler/vicinity/pkg/delay"
	"github.com/vicinity-scheduler/vicinity/pkg/delay/targets"
	"github.com/vicinity-scheduler/vicinity/pkg/delay/window"
)

const (
	// remembered is how long a path that is probed no longer stays in the report.
	remembered = 30 * time.Minute
	// maxRemembered bounds how many such paths there are, the latest ones.
	maxRemembered = 256
	// zoneRetry is how often a node that is not on the list asks for its zone.
	zoneRetry = 10 * time.Minute
)

// Collector is the rtt collector. The package comment says what it does.
type Collector struct {
	self    string
	config  *configv1.RTTConfiguration
	rand    *rand.Rand
	store   statusStore
	metrics *metrics

	identity *identity
	methods  methods
	udp      *udpMethod
	echo     *echoServer
	limit    *rate.Limiter
	list     listFile
	// detected says that it is known whether ICMP works; icmpErr why it does not.
	detected bool
	icmpErr  error
	// inherited says that the report of an earlier agent was asked for.
	inherited bool

	zone        string
	zoneAskedAt time.Time
	nodes       map[string]*path // by name
	endpoints   map[string]*path // as the bound has them
	locator     *delay.Locator
	reporter    *reporter
}

// Name implements agent.Collector.
func (c *Collector) Name() string { return Name }

// Close implements agent.Collector.
func (c *Collector) Close(context.Context) error {
	err := c.udp.close()
	if c.echo != nil {
		err = errors.Join(err, c.echo.close())
	}
	c.store.Close()
	return err
}

// Collect implements agent.Collector: it probes every target once in a while during the round, then reports if there is
// news.
func (c *Collector) Collect(ctx context.Context, now time.Time) error {
	start := time.Now()
	err := errors.Join(c.prepare(ctx, now), c.measure(ctx, now))
	if c.list.list == nil || ctx.Err() != nil {
		return errors.Join(err, ctx.Err())
	}
	return errors.Join(err, c.report(ctx, now.Add(time.Since(start))))
}

// prepare does what must have been done once, and reads the list.
func (c *Collector) prepare(ctx context.Context, now time.Time) error {
	var errs []error
	if c.echo == nil {
		echo, err := newEchoServer(ctx, c.config.EchoAddress, int(c.config.MaxEchoesPerSecond), c.identity, c.metrics.echo)
		if err != nil {
			errs = append(errs, err)
		} else {
			c.echo = echo
		}
	}
	errs = append(errs, c.detect(ctx), c.inherit(ctx, now))
	changed, err := c.list.refresh()
	errs = append(errs, err)
	if c.list.list == nil {
		return errors.Join(errs...)
	}
	if changed {
		c.identity.setKey(c.list.list.TokenKey())
		klog.FromContext(ctx).V(2).Info("Read the list of targets",
			"nodes", len(c.list.list.Nodes), "endpoints", len(c.list.list.Endpoints), "token", c.list.list.Token != "")
	}
	errs = append(errs, c.findZone(ctx, now))
	c.choose(now)
	return errors.Join(errs...)
}

// detect finds out once whether ICMP can be used.
func (c *Collector) detect(ctx context.Context) error {
	if !c.detected {
		found, err := detectICMP(ctx)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // the round was cut off, which the caller tells: ICMP is looked for again in the next
		}
		c.detected = true
		if err == nil {
			c.methods.icmp = found
		}
		c.icmpErr = err
		klog.FromContext(ctx).Info("Looked for ICMP", "usable", err == nil, "method", c.config.Method, "reason", err)
	}
	if c.config.Method == configv1.ProbeICMP && c.icmpErr != nil {
		return fmt.Errorf("rtt.method is ICMP: %w", c.icmpErr)
	}
	return nil
}

// inherit asks once for the report of an earlier agent: its times stand until there are new ones, and network coordinates
// take many rounds to settle.
func (c *Collector) inherit(ctx context.Context, now time.Time) error {
	if c.inherited {
		return nil
	}
	if !c.reporter.schedule.MayTry(now) {
		return c.reporter.schedule.Failure()
	}
	status, err := c.store.Read(ctx)
	if err != nil {
		c.reporter.schedule.Attempt(now)
		return c.reporter.schedule.Done(now, fmt.Errorf("cannot read the report of an earlier agent: %w", err))
	}
	c.inherited = true
	if status != nil {
		c.takeUp(status)
	}
	return nil
}

// takeUp starts from what an earlier agent has reported.
func (c *Collector) takeUp(status *vicinityv1alpha1.NodeRTTStatus) {
	for i := range status.Peers {
		if peer := &status.Peers[i]; peer.Source == vicinityv1alpha1.RTTSourceAgent {
			c.nodes[peer.Node] = &path{name: peer.Node, window: window.Restored(summaryOf(&peer.RTT)), probedAt: peer.ObservedAt.Time}
		}
	}
	for i := range status.Endpoints {
		e := &status.Endpoints[i]
		c.endpoints[e.Endpoint] = &path{
			name: e.Endpoint, endpoint: true, window: window.Restored(summaryOf(&e.RTT)), probedAt: e.ObservedAt.Time,
		}
	}
	if last := coordinateOf(&status.Coordinate); plausible(&last) {
		if locator, err := delay.NewLocator(last); err == nil { // else the new one at the origin serves
			c.locator = locator
		}
	}
}

// findZone takes the node's zone from the list, and from its Node if it is not there.
func (c *Collector) findZone(ctx context.Context, now time.Time) error {
	for i := range c.list.list.Nodes {
		if node := &c.list.list.Nodes[i]; node.Name == c.self {
			c.zone = node.Zone
			return nil
		}
	}
	if !c.zoneAskedAt.IsZero() && now.Sub(c.zoneAskedAt) < zoneRetry {
		return nil
	}
	c.zoneAskedAt = now
	zone, err := c.store.Zone(ctx)
	if err != nil {
		return err
	}
	c.zone = zone
	return nil
}

// choose says what this round's targets are, and forgets what has been off the list for long.
func (c *Collector) choose(now time.Time) {
	chosen := targets.Choose(c.self, c.zone, c.list.list.Nodes, targets.Choice{
		Peers: int(c.config.Peers), ZonePeers: int(c.config.ZonePeers),
		Period: uint64(now.UnixNano() / int64(c.config.RotationPeriod.Duration)),
	})
	for _, p := range c.nodes {
		p.current = false
	}
	for i := range chosen {
		p := c.nodes[chosen[i].Name]
		if p == nil {
			p = &path{name: chosen[i].Name}
			c.nodes[p.name] = p
		}
		p.current, p.reference = true, chosen[i].Reference
		if p.address != chosen[i].Addresses[0] {
			// What was measured to the old address says little; what is known stays until there is news.
			p.address, p.viaUDP = chosen[i].Addresses[0], false
			p.window.Reset()
		}
	}
	known := make(map[string]bool, len(c.list.list.Nodes))
	for i := range c.list.list.Nodes {
		known[c.list.list.Nodes[i].Name] = true
	}
	c.forget(now, known)
	for _, p := range c.endpoints {
		p.current = false
	}
	for _, name := range c.list.list.Endpoints {
		if c.endpoints[name] == nil {
			c.endpoints[name] = &path{name: name, endpoint: true}
		}
		c.endpoints[name].current = true
	}
	for name, p := range c.endpoints {
		if !p.current && now.Sub(p.probedAt) > remembered {
			delete(c.endpoints, name)
		}
	}
}

// forget drops the paths that are too old to be reported, and of the others the oldest that are too many.
func (c *Collector) forget(now time.Time, known map[string]bool) {
	var idle []*path
	for _, p := range c.nodes {
		if p.current {
			continue
		}
		if now.Sub(p.probedAt) > remembered || !p.known() {
			c.drop(p.name)
			continue
		}
		// A node that was deleted has nothing measured to it any more, but one that is only not in the sample may have.
		if !known[p.name] && len(c.list.list.Nodes) < targets.MaxNodes {
			c.drop(p.name)
			continue
		}
		idle = append(idle, p)
	}
	for _, p := range oldest(idle, len(idle)-maxRemembered) {
		c.drop(p.name)
	}
}

func (c *Collector) drop(name string) {
	delete(c.nodes, name)
	c.locator.Forget(name)
}

// observe moves the node's coordinate by what the round has measured.
func (c *Collector) observe(ctx context.Context, round []*path) {
	for _, p := range round {
		if p.endpoint || p.nearest == lost || len(p.coordinate.Vector) == 0 {
			continue
		}
		if err := c.locator.Observe(p.name, p.coordinate, p.nearest); err != nil {
			c.metrics.rejected.Inc()
			klog.FromContext(ctx).V(4).Info("Left a coordinate out", "node", p.name, "reason", err)
		}
	}
	place := c.locator.Coordinate()
	c.identity.coordinate.Store(&place)
}

// report tells the API server what is known, if that is due.
func (c *Collector) report(ctx context.Context, now time.Time) error {
	status := c.status()
	c.metrics.observe(c.nodes, c.endpoints)
	if !c.reporter.schedule.MayTry(now) || !c.inherited {
		return c.reporter.schedule.Failure()
	}
	reason, err := c.reporter.report(ctx, status, now)
	if err != nil || reason == "" {
		return err
	}
	c.metrics.reports[reason].Inc()
	klog.FromContext(ctx).V(4).Info("Reported round-trip times", "reason", reason, "peers", len(status.Peers))
	return nil
}
