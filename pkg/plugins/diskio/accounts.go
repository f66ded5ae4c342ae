package diskio

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	corelisters "k8s.io/client-go/listers/core/v1"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	"github.com/vicinity-scheduler/vicinity/pkg/blockio"
)

// Models knows what disks make of requests. Its methods may be called from any goroutine.
type Models interface {
	// Model returns the model of a kind of disk, never nil.
	Model(kind blockio.Kind) blockio.Model
	// Generation changes whenever some kind gets another model.
	Generation() uint64
}

// Accounts works out what pods take from disks. The plugin uses it, and whoever wants to show what the plugin counts.
// Its methods may be called from any goroutine.
type Accounts struct {
	models     Models
	claims     corelisters.PersistentVolumeClaimLister
	volumes    corelisters.PersistentVolumeLister
	whiteList  []string
	bestEffort blockio.Demand
	parsed     memo[annotationKey, wish]
	demands    memo[demandKey, blockio.Demand]
}

// NewAccounts returns accounts under these arguments, which are valid and have their defaults. Volumes are found by
// their claims.
func NewAccounts(args *configv1.DiskIOArgs, models Models, claims corelisters.PersistentVolumeClaimLister,
	volumes corelisters.PersistentVolumeLister,
) *Accounts {
	return &Accounts{
		models: models, claims: claims, volumes: volumes, whiteList: args.NSWhiteList,
		bestEffort: blockio.BestEffort(blockio.BytesPerSecond(args.BestEffortMinimum)),
	}
}

// Use is what pods take from one disk.
type Use struct {
	// Requested is what all of them take.
	Requested blockio.Demand
	// Unseen is the part of those that the report on the disk does not contain.
	Unseen blockio.Demand
}

// Charge adds what a pod that is on a node takes from each of its disks to uses, which are indexed like the disks. A pod
// whose annotation cannot be read, or to which the model does not apply, was placed by somebody who did not look: it is
// charged the minimum.
func (a *Accounts) Charge(uses []Use, pod *corev1.Pod, disks *blockio.Node) {
	if a.listed(pod) {
		return
	}
	w, err := a.wishOf(pod)
	if err != nil {
		w.targets = []target{{}}
	}
	_, seen := disks.Seen[string(pod.UID)]
	for _, t := range w.targets {
		disk := disks.DiskAt(t.path)
		if disk < 0 {
			continue
		}
		demand, use := a.taken(t.requests, disks.Disks[disk].Kind), &uses[disk]
		use.Requested = use.Requested.Add(demand)
		if !seen {
			use.Unseen = use.Unseen.Add(demand)
		}
	}
}

// listed reports that the pod's namespace is not looked at.
func (a *Accounts) listed(pod *corev1.Pod) bool { return slices.Contains(a.whiteList, pod.Namespace) }
