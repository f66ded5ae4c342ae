package main

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	schedulerscheme "k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"github.com/vicinity-scheduler/vicinity/apis/config/scheme"
	"github.com/vicinity-scheduler/vicinity/manifests"
	"github.com/vicinity-scheduler/vicinity/pkg/plugins/sniffer"
)

// shippedConfig is the scheduler configuration in install.yaml.
func shippedConfig(t *testing.T) string {
	t.Helper()
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(manifests.Install()), 4096)
	for {
		var object corev1.ConfigMap
		err := decoder.Decode(&object)
		if errors.Is(err, io.EOF) {
			t.Fatal("install.yaml has no ConfigMap vicinity-scheduler-config")
		}
		if err == nil && object.Kind == "ConfigMap" && object.Name == "vicinity-scheduler-config" {
			return object.Data["scheduler-config.yaml"]
		}
	}
}

// TestShippedConfigurationDecodesStrictly: what the chart renders is what this binary accepts, and every plugin that it
// enables beyond the in-tree ones is registered here.
func TestShippedConfigurationDecodesStrictly(t *testing.T) {
	scheme.Install()
	object, _, err := schedulerscheme.Codecs.UniversalDecoder().Decode([]byte(shippedConfig(t)), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	cfg, ok := object.(*config.KubeSchedulerConfiguration)
	if !ok || len(cfg.Profiles) != 1 {
		t.Fatalf("want a KubeSchedulerConfiguration with one profile, found %T %v", object, object)
	}
	registry := frameworkruntime.Registry{}
	for _, register := range newPlugins().options() {
		if err := register(registry); err != nil {
			t.Fatal(err)
		}
	}
	enabled := cfg.Profiles[0].Plugins.MultiPoint.Enabled
	for name := range registry {
		want := config.Plugin{Name: name, Weight: 10}
		if name == sniffer.Name {
			want.Weight = 0 // it gives no scores
		}
		if !slices.Contains(enabled, want) {
			t.Errorf("want %v enabled in the shipped profile, found %v", want, enabled)
		}
		if !slices.ContainsFunc(cfg.Profiles[0].PluginConfig, func(c config.PluginConfig) bool { return c.Name == name && c.Args != nil }) {
			t.Errorf("plugin %s has no defaulted arguments", name)
		}
	}
}
