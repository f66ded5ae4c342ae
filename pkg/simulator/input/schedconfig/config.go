package schedconfig

import (
	"encoding/json"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/input/manifests"
)

// Config is a scheduler configuration.
type Config struct {
	File    string
	content content
	doc     *manifests.Document
	raw     []byte
}

// content is what all versions have in common. What the simulator has no use for is kept raw: it is known, and must
// not be warned about.
type content struct {
	APIVersion               string          `json:"apiVersion"`
	Kind                     string          `json:"kind"`
	PercentageOfNodesToScore *int32          `json:"percentageOfNodesToScore,omitempty"`
	Profiles                 []profile       `json:"profiles"`
	Parallelism              json.RawMessage `json:"parallelism"`
	LeaderElection           json.RawMessage `json:"leaderElection"`
	ClientConnection         json.RawMessage `json:"clientConnection"`
	HealthzBindAddress       json.RawMessage `json:"healthzBindAddress"`
	MetricsBindAddress       json.RawMessage `json:"metricsBindAddress"`
	EnableProfiling          json.RawMessage `json:"enableProfiling"`
	EnableContentionProfile  json.RawMessage `json:"enableContentionProfiling"`
	PodInitialBackoffSeconds json.RawMessage `json:"podInitialBackoffSeconds"`
	PodMaxBackoffSeconds     json.RawMessage `json:"podMaxBackoffSeconds"`
	DelayCacheUntilActive    json.RawMessage `json:"delayCacheUntilActive"`
	AlgorithmSource          json.RawMessage `json:"algorithmSource"`
	Extenders                []any           `json:"extenders"`
}

type profile struct {
	SchedulerName            string         `json:"schedulerName"`
	PercentageOfNodesToScore *int32         `json:"percentageOfNodesToScore,omitempty"`
	Plugins                  plugins        `json:"plugins"`
	PluginConfig             []pluginConfig `json:"pluginConfig"`
}

// plugins are the extension points of all versions.
type plugins struct {
	MultiPoint pluginSet `json:"multiPoint"`
	PreEnqueue pluginSet `json:"preEnqueue"`
	QueueSort  pluginSet `json:"queueSort"`
	PreFilter  pluginSet `json:"preFilter"`
	Filter     pluginSet `json:"filter"`
	PostFilter pluginSet `json:"postFilter"`
	PreScore   pluginSet `json:"preScore"`
	Score      pluginSet `json:"score"`
	Reserve    pluginSet `json:"reserve"`
	Permit     pluginSet `json:"permit"`
	PreBind    pluginSet `json:"preBind"`
	Bind       pluginSet `json:"bind"`
	PostBind   pluginSet `json:"postBind"`
}

// point is an extension point with its name.
type point struct {
	name string
	set  *pluginSet
}

func (p *plugins) points() []point {
	return []point{
		{"multiPoint", &p.MultiPoint},
		{"preEnqueue", &p.PreEnqueue},
		{"queueSort", &p.QueueSort},
		{"preFilter", &p.PreFilter},
		{"filter", &p.Filter},
		{"postFilter", &p.PostFilter},
		{"preScore", &p.PreScore},
		{"score", &p.Score},
		{"reserve", &p.Reserve},
		{"permit", &p.Permit},
		{"preBind", &p.PreBind},
		{"bind", &p.Bind},
		{"postBind", &p.PostBind},
	}
}

type pluginSet struct {
	Enabled  []plugin `json:"enabled,omitempty"`
	Disabled []plugin `json:"disabled,omitempty"`
}

type plugin struct {
	Name   string `json:"name"`
	Weight int64  `json:"weight,omitempty"`
}

type pluginConfig struct {
	Name string         `json:"name"`
	Args map[string]any `json:"args"`
}

// methods are the arguments of the predecessor's plugins.
type methods struct {
	dimExt, norm, device string
}

// enables says whether one of the points enables the plugin.
func (p *plugins) enables(name string) bool {
	for _, at := range p.points() {
		for _, enabled := range at.set.Enabled {
			if enabled.Name == name {
				return true
			}
		}
	}
	return false
}
