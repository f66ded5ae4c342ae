package datasets

import (
	"context"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/rest"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	"github.com/vicinity-scheduler/vicinity/pkg/agent"
	"github.com/vicinity-scheduler/vicinity/pkg/agent/report"
)

// Name is the collector's name in the configuration.
const Name = configv1.DatasetsCollector

// NewBuilder returns the builder of the collector. It calls connect, which tells how to reach the API server, only if the
// collector is enabled.
func NewBuilder(connect func() (*rest.Config, error)) agent.Builder {
	return agent.Builder{
		Name: Name,
		New: func(_ context.Context, o agent.BuilderOptions) (agent.Collector, error) {
			config, err := connect()
			if err != nil {
				return nil, err
			}
			store, err := newObjectStore(config, o.NodeName)
			if err != nil {
				return nil, fmt.Errorf("cannot make a client for the API server: %w", err)
			}
			return newCollector(&o.Config.Datasets, store, o.Registerer)
		},
	}
}

// newCollector makes the collector of a configuration that is defaulted and valid.
func newCollector(c *configv1.DatasetsConfiguration, store statusStore, r prometheus.Registerer) (*Collector, error) {
	paths := make([]string, 0, len(c.Roots))
	for i := range c.Roots {
		paths = append(paths, c.Roots[i].Path)
	}
	m, err := newMetrics(r, paths)
	if err != nil {
		return nil, err
	}
	made := &Collector{
		pace:    newPace(int(c.MaxFilesPerSecond)),
		metrics: m,
		reporter: &reporter{
			store: store, thresholdPercent: c.ReportThresholdPercent, schedule: report.Schedule{Heartbeat: c.Heartbeat.Duration},
		},
	}
	for i := range c.Roots {
		layout, err := configv1.ParseDatasetLayout(c.Roots[i].Layout)
		if err != nil {
			return nil, fmt.Errorf("datasets.roots[%d].layout: %w", i, err)
		}
		made.roots = append(made.roots, &root{
			path: c.Roots[i].Path, medium: c.Roots[i].Medium, layout: layout, open: openSite,
			metrics: m.roots[c.Roots[i].Path], counts: map[datasetName]observation{},
		})
	}
	return made, nil
}
