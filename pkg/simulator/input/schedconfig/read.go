package schedconfig

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/input/faults"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/input/manifests"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/policy"
)

const (
	group = "kubescheduler.config.k8s.io/"
	kind  = "KubeSchedulerConfiguration"
	// current is the version that Kubernetes has.
	current = "v1"
)

// versions that can be read, newest first.
func versions() []string { return []string{current, "v1beta3", "v1beta2", "v1beta1"} }

// Parse reads a configuration. The result is nil if there is none that could be looked at.
func Parse(file string, data []byte, list *faults.List) *Config {
	found, doc := manifests.Single[content](file, data, list)
	if found == nil {
		return nil
	}
	c := &Config{File: file, content: *found, doc: doc, raw: data}
	if version, ok := strings.CutPrefix(found.APIVersion, group); !ok || !slices.Contains(versions(), version) || found.Kind != kind {
		list.Add(doc.At("apiVersion"), "want apiVersion %s with version %s, and kind %s; found %q and %q",
			group, strings.Join(versions(), ", "), kind, found.APIVersion, found.Kind)
		return nil
	}
	if len(found.Profiles) == 0 {
		list.Add(doc.At("profiles"), "want at least one profile, found none")
		return nil
	}
	if len(found.Extenders) > 0 {
		list.Warn(doc.At("extenders"), "extenders are not called")
	}
	c.replaceService(list)
	for i := range found.Profiles {
		c.check(i, list)
	}
	return c
}

// isOld says whether Kubernetes cannot read the configuration any more.
func (c *Config) isOld() bool { return c.content.APIVersion != group+current }

func (c *Config) profilePath(profile int, path ...string) []string {
	return append([]string{"profiles", strconv.Itoa(profile)}, path...)
}

func (c *Config) check(index int, list *faults.List) {
	p := &c.content.Profiles[index]
	for _, at := range p.Plugins.points() {
		if c.isOld() && at.name == "multiPoint" && len(at.set.Enabled)+len(at.set.Disabled) > 0 && c.content.APIVersion == group+"v1beta1" {
			list.Warn(c.doc.At(c.profilePath(index, "plugins", at.name)...), "v1beta1 did not know this extension point; it counts here")
		}
		seen := map[string]bool{}
		for i, enabled := range at.set.Enabled {
			path := c.profilePath(index, "plugins", at.name, "enabled", strconv.Itoa(i))
			switch {
			case enabled.Name == "":
				list.Add(c.doc.At(append(path, "name")...), "want the name of a plugin, found none")
			case seen[enabled.Name]:
				list.Add(c.doc.At(append(path, "name")...), "%s is enabled twice", enabled.Name)
			case enabled.Weight < 0 || enabled.Weight > mostWeight:
				list.Add(c.doc.At(append(path, "weight")...), "want a weight from 0, which means 1, to %d; found %d", mostWeight, enabled.Weight)
			}
			seen[enabled.Name] = true
		}
	}
	c.checkArgs(index, list)
}

// mostWeight keeps the sum of all plugins' scores within 64 bits.
const mostWeight = 1 << 31

func (c *Config) checkArgs(index int, list *faults.List) {
	seen := map[string]bool{}
	for i := range c.content.Profiles[index].PluginConfig {
		config := &c.content.Profiles[index].PluginConfig[i]
		path := c.profilePath(index, "pluginConfig", strconv.Itoa(i))
		if seen[config.Name] {
			list.Add(c.doc.At(append(path, "name")...), "%s is configured twice", config.Name)
		}
		seen[config.Name] = true
		if !isPredecessors(config.Name) {
			continue
		}
		for _, key := range []string{dimExtKey, normKey, deviceKey} {
			c.checkMethod(append(slices.Clip(path), "args", key), key, config.Args[key], list)
		}
		for key := range config.Args {
			if !slices.Contains([]string{dimExtKey, normKey, deviceKey}, key) {
				list.Warn(c.doc.At(append(slices.Clip(path), "args", key)...), "unknown key, ignored")
			}
		}
	}
}

func (c *Config) checkMethod(path []string, key string, value any, list *faults.List) {
	if value == nil {
		return
	}
	text, ok := value.(string)
	allowed := methodNames(key)
	if !ok || !slices.Contains(allowed, text) {
		list.Add(c.doc.At(path...), "want one of %s; found %q", strings.Join(allowed, ", "), fmt.Sprint(value))
	}
}

// serviceScore is the scorer of a fork of the predecessor. It asks a service for scores, whose net has random weights at
// each start; and in its authors' own configuration it fails on every pod.
const serviceScore = "RLSchedulerScore"

// replaceService lets a policy that works decide where the service would have been asked.
func (c *Config) replaceService(list *faults.List) {
	rename := func(name *string) {
		if *name == serviceScore {
			*name = policy.FGD
		}
	}
	for i := range c.content.Profiles {
		p := &c.content.Profiles[i]
		if !p.Plugins.enables(serviceScore) {
			continue
		}
		list.Warn(c.doc.At(c.profilePath(i, "plugins")...),
			"%s asks a service whose weights are random at each start; %s decides in its place", serviceScore, policy.FGD)
		for _, at := range p.Plugins.points() {
			for j := range at.set.Enabled {
				rename(&at.set.Enabled[j].Name)
			}
		}
		for j := range p.PluginConfig {
			rename(&p.PluginConfig[j].Name)
			if p.PluginConfig[j].Args[deviceKey] == serviceScore {
				p.PluginConfig[j].Args[deviceKey] = policy.FGD
			}
			// Of its own arguments none means anything to another policy.
			if p.PluginConfig[j].Name == policy.FGD {
				delete(p.PluginConfig[j].Args, "programPath")
			}
		}
	}
}
