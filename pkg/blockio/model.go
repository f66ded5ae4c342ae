package blockio

import "errors"

// Request is what a pod asks of one disk, in its own terms.
type Request struct {
	// Read and Write are bandwidths, in blocks of the sizes below.
	Read, Write BytesPerSecond
	// ReadBlock and WriteBlock are block sizes, above 0.
	ReadBlock, WriteBlock Bytes
	// IOPS are operations per second; 0 asks for none.
	IOPS IOPS
}

// Model turns requests into what they take from disks of one kind. Implementations may be called from any
// goroutine, and return the same demand for the same request.
type Model interface {
	// Normalize returns the demand of a request. An error means that the model does not apply to the request, for
	// example because the result is too large, and says why.
	Normalize(Request) (Demand, error)
}

// ErrTooLarge says that a demand exceeds what 64 bits can represent.
var ErrTooLarge = errors.New("the disk model yields a bandwidth above 2^63 bytes per second")

// Identity is the model of a disk on which a byte costs the same at every block size, and reading and writing at
// once cost their sum.
type Identity struct{}

var _ Model = Identity{}

// Normalize returns the request as it is. The error is nil.
func (Identity) Normalize(r Request) (Demand, error) {
	read, write := max(0, r.Read), max(0, r.Write)
	return Demand{Bandwidth: Bandwidth{Read: read, Write: write, Total: add(read, write)}, IOPS: r.IOPS}, nil
}

// DefaultBestEffort is the bandwidth, in each direction, that the predecessor charges a pod that asks for none:
// 5 MiB/s.
const DefaultBestEffort BytesPerSecond = 5 << 20

// BestEffort returns the demand of a pod that asks for nothing certain and is charged minimum in each direction.
func BestEffort(minimum BytesPerSecond) Demand {
	demand, _ := Identity{}.Normalize(Request{Read: minimum, Write: minimum})
	return demand
}
