package framework

import (
	"errors"
	"fmt"
	"slices"

	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	schedulerscheme "k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/validation"
	"sigs.k8s.io/yaml"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/policy"
)

// GPUShare is the plugin that filters by GPUs and chooses devices.
const GPUShare = "Open-Gpu-Share"

// Decode reads a KubeSchedulerConfiguration (kubescheduler.config.k8s.io/v1) as kube-scheduler does, with its defaults
// and its checks, and makes what chooses devices part of every profile.
func Decode(text []byte) (*config.KubeSchedulerConfiguration, error) {
	object, kind, err := schedulerscheme.Codecs.UniversalDecoder().Decode(text, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("scheduler configuration: %w", err)
	}
	c, ok := object.(*config.KubeSchedulerConfiguration)
	if !ok {
		return nil, fmt.Errorf("scheduler configuration: expected a KubeSchedulerConfiguration, found %s", kind)
	}
	c.APIVersion = kind.GroupVersion().String()
	if err := validation.ValidateKubeSchedulerConfiguration(c); err != nil {
		return nil, fmt.Errorf("scheduler configuration: %w", err)
	}
	if len(c.Profiles) == 0 {
		return nil, errors.New("scheduler configuration: expected at least one profile, found none")
	}
	for i := range c.Profiles {
		addGPUShare(c.Profiles[i].Plugins)
	}
	c.Extenders = nil
	return c, nil
}

// lookEverywhere switches sampling off.
func lookEverywhere(c *config.KubeSchedulerConfiguration) {
	const all = 100
	c.PercentageOfNodesToScore = new(int32(all))
	for i := range c.Profiles {
		c.Profiles[i].PercentageOfNodesToScore = nil
	}
}

// addGPUShare enables the plugin where it has a say, unless the profile does so by name.
func addGPUShare(plugins *config.Plugins) {
	isIt := func(p config.Plugin) bool { return p.Name == GPUShare }
	off := func(p config.Plugin) bool { return p.Name == GPUShare || p.Name == "*" }
	plugins.Filter.Disabled = slices.DeleteFunc(plugins.Filter.Disabled, isIt)
	multi := slices.ContainsFunc(plugins.MultiPoint.Enabled, isIt) && !slices.ContainsFunc(plugins.Filter.Disabled, off)
	if !multi && !slices.ContainsFunc(plugins.Filter.Enabled, isIt) {
		plugins.Filter.Enabled = append(plugins.Filter.Enabled, config.Plugin{Name: GPUShare})
	}
}

// ConfigFor is a configuration with which the framework decides as the native policy does: nothing but the policy
// scores, and every node is looked at.
func ConfigFor(native *policy.Config) ([]byte, error) {
	type named struct {
		Name   string `json:"name"`
		Weight int64  `json:"weight,omitempty"`
	}
	type arguments struct {
		Name string            `json:"name"`
		Args map[string]string `json:"args"`
	}
	var enabled []named
	var args []arguments
	for i := range native.Scorers {
		s := &native.Scorers[i]
		enabled = append(enabled, named{s.Name, s.Weight})
		if s.DimExt != "" || s.Norm != "" {
			args = append(args, arguments{s.Name, map[string]string{dimExtKey: s.DimExt, normKey: s.Norm}})
		}
	}
	args = append(args, arguments{GPUShare, map[string]string{
		deviceKey: string(native.Device), dimExtKey: native.DeviceDimExt, normKey: native.DeviceNorm,
	}})
	all := map[string]any{"disabled": []named{{Name: "*"}}, "enabled": enabled}
	text, err := yaml.Marshal(map[string]any{
		"apiVersion":               "kubescheduler.config.k8s.io/v1",
		"kind":                     "KubeSchedulerConfiguration",
		"percentageOfNodesToScore": 100,
		"profiles": []any{map[string]any{
			"schedulerName": "default-scheduler",
			"plugins":       map[string]any{"preScore": all, "score": all},
			"pluginConfig":  args,
		}},
	})
	if err != nil {
		return nil, fmt.Errorf("writing the configuration of policy %s: %w", native.Title(), err)
	}
	return text, nil
}
