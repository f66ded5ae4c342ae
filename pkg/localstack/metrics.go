package localstack

import (
	"context"
	"fmt"
	"net/http"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"k8s.io/client-go/rest"
)

// Metrics reads a component's metrics as the cluster's admin.
func (s *Stack) Metrics(ctx context.Context, name string) (map[string]*dto.MetricFamily, error) {
	c, err := s.component(name)
	if err != nil {
		return nil, err
	}
	config := s.Cluster.AdminConfig()
	// Components make up their own serving certificate. The connection stays on loopback, and the credentials are
	// those of a throw-away cluster.
	config.TLSClientConfig.Insecure, config.CAData, config.CAFile = true, nil, ""
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("building the client for the metrics of vicinity-%s: %w", name, err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.metricsURL, http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("reading the metrics of vicinity-%s: %w", name, err)
	}
	response, err := httpClient.Do(request)
	if err != nil {
		return nil, fmt.Errorf("reading the metrics of vicinity-%s: %w", name, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("reading the metrics of vicinity-%s: want status 200, found %s", name, response.Status)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(response.Body)
	if err != nil {
		return nil, fmt.Errorf("parsing the metrics of vicinity-%s: %w", name, err)
	}
	return families, nil
}
