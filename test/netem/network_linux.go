package netem

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// ErrUnsupported tells that this machine, or this user, cannot make network namespaces.
var ErrUnsupported = errors.New("network namespaces cannot be made here")

const (
	namePrefix = "vnetem-"
	device     = "eth0"
	maxPacket  = 1 << 16
)

// Host is a host of a network.
type Host struct {
	// Name is short, of letters and digits.
	Name string
	// Addresses are its IP addresses with the length of the network's prefix: the other hosts are found in that network.
	Addresses []netip.Prefix
	// MTU is that of its device; 0 means 1500. The host cuts longer packets into pieces by itself.
	MTU int
}

// Network is a number of hosts and what connects them.
type Network struct {
	queue *queue
	done  sync.WaitGroup

	mu     sync.Mutex
	hosts  map[string]*host
	owners map[netip.Addr]*host
	random *rand.Rand
}

type host struct {
	namespace string
	device    *os.File
	link      Link
}

// New makes a network. Everything random about it comes from the seed. Close it.
func New(ctx context.Context, hosts []Host, seed uint64) (*Network, error) {
	if err := supported(); err != nil {
		return nil, err
	}
	sweep(ctx)
	q, err := newQueue()
	if err != nil {
		return nil, err
	}
	n := &Network{
		queue: q, hosts: map[string]*host{}, owners: map[netip.Addr]*host{}, random: rand.New(rand.NewPCG(seed, seed)),
	}
	for i := range hosts {
		if err := n.add(ctx, &hosts[i]); err != nil {
			return nil, errors.Join(fmt.Errorf("host %s: %w", hosts[i].Name, err), n.Close(context.WithoutCancel(ctx)))
		}
	}
	for _, h := range n.hosts {
		n.done.Go(func() { n.forward(h) })
	}
	return n, nil
}

func supported() error {
	if os.Geteuid() != 0 {
		return fmt.Errorf("%w: it takes root, and this is user %d", ErrUnsupported, os.Geteuid())
	}
	if _, err := exec.LookPath("ip"); err != nil {
		return fmt.Errorf("%w: it takes the command ip, of the package iproute2: %w", ErrUnsupported, err)
	}
	if err := tryNamespace(); err != nil {
		return fmt.Errorf("%w: %w", ErrUnsupported, err)
	}
	return nil
}

func (n *Network) add(ctx context.Context, spec *Host) error {
	h := &host{namespace: namePrefix + strconv.Itoa(os.Getpid()) + "-" + spec.Name}
	if err := ip(ctx, "netns", "add", h.namespace); err != nil {
		return err
	}
	n.hosts[spec.Name] = h
	err := inNamespace(h.namespace, func() error {
		file, err := openTUN(device)
		h.device = file
		return err
	})
	if err != nil {
		return err
	}
	mtu := spec.MTU
	if mtu == 0 {
		mtu = 1500
	}
	commands := [][]string{{"link", "set", "lo", "up"}, {"link", "set", device, "mtu", strconv.Itoa(mtu), "up"}}
	for _, address := range spec.Addresses {
		n.owners[address.Addr()] = h
		command := []string{"addr", "add", address.String(), "dev", device}
		if address.Addr().Is6() {
			command = append(command, "nodad")
		}
		commands = append(commands, command)
	}
	for _, command := range commands {
		if err := ip(ctx, append([]string{"-n", h.namespace}, command...)...); err != nil {
			return err
		}
	}
	return nil
}

// Set changes the access link of a host, for what enters it from now on.
func (n *Network) Set(name string, link Link) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.hosts[name].link = link
}

// Command returns a command that runs on a host.
func (n *Network) Command(ctx context.Context, name, program string, args ...string) *exec.Cmd {
	return exec.CommandContext(ctx, "ip", append([]string{"netns", "exec", n.hosts[name].namespace, program}, args...)...)
}

// Do calls a function on a thread whose new sockets are the host's.
func (n *Network) Do(name string, f func() error) error {
	return inNamespace(n.hosts[name].namespace, f)
}

// Added returns how much later than they were due packets were handed over, in ascending order, since the last call.
func (n *Network) Added() []time.Duration {
	n.queue.mu.Lock()
	defer n.queue.mu.Unlock()
	added := n.queue.added
	n.queue.added = nil
	slices.Sort(added)
	return added
}

// Close removes the hosts. What runs on them goes on without a network.
func (n *Network) Close(ctx context.Context) error {
	errs := []error{n.queue.close()}
	for _, h := range n.hosts {
		if h.device != nil {
			errs = append(errs, h.device.Close())
		}
		errs = append(errs, ip(ctx, "netns", "del", h.namespace))
	}
	n.done.Wait()
	return errors.Join(errs...)
}

// forward takes what a host sends until its device is closed.
func (n *Network) forward(h *host) {
	buffer := make([]byte, maxPacket)
	for {
		size, err := h.device.Read(buffer)
		entered := time.Now()
		if err != nil {
			return
		}
		if to, wait, ok := n.route(h, buffer[:size]); ok {
			n.queue.add(&flight{data: slices.Clone(buffer[:size]), to: to.device, due: entered.Add(wait)})
		}
	}
}

// route says to whom a packet goes and how long it takes there.
func (n *Network) route(from *host, packet []byte) (to *host, wait time.Duration, ok bool) {
	address, ok := destination(packet)
	if !ok {
		return nil, 0, false
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if to = n.owners[address]; to == nil {
		return nil, 0, false
	}
	up, ok := from.link.pass(len(packet), n.random)
	if !ok {
		return nil, 0, false
	}
	down, ok := to.link.pass(len(packet), n.random)
	return to, up + down, ok
}

// sweep removes the namespaces of processes that are gone.
func sweep(ctx context.Context) {
	output, err := exec.CommandContext(ctx, "ip", "netns", "list").Output()
	if err != nil {
		return
	}
	for line := range strings.Lines(string(output)) {
		name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		pid, _, ok := strings.Cut(strings.TrimPrefix(name, namePrefix), "-")
		if !ok || !strings.HasPrefix(name, namePrefix) {
			continue
		}
		if _, err := os.Stat("/proc/" + pid); errors.Is(err, os.ErrNotExist) {
			_ = ip(ctx, "netns", "del", name)
		}
	}
}

func ip(ctx context.Context, args ...string) error {
	if output, err := exec.CommandContext(ctx, "ip", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("ip %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(string(output)))
	}
	return nil
}
