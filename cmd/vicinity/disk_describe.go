package main

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	"github.com/vicinity-scheduler/vicinity/pkg/blockio"
	"github.com/vicinity-scheduler/vicinity/pkg/plugins/diskio"
)

// diskList is what -o json and -o yaml print. Programs read it: fields may be added, but keep name and meaning.
type diskList struct {
	// Time is when the cluster was read, by this machine's clock.
	Time time.Time `json:"time"`
	// StaleAfterSeconds is the age beyond which a report does not count.
	StaleAfterSeconds float64 `json:"staleAfterSeconds"`
	// BestEffortMinimum is what pods without an annotation are charged in each direction, in bytes per second.
	BestEffortMinimum int64 `json:"bestEffortMinimum"`
	// NSWhiteList names the namespaces whose pods are charged nothing.
	NSWhiteList []string   `json:"nsWhiteList,omitempty"`
	Items       []nodeView `json:"items"`
}

// nodeView is a node whose disks are described.
type nodeView struct {
	Node  string     `json:"node"`
	Disks []diskView `json:"disks"`
}

// diskView is one disk.
type diskView struct {
	ID string `json:"id"`
	// Default says that images, container layers and emptyDir volumes are on the disk.
	Default     bool     `json:"default"`
	MountPoints []string `json:"mountPoints,omitempty"`
	Vendor      string   `json:"vendor,omitempty"`
	Model       string   `json:"model,omitempty"`
	// RequestModel says how requests became what they take: by a model that was Loaded, or by Identity.
	RequestModel string `json:"requestModel"`
	// Capacity is what the idle disk can do.
	Capacity rates `json:"capacity"`
	// Requested is what the pods on the node take together.
	Requested rates `json:"requested"`
	// Free is what is left for other pods.
	Free   rates      `json:"free"`
	Report reportView `json:"report"`
	// Pods take something of the disk, in the order of their names.
	Pods []podView `json:"pods"`
}

// reportView is what was measured of a disk.
type reportView struct {
	// State is None, Stale or Fresh. Only a fresh report counts.
	State string `json:"state"`
	// Free is what the report says is free, absent without a report.
	Free *rates `json:"free,omitempty"`
	// ObservedAt and AgeSeconds are absent when the report does not tell its time; then it does not become stale.
	ObservedAt time.Time `json:"observedAt,omitzero"`
	AgeSeconds *float64  `json:"ageSeconds,omitempty"`
	// Pressure, from 0 to 1, is absent when it is not known.
	Pressure *float64 `json:"pressure,omitempty"`
}

// rates are bandwidths in bytes per second, and operations per second where they are known.
type rates struct {
	ReadBytesPerSecond  int64  `json:"readBytesPerSecond"`
	WriteBytesPerSecond int64  `json:"writeBytesPerSecond"`
	TotalBytesPerSecond int64  `json:"totalBytesPerSecond"`
	ReadIOPS            *int64 `json:"readIOPS,omitempty"`
	WriteIOPS           *int64 `json:"writeIOPS,omitempty"`
}

// podView is a pod and what it takes from one disk.
type podView struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid"`
	Requested rates  `json:"requested"`
	// InReport says that what was measured contains what the pod does.
	InReport bool `json:"inReport"`
}

// describeDisks says of each node's disks what the scheduler would see at the time now.
func describeDisks(cluster *diskCluster, nodes []string, now time.Time, args *configv1.DiskIOArgs) diskList {
	list := diskList{
		Time: now.UTC().Truncate(time.Second), StaleAfterSeconds: args.StaleAfter.Seconds(),
		BestEffortMinimum: args.BestEffortMinimum, NSWhiteList: args.NSWhiteList, Items: make([]nodeView, 0, len(nodes)),
	}
	for _, name := range nodes {
		disks := cluster.disks.Disks(name)
		if disks == nil {
			continue
		}
		uses := make([]diskio.Use, len(disks.Disks))
		view := nodeView{Node: name, Disks: make([]diskView, len(disks.Disks))}
		for _, pod := range sortedPods(cluster.pods[name]) {
			cluster.accounts.Charge(uses, pod, disks)
			addPod(view.Disks, cluster.accounts, pod, disks)
		}
		for i := range disks.Disks {
			describeDisk(&view.Disks[i], cluster, disks, i, uses[i], now, args.StaleAfter.Duration)
		}
		list.Items = append(list.Items, view)
	}
	return list
}

func sortedPods(pods []*corev1.Pod) []*corev1.Pod {
	return slices.SortedFunc(slices.Values(pods), func(a, b *corev1.Pod) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
}

// addPod adds the pod to the disks that it takes something of.
func addPod(views []diskView, accounts *diskio.Accounts, pod *corev1.Pod, disks *blockio.Node) {
	uses := make([]diskio.Use, len(disks.Disks))
	accounts.Charge(uses, pod, disks)
	for i, use := range uses {
		if use == (diskio.Use{}) {
			continue
		}
		views[i].Pods = append(views[i].Pods, podView{
			Namespace: pod.Namespace, Name: pod.Name, UID: string(pod.UID),
			Requested: demanded(use.Requested), InReport: use.Unseen == blockio.Demand{},
		})
	}
}

func describeDisk(view *diskView, cluster *diskCluster, disks *blockio.Node, i int, use diskio.Use, now time.Time,
	staleAfter time.Duration,
) {
	disk := &disks.Disks[i]
	device := disks.Device(disk, now, staleAfter)
	view.ID, view.Default, view.MountPoints = disk.ID, i == disks.Default, disk.Mounts
	view.Vendor, view.Model, view.RequestModel = disk.Kind.Vendor, disk.Kind.Model, cluster.models.name(disk.Kind)
	view.Capacity, view.Requested = supplied(disk.Capacity), demanded(use.Requested)
	view.Free = supplied(device.Free(use.Requested, use.Unseen))
	if view.Pods == nil {
		view.Pods = []podView{}
	}
	view.Report.State = device.Report.State.String()
	if device.Report.State == blockio.NoReport {
		return
	}
	view.Report.Free = new(supplied(device.Report.Free))
	if !disks.ObservedAt.IsZero() {
		view.Report.ObservedAt = disks.ObservedAt
		view.Report.AgeSeconds = new(max(0, now.Sub(disks.ObservedAt)).Truncate(time.Second).Seconds())
	}
	if device.Report.HasPressure {
		view.Report.Pressure = &device.Report.Pressure
	}
}

func supplied(s blockio.Supply) rates {
	r := bandwidth(s.Bandwidth)
	if s.HasIOPS {
		r.ReadIOPS, r.WriteIOPS = new(int64(s.IOPS.Read)), new(int64(s.IOPS.Write))
	}
	return r
}

func demanded(d blockio.Demand) rates {
	r := bandwidth(d.Bandwidth)
	if d.IOPS != (blockio.IOPS{}) {
		r.ReadIOPS, r.WriteIOPS = new(int64(d.IOPS.Read)), new(int64(d.IOPS.Write))
	}
	return r
}

func bandwidth(b blockio.Bandwidth) rates {
	return rates{ReadBytesPerSecond: int64(b.Read), WriteBytesPerSecond: int64(b.Write), TotalBytesPerSecond: int64(b.Total)}
}
