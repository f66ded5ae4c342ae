package v1

import (
	"net/url"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	minDeadline, maxDeadline               = time.Microsecond, time.Second
	minExternalTimeout, maxExternalTimeout = time.Millisecond, 10 * time.Second
)

// ValidateMLPScoreArgs returns every fault of defaulted arguments, as one error, or nil.
func ValidateMLPScoreArgs(path *field.Path, args *MLPScoreArgs) error {
	faults := oneOf(path.Child("mode"), args.Mode, MLPScoreOff, MLPScoreShadow, MLPScoreActive)
	faults = append(faults, oneOf(path.Child("fallback"), args.Fallback, MLPScoreFallbackFGD, MLPScoreFallbackNeutral)...)
	faults = append(faults, durationIn(path.Child("deadline"), args.Deadline, minDeadline, maxDeadline)...)
	if args.ModelFile != "" && args.ModelConfigMap != "" {
		faults = append(faults, field.Forbidden(path.Child("modelConfigMap"), "only one of modelFile and modelConfigMap may be set"))
	}
	if args.ModelConfigMap != "" {
		for _, fault := range validation.IsDNS1123Subdomain(args.ModelConfigMap) {
			faults = append(faults, field.Invalid(path.Child("modelConfigMap"), args.ModelConfigMap, fault))
		}
	}
	if args.External != nil {
		at := path.Child("external")
		faults = append(faults, durationIn(at.Child("timeout"), args.External.Timeout, minExternalTimeout, maxExternalTimeout)...)
		if u, err := url.Parse(args.External.URL); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			faults = append(faults, field.Invalid(at.Child("url"), args.External.URL,
				"must be an http or https URL, such as http://scorer:5000/score"))
		}
	}
	return faults.ToAggregate()
}
