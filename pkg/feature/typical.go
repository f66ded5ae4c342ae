package feature

import (
	"encoding/json"
	"fmt"

	"github.com/vicinity-scheduler/vicinity/pkg/gpushare"
)

// maxTypical bounds how many classes of pods a model may measure fragmentation for: each costs time for each node.
const maxTypical = 1000

// FormatTypical writes typical pods as the text that model files carry.
func FormatTypical(typical []gpushare.TypicalPod) (string, error) {
	text, err := json.Marshal(typical)
	if err != nil {
		return "", fmt.Errorf("writing typical pods: %w", err)
	}
	return string(text), nil
}

// ParseTypical reads typical pods from a model file. An empty text has none: then nothing is a fragment.
func ParseTypical(text string) ([]gpushare.TypicalPod, error) {
	if text == "" {
		return nil, nil
	}
	var typical []gpushare.TypicalPod
	if err := json.Unmarshal([]byte(text), &typical); err != nil {
		return nil, fmt.Errorf("typical pods: want a JSON list: %w", err)
	}
	if len(typical) > maxTypical {
		return nil, fmt.Errorf("typical pods: want at most %d, found %d", maxTypical, len(typical))
	}
	for i := range typical {
		t := &typical[i]
		// Written so that NaN fails.
		if !(t.Frequency >= 0 && t.Frequency <= 1) || min(t.CPUMilli, int64(t.GPUs), int64(t.GPUMilli)) < 0 || t.GPUMilli > milli {
			return nil, fmt.Errorf("typical pod %d: want a frequency of 0 to 1, CPU and GPUs of 0 or more and 0 to %d of each GPU, found %+v",
				i, milli, *t)
		}
	}
	return typical, nil
}
