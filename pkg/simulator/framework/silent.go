package framework

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/vicinity-scheduler/vicinity/pkg/plugins/sniffer"
)

// silent takes the place of Sniffer: it has no say in decisions, and a simulation's are none that anybody should record
// as those of a cluster.
type silent struct{}

var _ fwk.PostBindPlugin = silent{}

func newSilent(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) { return silent{}, nil }

// Name returns the name of the plugin that it stands for.
func (silent) Name() string { return sniffer.Name }

// PostBind is never called, as nothing binds.
func (silent) PostBind(context.Context, fwk.CycleState, *corev1.Pod, string) {}
