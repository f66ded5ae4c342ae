package sniffer

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/tools/cache"
	fwk "k8s.io/kube-scheduler/framework"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	"github.com/vicinity-scheduler/vicinity/pkg/trace"
)

// Name is the plugin's name in scheduler configurations.
const Name = "Sniffer"

// Sniffer implements the scheduler plugin.
type Sniffer struct {
	profile *Profile
}

var (
	_ fwk.ReservePlugin     = (*Sniffer)(nil)
	_ fwk.PostBindPlugin    = (*Sniffer)(nil)
	_ fwk.EnqueueExtensions = (*Sniffer)(nil)
)

// New builds the plugin for one profile, which makes that profile one that the recorder records.
func New(obj runtime.Object, handle fwk.Handle, recorder *Recorder) (*Sniffer, error) {
	args, ok := obj.(*configv1.SnifferArgs)
	if !ok {
		return nil, fmt.Errorf("arguments of plugin %s: want *SnifferArgs, found %T", Name, obj)
	}
	if err := configv1.ValidateSnifferArgs(field.NewPath("pluginConfig").Key(Name).Child("args"), args); err != nil {
		return nil, fmt.Errorf("arguments of plugin %s: %w", Name, err)
	}
	profile, err := recorder.addProfile(handle.ProfileName(), args)
	if err != nil {
		return nil, fmt.Errorf("arguments of plugin %s: %w", Name, err)
	}
	return &Sniffer{profile: profile}, nil
}

// WatchPods connects the recorder with the pods' informer, where it sees who was preempted. It is called once.
func (r *Recorder) WatchPods(informer cache.SharedIndexInformer) error {
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		UpdateFunc: func(_, obj any) {
			if pod, ok := obj.(*corev1.Pod); ok {
				r.podChanged(pod)
			}
		},
		DeleteFunc: func(obj any) {
			if missed, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				obj = missed.Obj
			}
			if pod, ok := obj.(*corev1.Pod); ok {
				r.podDeleted(pod)
			}
		},
	})
	if err != nil {
		return fmt.Errorf("watching pods for plugin %s: %w", Name, err)
	}
	return nil
}

// Name returns the plugin's name.
func (pl *Sniffer) Name() string { return Name }

// EventsToRegister returns none: no event makes a pod schedulable that this plugin rejected, for it rejects none.
func (pl *Sniffer) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	return nil, nil
}

// Reserve notes the node. A reservation outside of a pod group's trial is the one that is carried out.
func (pl *Sniffer) Reserve(_ context.Context, state fwk.CycleState, _ *corev1.Pod, node string) *fwk.Status {
	if a := Of(state); a != nil {
		a.node = node
		if !state.IsPodGroupSchedulingCycle() && a.Tentative {
			pl.profile.recorder.commit(a)
		}
	}
	return nil
}

// Unreserve notes that the node was given back. Which stage failed, if one did, is known already.
func (pl *Sniffer) Unreserve(_ context.Context, state fwk.CycleState, _ *corev1.Pod, _ string) {
	if a := Of(state); a != nil && a.undo.Stage == "" {
		a.undo = trace.Undo{Stage: "Trial"}
	}
}

// PostBind ends the attempt.
func (pl *Sniffer) PostBind(_ context.Context, state fwk.CycleState, _ *corev1.Pod, _ string) {
	if a := Of(state); a != nil {
		pl.profile.recorder.bound(a)
	}
}
