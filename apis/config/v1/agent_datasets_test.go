package v1

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSetDefaultsDatasets(t *testing.T) {
	tests := []struct {
		name string
		in   DatasetsConfiguration
		want DatasetsConfiguration
	}{
		{name: "an absent section stays absent"},
		{
			name: "a section without roots is left for the validation",
			in:   DatasetsConfiguration{Heartbeat: seconds(30)},
			want: DatasetsConfiguration{Heartbeat: seconds(30)},
		},
		{
			name: "a bare root",
			in:   DatasetsConfiguration{Roots: []DatasetRoot{{Path: "/cache", Medium: "SSD"}}},
			want: DatasetsConfiguration{
				Roots:                  []DatasetRoot{{Path: "/cache", Medium: "SSD", Layout: "{namespace}/{dataset}"}},
				ReportThresholdPercent: 5, Heartbeat: seconds(60), MaxFilesPerSecond: 20000,
			},
		},
		{
			name: "what is set stays, legal or not",
			in: DatasetsConfiguration{
				Roots:                  []DatasetRoot{{Layout: "x"}},
				ReportThresholdPercent: -1, Heartbeat: seconds(1), MaxFilesPerSecond: 7,
			},
			want: DatasetsConfiguration{
				Roots:                  []DatasetRoot{{Layout: "x"}},
				ReportThresholdPercent: -1, Heartbeat: seconds(1), MaxFilesPerSecond: 7,
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := AgentConfiguration{Datasets: tt.in}
			SetDefaults_AgentConfiguration(&c)
			if diff := cmp.Diff(tt.want, c.Datasets); diff != "" {
				t.Errorf("defaulted section (-want +got):\n%s", diff)
			}
		})
	}
}

func TestValidateDatasets(t *testing.T) {
	legal := func() DatasetsConfiguration {
		return DatasetsConfiguration{
			Roots: []DatasetRoot{
				{Path: "/var/cache/ssd", Medium: "SSD", Layout: "{namespace}/{dataset}"},
				{Path: "/dev/shm/datasets", Medium: "Memory", Layout: "{namespace}/{dataset}"},
			},
			ReportThresholdPercent: 5, Heartbeat: seconds(60), MaxFilesPerSecond: 20000,
		}
	}
	manyRoots := func(n int) []DatasetRoot {
		var roots []DatasetRoot
		for i := range n {
			roots = append(roots, DatasetRoot{Path: fmt.Sprintf("/cache/%d", i), Medium: "HDD", Layout: "{namespace}/{dataset}"})
		}
		return roots
	}
	const path = `must be absolute, without "." or ".." segments and without doubled or trailing slashes`
	tests := []struct {
		name    string
		change  func(*DatasetsConfiguration)
		enabled bool
		want    string
	}{
		{name: "a complete section", change: func(*DatasetsConfiguration) {}, enabled: true},
		{name: "a section whose collector is switched off", change: func(*DatasetsConfiguration) {}},
		{name: "no section and no collector", change: func(c *DatasetsConfiguration) { *c = DatasetsConfiguration{} }},
		{
			name: "the collector without a section", change: func(c *DatasetsConfiguration) { *c = DatasetsConfiguration{} }, enabled: true,
			want: `datasets.roots: Required value: the collector "datasets" needs the folders to count in: list at least one path with its medium`,
		},
		{
			name: "a section without roots", change: func(c *DatasetsConfiguration) { c.Roots = nil },
			want: `datasets.roots: Required value: list at least one path with its medium, or remove the section`,
		},
		{
			name: "the widest legal values", change: func(c *DatasetsConfiguration) {
				c.ReportThresholdPercent, c.Heartbeat, c.MaxFilesPerSecond, c.Roots = 100, seconds(3600), 1000000, manyRoots(32)
			},
		},
		{
			name: "the narrowest legal values", change: func(c *DatasetsConfiguration) {
				c.ReportThresholdPercent, c.Heartbeat, c.MaxFilesPerSecond = 1, seconds(15), 1
			},
		},
		{
			name: "numbers out of range", change: func(c *DatasetsConfiguration) {
				c.ReportThresholdPercent, c.Heartbeat, c.MaxFilesPerSecond = 101, seconds(14), -1
			},
			want: `[datasets.reportThresholdPercent: Invalid value: 101: must be between 1 and 100, ` +
				`datasets.heartbeat: Invalid value: "14s": must be between 15s and 1h0m0s, ` +
				`datasets.maxFilesPerSecond: Invalid value: -1: must be between 1 and 1000000]`,
		},
		{
			name: "too many roots", change: func(c *DatasetsConfiguration) { c.Roots = manyRoots(33) },
			want: `datasets.roots: Too many: 33: must have at most 32 items`,
		},
		{
			name: "an empty root", change: func(c *DatasetsConfiguration) { c.Roots[1] = DatasetRoot{Layout: "{namespace}/{dataset}"} },
			want: `[datasets.roots[1].path: Required value: name the folder below which datasets lie, ` +
				`datasets.roots[1].medium: Required value: say what the folder lies on: Memory, SSD or HDD]`,
		},
		{
			name: "a relative path", change: func(c *DatasetsConfiguration) { c.Roots[0].Path = "var/cache" },
			want: `datasets.roots[0].path: Invalid value: "var/cache": ` + path,
		},
		{
			name: "a path with a way back", change: func(c *DatasetsConfiguration) { c.Roots[0].Path = "/var/cache/../lib" },
			want: `datasets.roots[0].path: Invalid value: "/var/cache/../lib": ` + path,
		},
		{
			name: "a trailing slash", change: func(c *DatasetsConfiguration) { c.Roots[0].Path = "/var/cache/" },
			want: `datasets.roots[0].path: Invalid value: "/var/cache/": ` + path,
		},
		{
			name: "the whole file system", change: func(c *DatasetsConfiguration) { c.Roots = c.Roots[:1]; c.Roots[0].Path = "/" },
			want: `datasets.roots[0].path: Invalid value: "/": must be a folder made for datasets, not the whole file system`,
		},
		{
			name: "a NUL character", change: func(c *DatasetsConfiguration) { c.Roots[0].Path = "/a\x00" },
			want: `datasets.roots[0].path: Invalid value: "/a\x00": must not contain a NUL character`,
		},
		{
			name: "a path of more than 1024 bytes", change: func(c *DatasetsConfiguration) { c.Roots[0].Path = "/" + strings.Repeat("a", 1024) },
			want: `datasets.roots[0].path: Too long: may not be more than 1024 bytes`,
		},
		{
			name: "a medium that the API does not have", change: func(c *DatasetsConfiguration) { c.Roots[0].Medium = "NVMe" },
			want: `datasets.roots[0].medium: Unsupported value: "NVMe": supported values: "Memory", "SSD", "HDD"`,
		},
		{
			name: "a layout without a dataset", change: func(c *DatasetsConfiguration) { c.Roots[1].Layout = "{namespace}" },
			want: `datasets.roots[1].layout: Invalid value: "{namespace}": expected {dataset} as exactly one segment, found it 0 times`,
		},
		{
			name: "a root twice", change: func(c *DatasetsConfiguration) { c.Roots[1].Path = c.Roots[0].Path },
			want: `datasets.roots[1].path: Duplicate value: "/var/cache/ssd"`,
		},
		{
			name: "a root in a root", change: func(c *DatasetsConfiguration) { c.Roots[1].Path = "/var/cache/ssd/more" },
			want: `datasets.roots[1].path: Invalid value: "/var/cache/ssd/more": lies below roots[0], /var/cache/ssd, so that its files would count twice`,
		},
		{
			name: "a root beside a root with the same beginning", change: func(c *DatasetsConfiguration) { c.Roots[1].Path = "/var/cache/ssd2" },
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := &AgentConfiguration{Datasets: legal()}
			tt.change(&c.Datasets)
			if tt.enabled {
				c.Collectors = []CollectorSchedule{{Name: DatasetsCollector, Interval: seconds(15), Timeout: seconds(15)}}
			}
			var got string
			if err := ValidateAgentConfiguration(nil, c, []string{DatasetsCollector}); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}
