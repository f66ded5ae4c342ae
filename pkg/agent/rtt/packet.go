package rtt

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"math"
	"time"

	"github.com/vicinity-scheduler/vicinity/pkg/delay"
)

// The layout of an echo packet, all numbers big endian. Requests and replies differ in the kind only, and a reply is as
// long as its request: whoever forges a sender gets no more sent there than he sends himself.
//
//	  0  magic, 4 bytes
//	  4  kind, 1 byte: request or reply
//	  5  dimensions of the coordinate, 1 byte; 0 means that there is no coordinate
//	  6  nothing, 2 bytes
//	  8  nonce of the request, 8 bytes
//	 16  the sender's coordinate: 8 components, height and adjustment, 8 bytes each, in ns; its error in ppm, 4 bytes
//	100  nothing, 12 bytes
//	112  the first 16 bytes of the HMAC-SHA256 with the cluster's token over all that stands before
//	128  padding up to the length that was asked for
const (
	packetBytes = 128

	offsetKind       = 4
	offsetDimensions = 5
	offsetNonce      = 8
	offsetCoordinate = 16
	offsetMAC        = 112
	macBytes         = 16

	magic = 0x56525431 // VRT1

	kindRequest = 1
	kindReply   = 2

	millionth = 1_000_000
	// maxError is the largest relative error that NodeRTT takes; an honest one is at most 1.5.
	maxError = 10
)

var errPacket = errors.New("not an echo packet of this cluster")

// packet is an echo packet without its padding.
type packet struct {
	kind  byte
	nonce uint64
	// coordinate is the sender's; without a vector it has none.
	coordinate delay.Coordinate
}

// write fills the first packetBytes of buffer, which must have them.
func (p *packet) write(buffer, key []byte) {
	clear(buffer[:packetBytes])
	binary.BigEndian.PutUint32(buffer, magic)
	buffer[offsetKind] = p.kind
	binary.BigEndian.PutUint64(buffer[offsetNonce:], p.nonce)
	if len(p.coordinate.Vector) == delay.Dimensions {
		buffer[offsetDimensions] = delay.Dimensions
		at := buffer[offsetCoordinate:offsetCoordinate]
		for _, component := range p.coordinate.Vector {
			at = binary.BigEndian.AppendUint64(at, uint64(component))
		}
		at = binary.BigEndian.AppendUint64(at, uint64(p.coordinate.Height))
		at = binary.BigEndian.AppendUint64(at, uint64(p.coordinate.Adjustment))
		binary.BigEndian.AppendUint32(at, uint32(math.Round(min(max(p.coordinate.Error, 0), maxError)*millionth)))
	}
	copy(buffer[offsetMAC:packetBytes], mac(buffer[:offsetMAC], key))
}

// readPacket checks who made the packet and takes it apart.
func readPacket(data, key []byte) (packet, error) {
	if len(key) == 0 || len(data) < packetBytes || binary.BigEndian.Uint32(data) != magic ||
		!hmac.Equal(data[offsetMAC:packetBytes], mac(data[:offsetMAC], key)) {
		return packet{}, errPacket
	}
	p := packet{kind: data[offsetKind], nonce: binary.BigEndian.Uint64(data[offsetNonce:])}
	if data[offsetDimensions] != delay.Dimensions {
		return p, nil
	}
	numbers := make([]time.Duration, delay.Dimensions+2)
	for i := range numbers {
		numbers[i] = time.Duration(binary.BigEndian.Uint64(data[offsetCoordinate+8*i:]))
	}
	ppm := binary.BigEndian.Uint32(data[offsetCoordinate+8*len(numbers):])
	p.coordinate = delay.Coordinate{
		Vector: numbers[:delay.Dimensions], Height: numbers[delay.Dimensions], Adjustment: numbers[delay.Dimensions+1],
		Error: float64(ppm) / millionth,
	}
	if !plausible(&p.coordinate) {
		// The token is right, so the round trip counts; only what was said about the place does not.
		p.coordinate = delay.Coordinate{}
	}
	return p, nil
}

// plausible tells whether a coordinate is one that can come from measuring round-trip times: one bad coordinate would
// draw all that believe it after it.
func plausible(c *delay.Coordinate) bool {
	for _, component := range c.Vector {
		if component < -delay.MaxDelay || component > delay.MaxDelay {
			return false
		}
	}
	return len(c.Vector) == delay.Dimensions && c.Height >= 0 && c.Height <= delay.MaxDelay &&
		c.Adjustment >= -delay.MaxDelay && c.Adjustment <= delay.MaxDelay && c.Error > 0 && c.Error <= maxError
}

func mac(data, key []byte) []byte {
	h := hmac.New(sha256.New, key)
	h.Write(data)
	return h.Sum(nil)[:macBytes]
}
