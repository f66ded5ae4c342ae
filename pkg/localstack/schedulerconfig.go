package localstack

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// DefaultSchedulerName is the profile that pods of scenarios ask for.
const DefaultSchedulerName = "vicinity-scheduler"

// CompatSchedulerNames are the profiles under which pods of the predecessors ask for their scheduler.
func CompatSchedulerNames() []string {
	return []string{"scheduler-plugins-scheduler", "diskio-aware-scheduler", "sniffer", "custom-scheduler"}
}

// SchedulerConfig is a KubeSchedulerConfiguration as a YAML map. It is not decoded into Kubernetes' type because
// encoding that again writes zero values for everything that the file leaves to the scheduler's defaults.
type SchedulerConfig struct {
	content map[string]any
}

// PluginSetting changes one plugin of a profile. Zero values change nothing.
type PluginSetting struct {
	// Name is the plugin's name.
	Name string
	// Weight multiplies its scores.
	Weight int32
	// Disabled takes it out of the profile.
	Disabled bool
	// Args replaces its arguments.
	Args map[string]any
	// Points are the extension points that it is enabled at, instead of all that it has.
	Points []string
}

// ParseSchedulerConfig reads a KubeSchedulerConfiguration. What it says is checked by the scheduler itself.
func ParseSchedulerConfig(data []byte) (SchedulerConfig, error) {
	content := map[string]any{}
	if err := yaml.UnmarshalStrict(data, &content); err != nil {
		return SchedulerConfig{}, fmt.Errorf("reading the scheduler configuration: %w", err)
	}
	if kind := content["kind"]; kind != "KubeSchedulerConfiguration" {
		return SchedulerConfig{}, fmt.Errorf("reading the scheduler configuration: want kind KubeSchedulerConfiguration, found %q", kind)
	}
	return SchedulerConfig{content: content}, nil
}

// Clone returns a configuration that can be changed independently.
func (c SchedulerConfig) Clone() SchedulerConfig {
	return SchedulerConfig{content: runtime.DeepCopyJSON(c.content)}
}

// YAML is the file's content.
func (c SchedulerConfig) YAML() ([]byte, error) {
	return yaml.Marshal(c.content)
}

// SetKubeconfig makes the scheduler use the kubeconfig at path unless the configuration names one already.
func (c SchedulerConfig) SetKubeconfig(path string) error {
	connection, err := child(c.content, "clientConnection")
	if err != nil {
		return err
	}
	if present, _ := connection["kubeconfig"].(string); present == "" {
		connection["kubeconfig"] = path
	}
	return nil
}

// ProfileNames are the scheduler names that pods can ask for.
func (c SchedulerConfig) ProfileNames() []string {
	var names []string
	for _, profile := range listOfMaps(c.content["profiles"]) {
		if name, _ := profile["schedulerName"].(string); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// AddCompatProfiles adds a copy of the default profile under each of the predecessors' names that is not there yet.
func (c SchedulerConfig) AddCompatProfiles() error {
	profile, err := c.defaultProfile()
	if err != nil {
		return err
	}
	profiles, present := c.content["profiles"].([]any), c.ProfileNames()
	for _, name := range CompatSchedulerNames() {
		if slices.Contains(present, name) {
			continue
		}
		twin := runtime.DeepCopyJSON(profile)
		twin["schedulerName"] = name
		profiles = append(profiles, twin)
	}
	c.content["profiles"] = profiles
	return nil
}

// SetPlugin changes a plugin of the default profile.
func (c SchedulerConfig) SetPlugin(setting PluginSetting) error {
	profile, err := c.defaultProfile()
	if err != nil {
		return err
	}
	if setting.Args != nil {
		setArgs(profile, setting.Name, setting.Args)
	}
	if setting.Weight == 0 && !setting.Disabled && setting.Points == nil {
		return nil
	}
	plugins, err := child(profile, "plugins")
	if err != nil {
		return err
	}
	multiPoint, err := child(plugins, "multiPoint")
	if err != nil {
		return err
	}
	entry := map[string]any{"name": setting.Name}
	if setting.Disabled {
		remove(multiPoint, "enabled", setting.Name)
		replace(multiPoint, "disabled", entry)
		return nil
	}
	if setting.Weight != 0 {
		entry["weight"] = int64(setting.Weight)
	}
	if setting.Points == nil {
		replace(multiPoint, "enabled", entry)
		return nil
	}
	remove(multiPoint, "enabled", setting.Name)
	return enableAt(plugins, setting.Points, entry)
}

// enableAt enables a plugin at some extension points by name.
func enableAt(plugins map[string]any, points []string, entry map[string]any) error {
	for _, name := range points {
		point, err := child(plugins, name)
		if err != nil {
			return err
		}
		replace(point, "enabled", runtime.DeepCopyJSON(entry))
	}
	return nil
}

func (c SchedulerConfig) defaultProfile() (map[string]any, error) {
	for _, profile := range listOfMaps(c.content["profiles"]) {
		if profile["schedulerName"] == DefaultSchedulerName {
			return profile, nil
		}
	}
	return nil, fmt.Errorf("the scheduler configuration has no profile with schedulerName %q, only %q", DefaultSchedulerName, c.ProfileNames())
}

func setArgs(profile map[string]any, plugin string, args map[string]any) {
	replace(profile, "pluginConfig", map[string]any{"name": plugin, "args": runtime.DeepCopyJSON(args)})
}

// replace puts entry in the place of the list's entry of the same name, else at its end.
func replace(parent map[string]any, key string, entry map[string]any) {
	list, _ := parent[key].([]any)
	for i, other := range listOfMaps(parent[key]) {
		if other["name"] == entry["name"] {
			list[i] = entry
			return
		}
	}
	parent[key] = append(list, entry)
}

func remove(parent map[string]any, key, name string) {
	list, _ := parent[key].([]any)
	parent[key] = slices.DeleteFunc(list, func(other any) bool {
		entry, _ := other.(map[string]any)
		return entry["name"] == name
	})
}

// child returns the map under key and creates it when it is absent.
func child(parent map[string]any, key string) (map[string]any, error) {
	switch value := parent[key].(type) {
	case nil:
		created := map[string]any{}
		parent[key] = created
		return created, nil
	case map[string]any:
		return value, nil
	default:
		return nil, fmt.Errorf("the scheduler configuration has a %T under %q; want a map", value, key)
	}
}

// listOfMaps returns the list's entries, nil for those that are not maps, so that indexes stay the same.
func listOfMaps(value any) []map[string]any {
	list, _ := value.([]any)
	maps := make([]map[string]any, len(list))
	for i, entry := range list {
		maps[i], _ = entry.(map[string]any)
	}
	return maps
}
