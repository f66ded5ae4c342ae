package schedconfig

import (
	"fmt"
	"slices"

	"sigs.k8s.io/yaml"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/input/faults"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/policy"
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
	weights := map[string]int64{}
	var names []string
	sets := map[string]any{}
	for _, at := range p.points() {
		if at.name == "bind" || at.name == "queueSort" {
			continue
		}
		for _, enabled := range at.set.Enabled {
			name := today(enabled.Name)
			if name == "" {
				list.Warn(c.doc.At(c.profilePath(index, "plugins", at.name)...), "Kubernetes has no plugin %s any more, ignored", enabled.Name)
				continue
			}
			if !slices.Contains(names, name) && (name != policy.Simon || at.name == "score") {
				names = append(names, name)
			}
			weights[name] = max(weights[name], enabled.Weight)
		}
		var disabled []plugin
		for _, d := range at.set.Disabled {
			if name := today(d.Name); name != "" {
				disabled = append(disabled, plugin{Name: name})
			}
		}
		if len(disabled) > 0 {
			sets[at.name] = pluginSet{Disabled: disabled}
		}
	}
	all := pluginSet{Disabled: p.MultiPoint.Disabled}
	for _, name := range names {
		all.Enabled = append(all.Enabled, plugin{Name: name, Weight: weights[name]})
	}
	sets["multiPoint"] = all
	return sets
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
