package schedconfig

import (
	"fmt"
	"slices"

	"sigs.k8s.io/yaml"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/input/faults"
)

const nodePreferAvoidPods = "NodePreferAvoidPods"

// today is the present name of a plugin of the old versions; empty if it is gone.
func today(name string) string {
	switch name {
	case "NodeResourcesLeastAllocated", "NodeResourcesMostAllocated", "RequestedToCapacityRatio":
		return "NodeResourcesFit"
	case nodePreferAvoidPods, "NodeLabel", "ServiceAffinity", "SelectorSpread":
		return ""
	default:
		return name
	}
}

// V1 is the configuration as the real scheduling framework reads it. What cannot be kept of an older one goes to list.
func (c *Config) V1(list *faults.List) ([]byte, error) {
	if !c.isOld() {
		return c.raw, nil
	}
	type outProfile struct {
		SchedulerName string         `json:"schedulerName,omitempty"`
		Plugins       map[string]any `json:"plugins"`
		PluginConfig  []pluginConfig `json:"pluginConfig,omitempty"`
	}
	out := struct {
		APIVersion               string       `json:"apiVersion"`
		Kind                     string       `json:"kind"`
		PercentageOfNodesToScore *int32       `json:"percentageOfNodesToScore,omitempty"`
		Profiles                 []outProfile `json:"profiles"`
	}{APIVersion: group + current, Kind: kind, PercentageOfNodesToScore: c.content.PercentageOfNodesToScore}
	for i := range c.content.Profiles {
		p := &c.content.Profiles[i]
		rewritten := outProfile{SchedulerName: p.SchedulerName, Plugins: c.rewrite(i, list)}
		for _, config := range p.PluginConfig {
			if today(config.Name) == config.Name {
				rewritten.PluginConfig = append(rewritten.PluginConfig, config)
			}
		}
		out.Profiles = append(out.Profiles, rewritten)
	}
	text, err := yaml.Marshal(out)
	if err != nil {
		return nil, fmt.Errorf("rewriting %s for version %s: %w", c.File, current, err)
	}
	return text, nil
}

// rewrite enables each plugin at all of its points at once, and keeps what is disabled where it is. Binding is left out:
// a simulation does not bind.
func (c *Config) rewrite(index int, list *faults.List) map[string]any {
	p := &c.content.Profiles[index].Plugins
	all := pluginSet{Disabled: p.MultiPoint.Disabled}
	sets := map[string]any{}
	for _, at := range p.points() {
		if at.name == "bind" || at.name == "queueSort" {
			continue
		}
		for _, enabled := range at.set.Enabled {
			if today(enabled.Name) == "" {
				path := c.profilePath(index, "plugins", at.name)
				list.Warn(c.doc.At(path...), "Kubernetes has no plugin %s any more, ignored", enabled.Name)
				continue
			}
			all.enable(plugin{Name: today(enabled.Name), Weight: enabled.Weight})
		}
		if disabled := renamed(at.set.Disabled); len(disabled) > 0 && at.name != "multiPoint" {
			sets[at.name] = pluginSet{Disabled: disabled}
		}
	}
	sets["multiPoint"] = all
	return sets
}

// enable adds a plugin, or its weight if it is there already.
func (s *pluginSet) enable(added plugin) {
	for i := range s.Enabled {
		if s.Enabled[i].Name == added.Name {
			s.Enabled[i].Weight = max(s.Enabled[i].Weight, added.Weight)
			return
		}
	}
	s.Enabled = append(s.Enabled, added)
}

// renamed leaves out plugins that are gone.
func renamed(plugins []plugin) []plugin {
	var kept []plugin
	for _, p := range plugins {
		if name := today(p.Name); name != "" {
			kept = append(kept, plugin{Name: name})
		}
	}
	return kept
}

// Profiles are the names of the configuration's schedulers.
func (c *Config) Profiles() []string {
	var names []string
	for i := range c.content.Profiles {
		names = append(names, c.content.Profiles[i].SchedulerName)
	}
	return names
}

// Uses says whether any profile enables the plugin.
func (c *Config) Uses(plugin string) bool {
	return slices.ContainsFunc(c.content.Profiles, func(p profile) bool { return p.Plugins.enables(plugin) })
}
