package v1alpha1

import (
	"fmt"
	"time"
)

// MaxDatasetWait is the longest wait a pod may ask for. A longer one is a mistake in the unit rather than a wish.
const MaxDatasetWait = 24 * time.Hour

// ParseDatasetWait reads the value of DatasetWaitAnnotation: a duration above zero, at most MaxDatasetWait. The
// error does not name the key.
func ParseDatasetWait(value string) (time.Duration, error) {
	wait, err := time.ParseDuration(value)
	if err != nil || wait <= 0 || wait > MaxDatasetWait {
		return 0, fmt.Errorf("want a duration above zero and at most %s, such as \"30s\", found %s", MaxDatasetWait, quote(value))
	}
	return wait, nil
}
