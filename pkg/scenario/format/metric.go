package format

import "k8s.io/apimachinery/pkg/util/validation/field"

// Metric is an expected value of a metric: the sum over all series that have the labels. Of a histogram or a summary the
// number of observations counts. A metric that is absent has the value 0.
type Metric struct {
	// Process is the component that serves the metric, the scheduler when absent.
	Process string `json:"process"`
	// Name is the metric's name.
	Name string `json:"name"`
	// Labels must be on the series with these values, besides any others.
	Labels map[string]string `json:"labels"`
	// Min and Max bound the sum, inclusively; at least one is needed.
	Min *float64 `json:"min"`
	Max *float64 `json:"max"`
}

func (m *Metric) validate(path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if m.Process != "" {
		errs = requireProcess(path, m.Process)
	}
	if m.Name == "" {
		errs = append(errs, field.Required(path.Child("name"), "the metric's name"))
	}
	switch {
	case m.Min == nil && m.Max == nil:
		errs = append(errs, field.Required(path, "min, max or both"))
	case m.Min != nil && m.Max != nil && *m.Min > *m.Max:
		errs = append(errs, field.Invalid(path.Child("min"), *m.Min, "must not exceed max"))
	}
	return errs
}
