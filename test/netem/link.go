package netem

import (
	"math/rand/v2"
	"net/netip"
	"time"
)

// Link is what a packet meets on its way between a host and the middle of the network, in each direction.
type Link struct {
	// Delay is how long it takes.
	Delay time.Duration
	// Jitter is by how much it takes longer or shorter at most; each packet by another amount, evenly spread.
	Jitter time.Duration
	// Loss is the share of packets that get lost, 0 to 1.
	Loss float64
	// MTU is the length of the longest IP packet that gets through; longer ones vanish without a word. 0: any.
	MTU int
	// Cut lets nothing through.
	Cut bool
}

// pass decides what becomes of a packet of so many bytes.
func (l Link) pass(bytes int, random *rand.Rand) (wait time.Duration, ok bool) {
	if l.Cut || l.MTU > 0 && bytes > l.MTU || l.Loss > 0 && random.Float64() < l.Loss {
		return 0, false
	}
	wait = l.Delay
	if l.Jitter > 0 {
		wait += time.Duration(random.Int64N(int64(2*l.Jitter+1))) - l.Jitter
	}
	return max(0, wait), true
}

const (
	version4, header4, destination4 = 4, 20, 16
	version6, header6, destination6 = 6, 40, 24
)

// destination returns where an IP packet goes.
func destination(packet []byte) (netip.Addr, bool) {
	if len(packet) == 0 {
		return netip.Addr{}, false
	}
	switch version := packet[0] >> 4; {
	case version == version4 && len(packet) >= header4:
		return netip.AddrFromSlice(packet[destination4:header4])
	case version == version6 && len(packet) >= header6:
		return netip.AddrFromSlice(packet[destination6:header6])
	}
	return netip.Addr{}, false
}
