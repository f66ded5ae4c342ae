package diskio

import (
	corev1 "k8s.io/api/core/v1"

	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
	"github.com/vicinity-scheduler/vicinity/pkg/blockio"
)

// requestsOf turns the parsed annotation into requests.
func requestsOf(demands []vicinityv1alpha1.BlockIODemand) []blockio.Request {
	requests := make([]blockio.Request, len(demands))
	for i, d := range demands {
		requests[i] = blockio.Request{
			Read:       blockio.BytesPerSecond(d.ReadBytesPerSecond),
			Write:      blockio.BytesPerSecond(d.WriteBytesPerSecond),
			ReadBlock:  blockio.Bytes(d.ReadBlockSize),
			WriteBlock: blockio.Bytes(d.WriteBlockSize),
			IOPS:       blockio.IOPS{Read: blockio.PerSecond(d.ReadIOPS), Write: blockio.PerSecond(d.WriteIOPS)},
		}
	}
	return requests
}

// normalized returns what requests take from a disk of the kind together. Requests come from a pod's annotation; no
// requests are best effort, which no model applies to.
func (pl *DiskIO) normalized(requests []blockio.Request, kind blockio.Kind) (blockio.Demand, error) {
	if len(requests) == 0 {
		return pl.bestEffort, nil
	}
	var sum blockio.Demand
	model := pl.models.Model(kind)
	for _, request := range requests {
		demand, err := model.Normalize(request)
		if err != nil {
			return blockio.Demand{}, err
		}
		sum = sum.Add(demand)
	}
	return sum, nil
}

// demandOf returns what a pod that is on a node takes from its disk. A pod whose annotation cannot be read, or to which
// the model does not apply, was placed by somebody who did not look: it is charged the minimum.
func (pl *DiskIO) demandOf(pod *corev1.Pod, kind blockio.Kind) blockio.Demand {
	if pl.listed(pod) {
		return blockio.Demand{}
	}
	demands, _, err := vicinityv1alpha1.BlockIOOf(pod.Annotations)
	if err != nil {
		return pl.bestEffort
	}
	demand, err := pl.normalized(requestsOf(demands), kind)
	if err != nil {
		return pl.bestEffort
	}
	return demand
}
