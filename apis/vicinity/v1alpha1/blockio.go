package v1alpha1

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

const (
	// MaxBlockIOBytes bounds the size, in bytes, of the value of BlockIOAnnotation.
	MaxBlockIOBytes = 16 << 10
	// MaxBlockIOVolumes bounds the number of volumes that one pod's annotation names.
	MaxBlockIOVolumes = 64
	// MaxBlockIORate is the largest rate that may be asked for: 1 PiB/s, or as many operations per second. It is far
	// above what any disk does, and the sum over all pods that fit on a node stays far below an overflow.
	MaxBlockIORate = 1 << 50
	// DefaultBlockIOSize is the block size, in bytes, of a demand that does not name one.
	DefaultBlockIOSize = 4 << 10
)

// BlockIODemand is what a pod asks of the disk behind one of its volumes. Zero means that nothing is asked for.
type BlockIODemand struct {
	// Volume is the name of a volume of the pod, or "" for the pod as a whole, whose disk is the node's default one.
	// Whether the pod has such a volume is not checked here.
	Volume string
	// ReadBytesPerSecond and WriteBytesPerSecond are bandwidths at the block sizes below.
	ReadBytesPerSecond, WriteBytesPerSecond int64
	// ReadIOPS and WriteIOPS are operations per second. They are Vicinity's extension.
	ReadIOPS, WriteIOPS int64
	// ReadBlockSize and WriteBlockSize are in bytes, one of 512, 1024, 4096, 8192, 16384 and 32768.
	ReadBlockSize, WriteBlockSize int64
}

// BlockIOOf returns what a pod with these annotations asks of disks. required tells that the pod has
// BlockIOAnnotation or BlockIOThroughputAnnotation: it wants a node that knows its disks, also when the value is
// empty and the pod therefore asks for no certain bandwidth. The error names the key.
func BlockIOOf(annotations map[string]string) (demands []BlockIODemand, required bool, err error) {
	value, required := annotations[BlockIOAnnotation]
	key := BlockIOAnnotation
	if other, ok := annotations[BlockIOThroughputAnnotation]; ok {
		if required && other != value {
			return nil, true, fmt.Errorf("annotations %q and %q: want one of them, found two different values",
				BlockIOAnnotation, BlockIOThroughputAnnotation)
		}
		value, key, required = other, BlockIOThroughputAnnotation, true
	}
	if !required {
		return nil, false, nil
	}
	if demands, err = ParseBlockIO(value); err != nil {
		return nil, true, fmt.Errorf("annotation %q: %w", key, err)
	}
	return demands, true, nil
}

// ParseBlockIO reads the value of BlockIOAnnotation or BlockIOThroughputAnnotation in any of its published forms.
//
// An empty value returns no demand: best effort.
//
// {"rbps":"30Mi","wbps":"20Mi","blockSize":"4k"} returns one demand without a volume. Names are matched without
// regard to case, since blockSize and blocksize are both in use. "riops" and "wiops" may stand beside them. Of
// these rates at least one must be given; the others are 0. blockSize is one of 512, 1k, 4k, 8k, 16k and 32k,
// where k and Ki are both 1024, and 4k when absent.
//
// {"<volume>":{"requests":{"rbps":"50Mi/4k","wbps":"50Mi/32k"},"limits":{...}}} returns one demand for each volume
// in the order written. What stands behind the slash is the block size, 4k when absent, in which k is decimal, and
// a final B is allowed: IOIsolation, where the form is from, calls 4000 bytes what the other form calls 4096. Here
// both mean the 4k of a device's model. As there, any size is legal and stands for the next smaller one of the
// list, or for 512 when there is none smaller. A rate that has a limit and no request asks for the limit, the rule
// of Kubernetes for containers; limits are not enforced.
//
// Rates are quantities, not negative, at most MaxBlockIORate; fractions are rounded up. Anything else, also a name
// that is unknown or repeated, is an error that says what is legal and what was found, in a text of bounded length.
func ParseBlockIO(value string) ([]BlockIODemand, error) {
	if len(value) > MaxBlockIOBytes {
		return nil, fmt.Errorf("want at most %d bytes, found %d", MaxBlockIOBytes, len(value))
	}
	if strings.TrimSpace(value) == "" {
		return nil, nil
	}
	members, err := jsonMembers([]byte(value))
	if err != nil {
		return nil, fmt.Errorf(`want a JSON object such as {"rbps":"30Mi","wbps":"20Mi","blockSize":"4k"}, found %s: %w`,
			quote(value), err)
	}
	for _, member := range members {
		if member.isObject() {
			return parseVolumes(members)
		}
	}
	demand, err := parseFlat(members)
	if err != nil {
		return nil, err
	}
	return []BlockIODemand{demand}, nil
}

func parseFlat(members []jsonMember) (BlockIODemand, error) {
	demand := BlockIODemand{ReadBlockSize: DefaultBlockIOSize, WriteBlockSize: DefaultBlockIOSize}
	rates, err := parseRates(members, func(member jsonMember) error {
		if !strings.EqualFold(member.name, "blockSize") {
			return fmt.Errorf("want rbps, wbps, riops, wiops or blockSize, or volumes, found %s", quote(member.name))
		}
		text, err := member.text()
		if err != nil {
			return err
		}
		size, err := blockSizeNamed(text)
		demand.ReadBlockSize, demand.WriteBlockSize = size, size
		return err
	})
	if err != nil {
		return BlockIODemand{}, err
	}
	for _, r := range rates {
		if r.sized {
			return BlockIODemand{}, fmt.Errorf("%s: want the block size in blockSize, found one behind a slash", r.name)
		}
	}
	if !rates.any() {
		return BlockIODemand{}, errors.New("want one of rbps, wbps, riops and wiops at least, found none")
	}
	rates.into(&demand)
	return demand, nil
}

func parseVolumes(members []jsonMember) ([]BlockIODemand, error) {
	demands := make([]BlockIODemand, 0, len(members))
	for _, member := range members {
		if !member.isObject() {
			return nil, fmt.Errorf("%s: want an object with requests and limits as the other volumes have, found %s",
				quote(member.name), quote(string(member.value)))
		}
		if len(validation.IsDNS1123Label(member.name)) > 0 {
			return nil, fmt.Errorf("want the name of a volume, found %s", quote(member.name))
		}
		demand, err := parseVolume(member)
		if err != nil {
			return nil, fmt.Errorf("volume %q: %w", member.name, err)
		}
		demands = append(demands, demand)
	}
	return demands, nil
}

// withLimits lets a limit stand for a request that is not given, as Kubernetes does for containers.
func withLimits(requests, limits blockIORates) (blockIORates, error) {
	for i, limit := range limits {
		switch request := requests[i]; {
		case limit.given && !request.given:
			requests[i] = limit
		case limit.given && limit.blockSize == request.blockSize && limit.perSecond < request.perSecond:
			return blockIORates{}, fmt.Errorf("%s: want a request of at most the limit %d, found %d",
				limit.name, limit.perSecond, request.perSecond)
		}
	}
	return requests, nil
}

func parseVolume(volume jsonMember) (BlockIODemand, error) {
	parts, err := jsonMembers(volume.value)
	if err != nil {
		return BlockIODemand{}, err
	}
	requests, limits := noBlockIORates(), noBlockIORates()
	for _, part := range parts {
		into := &requests
		switch part.name {
		case "requests":
		case "limits":
			into = &limits
		default:
			return BlockIODemand{}, fmt.Errorf("want requests or limits, found %s", quote(part.name))
		}
		if *into, err = parseRatesObject(part); err != nil {
			return BlockIODemand{}, fmt.Errorf("%s: %w", part.name, err)
		}
	}
	if !requests.any() && !limits.any() {
		return BlockIODemand{}, errors.New("want one of rbps, wbps, riops and wiops in requests or limits, found none")
	}
	if requests, err = withLimits(requests, limits); err != nil {
		return BlockIODemand{}, err
	}
	demand := BlockIODemand{
		Volume:        volume.name,
		ReadBlockSize: requests[readBytes].blockSize, WriteBlockSize: requests[writeBytes].blockSize,
	}
	requests.into(&demand)
	return demand, nil
}
