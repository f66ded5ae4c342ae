package goldpinger

import (
	"bytes"
	"fmt"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/vicinity-scheduler/vicinity/pkg/delay"
)

const (
	udpHistogram  = "goldpinger_peers_udp_rtt_s"
	httpHistogram = "goldpinger_peers_response_time_s"
)

// series names one histogram of a pod.
type series struct{ metric, instance, hostIP, podIP string }

// total is what a histogram has counted since its process started.
type total struct {
	count uint64
	sum   float64 // seconds
}

// parseHistograms reads the text of /metrics and returns the histograms of peers, those of the UDP echo if there are any.
func parseHistograms(body []byte) (map[series]total, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("/metrics: %w", err)
	}
	for _, name := range []string{udpHistogram, httpHistogram} {
		found := map[series]total{}
		for _, metric := range families[name].GetMetric() {
			h := metric.GetHistogram()
			if h == nil {
				continue
			}
			s, call := seriesOf(name, metric)
			if name == udpHistogram || call == "ping" {
				found[s] = total{count: h.GetSampleCount(), sum: h.GetSampleSum()}
			}
		}
		if len(found) > 0 {
			return found, nil
		}
	}
	return nil, nil
}

// seriesOf reads the labels.
func seriesOf(name string, metric *dto.Metric) (s series, call string) {
	s.metric = name
	for _, label := range metric.GetLabel() {
		switch label.GetName() {
		case "goldpinger_instance":
			s.instance = label.GetValue()
		case "host_ip":
			s.hostIP = label.GetValue()
		case "pod_ip":
			s.podIP = label.GetValue()
		case "call_type":
			call = label.GetValue()
		}
	}
	return s, call
}

// since returns the mean of what was counted between two looks; ok is false if there was nothing, or if the process was
// started anew in between.
func (t total) since(last total) (mean time.Duration, ok bool) {
	if t.count <= last.count || t.sum < last.sum {
		return 0, false
	}
	seconds := (t.sum - last.sum) / float64(t.count-last.count)
	// Written so that NaN is refused too.
	if !(seconds <= delay.MaxDelay.Seconds()) {
		return 0, false
	}
	return time.Duration(seconds * float64(time.Second)), true
}
