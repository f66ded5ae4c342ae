package schedconfig

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/policy"
)

// GPUShare is the predecessor's plugin that filters by GPUs and chooses devices. It is part of every native policy.
const GPUShare = "Open-Gpu-Share"

// Keys of the predecessor's plugin arguments.
const (
	dimExtKey = "dimExtMethod"
	normKey   = "normMethod"
	deviceKey = "gpuSelMethod"
)

// native are the score plugins that have a native form.
func native() []string {
	return []string{
		policy.Random, policy.DotProduct, policy.GPUClustering, policy.GPUPacking, policy.BestFit, policy.FGD, policy.Simon,
		policy.MLP,
	}
}

// isPredecessors says whether the plugin has arguments as the predecessor's have. MLPScore has its own.
func isPredecessors(name string) bool {
	return name == GPUShare || name != policy.MLP && slices.Contains(native(), name)
}

// methodNames are the values of an argument.
func methodNames(key string) []string {
	switch key {
	case dimExtKey:
		return []string{"merge", "share", "divide", "extend"}
	case normKey:
		return []string{"node", "pod", "max"}
	default:
		return []string{
			string(policy.DeviceBest), string(policy.DeviceWorst), string(policy.DeviceRandom), policy.DotProduct, policy.FGD,
			policy.MLP,
		}
	}
}

// Native is the native policy that decides as the first profile does, or nil and the reason why there is none. The tie
// break is not part of a configuration and is left to the caller.
func (c *Config) Native() (decide *policy.Config, whyNot string) {
	p := &c.content.Profiles[0]
	if left := c.defaultScores(p); len(left) > 0 {
		return nil, fmt.Sprintf("%s of the default profile score, too, and are not disabled", strings.Join(left, ", "))
	}
	scorers := scorePlugins(p)
	var config policy.Config
	var names []string
	for _, s := range scorers {
		if !slices.Contains(native(), s.Name) {
			return nil, fmt.Sprintf("plugin %s has no native form", s.Name)
		}
		if s.Name == policy.MLP && !c.isOld() && !p.scoresByNetwork() {
			continue
		}
		m := p.methods(s.Name)
		config.Scorers = append(config.Scorers, policy.Scorer{Name: s.Name, Weight: max(s.Weight, 1), DimExt: m.dimExt, Norm: m.norm})
		names = append(names, shortName(s.Name))
	}
	if len(names) == 0 {
		return nil, "no score plugin is enabled"
	}
	config.Name = strings.Join(names, "+")
	config.Device = policy.DeviceMethod(p.methods(GPUShare).device)
	return &config, ""
}

// scorePlugins are those that the profile adds to the default ones.
func scorePlugins(p *profile) []plugin {
	var scorers []plugin
	for _, enabled := range slices.Concat(p.Plugins.MultiPoint.Enabled, p.Plugins.Score.Enabled) {
		if enabled.Name == GPUShare || slices.ContainsFunc(scorers, func(s plugin) bool { return s.Name == enabled.Name }) {
			continue
		}
		scorers = append(scorers, enabled)
	}
	return scorers
}

// defaultScores are the plugins of kube-scheduler's default profile that would have a say in the score.
func (c *Config) defaultScores(p *profile) []string {
	left := []string{
		"TaintToleration", "NodeAffinity", "PodTopologySpread", "InterPodAffinity", "NodeResourcesFit",
		"NodeResourcesBalancedAllocation", "ImageLocality",
	}
	if c.isOld() {
		left = append(left, nodePreferAvoidPods)
	}
	for _, disabled := range slices.Concat(p.Plugins.Score.Disabled, p.Plugins.MultiPoint.Disabled) {
		left = slices.DeleteFunc(left, func(name string) bool {
			return disabled.Name == "*" || disabled.Name == name || c.isOld() && today(disabled.Name) == name
		})
	}
	return left
}

// scoresByNetwork says whether MLPScore is in mode Active, which is not its default. Files of old versions do not know
// modes: there it scores when it is enabled.
func (p *profile) scoresByNetwork() bool {
	return slices.ContainsFunc(p.PluginConfig, func(config pluginConfig) bool {
		return config.Name == policy.MLP && config.Args["mode"] == "Active"
	})
}

func (p *profile) methods(name string) methods {
	for _, config := range p.PluginConfig {
		if config.Name != name {
			continue
		}
		text := func(key string) string {
			value, _ := config.Args[key].(string)
			return value
		}
		return methods{dimExt: text(dimExtKey), norm: text(normKey), device: text(deviceKey)}
	}
	return methods{}
}
