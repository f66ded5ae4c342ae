package simonconfig

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/input/faults"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/input/manifests"
)

// The file's apiVersion and kind. The predecessor does not look at them.
const (
	apiVersion = "simon/v1alpha1"
	kind       = "Config"
)

// Parse reads the content of a configuration file. The result is nil if there is none that could be checked.
func Parse(file string, data []byte, list *faults.List) *Config {
	config, doc := manifests.Single[Config](file, data, list)
	if config == nil {
		return nil
	}
	c := checker{doc: doc, list: list}
	if config.APIVersion != apiVersion || config.Kind != kind {
		list.Add(doc.At("apiVersion"), "want apiVersion %s and kind %s, found %q and %q", apiVersion, kind, config.APIVersion, config.Kind)
	}
	c.cluster(&config.Spec.Cluster)
	c.apps(config.Spec.AppList)
	c.custom(&config.Spec.CustomConfig)
	if config.Spec.NewNode != "" {
		list.Warn(doc.At("spec", "newNode"), "has no effect; `vicinity simulate capacity` finds how many nodes are needed")
	}
	return config
}

type checker struct {
	doc  *manifests.Document
	list *faults.List
}

func (c *checker) cluster(cluster *Cluster) {
	switch at := c.doc.At("spec", "cluster"); {
	case cluster.CustomConfig == "" && cluster.KubeConfig == "":
		c.list.Add(at, "want one of customConfig, a folder with manifests, and kubeConfig; found neither")
	case cluster.CustomConfig != "" && cluster.KubeConfig != "":
		c.list.Add(at, "want one of customConfig and kubeConfig, found both")
	}
}

func (c *checker) apps(apps []App) {
	seen := map[string]bool{}
	for i, app := range apps {
		at := []string{"spec", "appList", strconv.Itoa(i)}
		if app.Name == "" {
			c.list.Add(c.doc.At(append(at, "name")...), "want a name, found none")
		}
		if seen[app.Name] {
			c.list.Add(c.doc.At(append(at, "name")...), "%q is there twice", app.Name)
		}
		seen[app.Name] = true
		if app.Path == "" {
			c.list.Add(c.doc.At(append(at, "path")...), "want a folder or file with manifests, found none")
		}
		if app.Chart {
			c.list.Add(c.doc.At(append(at, "chart")...),
				"charts are read as what helm makes of them: run `helm template %s %s > %s.yaml` and name that file here", app.Name, app.Path, app.Name)
		}
	}
}

// policies of descheduling.
func policies() []string { return []string{"cosSim", "fragOnePod", "fragMultiPod"} }

func (c *checker) custom(custom *Custom) {
	at := func(path ...string) faults.Position {
		return c.doc.At(append([]string{"spec", "customConfig"}, path...)...)
	}
	const mostRatio = 1000
	for name, ratio := range map[string]float64{
		"workloadTuningConfig": custom.WorkloadTuningConfig.Ratio, "workloadInflationConfig": custom.WorkloadInflationConfig.Ratio,
	} {
		if math.IsNaN(ratio) || ratio > mostRatio {
			c.list.Add(at(name, "ratio"), "want a ratio up to %d, found %v", mostRatio, ratio)
		}
	}
	d := &custom.DescheduleConfig
	if d.Policy != "" && !slices.Contains(policies(), d.Policy) {
		c.list.Add(at("descheduleConfig", "policy"), "want one of %s, found %q", strings.Join(policies(), ", "), d.Policy)
	}
	if d.Ratio < 0 || d.Ratio > 1 {
		c.list.Add(at("descheduleConfig", "ratio"), "want a part from 0 to 1, found %v", d.Ratio)
	}
	t := &custom.TypicalPodsConfig
	if t.PodPopularityThreshold < 0 || t.PodPopularityThreshold > 100 {
		c.list.Add(at("typicalPodsConfig", "podPopularityThreshold"), "want a percentage from 0 to 100, found %d", t.PodPopularityThreshold)
	}
	if t.PodIncreaseStep < 0 {
		c.list.Add(at("typicalPodsConfig", "podIncreaseStep"), "want a number of classes, found %d", t.PodIncreaseStep)
	}
	if t.GPUResWeight < 0 {
		c.list.Add(at("typicalPodsConfig", "gpuResWeight"), "want a weight of 0 or more, found %v", t.GPUResWeight)
	}
}

// Resolve finds a path of the configuration: from the working folder, else from the configuration's own.
func Resolve(configFile, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		beside := filepath.Join(filepath.Dir(configFile), path)
		if _, err := os.Stat(beside); err == nil {
			return beside
		}
	}
	return path
}
