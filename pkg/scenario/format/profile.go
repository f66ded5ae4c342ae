package format

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Profile is what a scenario changes in the scheduler's default profile.
type Profile struct {
	// Plugins are settings by plugin name, the bundle's own plugins and those of kube-scheduler alike.
	Plugins map[string]PluginSettings `json:"plugins"`
}

// PluginSettings changes one plugin of the default profile. What is absent stays as it is.
type PluginSettings struct {
	// Weight multiplies the plugin's scores.
	Weight int32 `json:"weight"`
	// Disabled takes the plugin out of the profile.
	Disabled bool `json:"disabled"`
	// Args replaces the plugin's arguments.
	Args map[string]any `json:"args"`
	// Points are the extension points that the plugin is enabled at, such as score, instead of all that it has.
	Points []string `json:"points"`
}

// IsDefault says whether the scheduler can run the scenario without being restarted with another profile.
func (p Profile) IsDefault() bool { return len(p.Plugins) == 0 }

// Key is equal for equal profiles, and empty for the default one.
func (p Profile) Key() string {
	if p.IsDefault() {
		return ""
	}
	// Marshalling sorts the keys of maps. It cannot fail since the profile has just been read from JSON.
	text, err := json.Marshal(p)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// NamesFolder says whether the profile has the scenario's working folder in it. The scheduler then runs for this scenario
// only.
func (p Profile) NamesFolder() bool { return strings.Contains(p.Key(), Folder) }

func (p Profile) validate(path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(p.Plugins)) {
		errs = append(errs, p.Plugins[name].validate(path.Child("plugins").Key(name))...)
	}
	return errs
}

func (s PluginSettings) validate(at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if s.Weight < 0 {
		errs = append(errs, field.Invalid(at.Child("weight"), s.Weight, "must not be negative"))
	}
	if s.Disabled && (s.Weight != 0 || s.Args != nil || s.Points != nil) {
		errs = append(errs, field.Forbidden(at.Child("disabled"), "a disabled plugin has neither weight nor args nor points"))
	}
	if !s.Disabled && s.Weight == 0 && s.Args == nil && s.Points == nil {
		errs = append(errs, field.Required(at, "set at least one of weight, args, points, disabled"))
	}
	for i, point := range s.Points {
		if !slices.Contains(extensionPoints(), point) {
			errs = append(errs, field.NotSupported(at.Child("points").Index(i), point, extensionPoints()))
		}
	}
	return errs
}

// extensionPoints are those of a KubeSchedulerConfiguration that plugins of ours have. Weights count under score only.
func extensionPoints() []string {
	return []string{"preFilter", "filter", "postFilter", "preScore", "score", "reserve", "permit", "preBind", "postBind"}
}
