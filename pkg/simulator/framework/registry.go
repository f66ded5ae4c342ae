package framework

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"github.com/vicinity-scheduler/vicinity/pkg/plugins/cacheaware"
	"github.com/vicinity-scheduler/vicinity/pkg/plugins/diskio"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/policy"
)

// registry are the plugins beside kube-scheduler's own.
func (s *Scheduler) registry() frameworkruntime.Registry {
	registry := frameworkruntime.Registry{
		GPUShare: func(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) { return gpuShare{s}, nil },
	}
	for _, name := range policy.Names() {
		registry[name] = func(_ context.Context, args runtime.Object, _ fwk.Handle) (fwk.Plugin, error) {
			return newScorer(s, name, args)
		}
	}
	v := newVicinity(s.setup, s.rank)
	registry[cacheaware.Name] = v.cacheAware
	registry[diskio.Name] = v.diskIO
	return registry
}

// devicesOf is how a profile chooses devices.
func (s *Scheduler) devicesOf(profile *config.KubeSchedulerProfile) (*policy.Native, error) {
	var share methods
	var dot *methods
	for _, c := range profile.PluginConfig {
		if c.Name != GPUShare && c.Name != policy.DotProduct {
			continue
		}
		m, err := methodsOf(c.Args)
		if err != nil {
			return nil, err
		}
		if c.Name == GPUShare {
			share = m
		} else {
			dot = &m
		}
	}
	return newDevices(s.setup, share, dot)
}
