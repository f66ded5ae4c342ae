package v1

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
)

// maxTiers equals the bound of package locality, which stores a node's tiers in an array of that size.
const maxTiers = 8

// ValidateCacheAwareArgs returns every fault of defaulted arguments, as one error, or nil.
func ValidateCacheAwareArgs(path *field.Path, args *CacheAwareArgs) error {
	var faults field.ErrorList
	if _, err := vicinityv1alpha1.ParseDatasetPolicy(string(args.DatasetPolicy)); err != nil {
		faults = append(faults, field.NotSupported(path.Child("datasetPolicy"), args.DatasetPolicy,
			[]vicinityv1alpha1.DatasetPolicy{
				vicinityv1alpha1.DatasetPolicyPreferred, vicinityv1alpha1.DatasetPolicyRequired,
			}))
	}
	return append(faults, validateTiers(path.Child("tiers"), args.Tiers)...).ToAggregate()
}

func validateTiers(path *field.Path, tiers []TopologyTier) field.ErrorList {
	var faults field.ErrorList
	if len(tiers) > maxTiers {
		faults = append(faults, field.TooMany(path, len(tiers), maxTiers))
	}
	seen, below := map[string]bool{}, int32(100)
	for i, tier := range tiers {
		at := path.Index(i)
		faults = append(faults, metav1validation.ValidateLabelName(tier.LabelKey, at.Child("labelKey"))...)
		if tier.LabelKey == corev1.LabelHostname {
			faults = append(faults, field.Invalid(at.Child("labelKey"), tier.LabelKey,
				"the node itself is not a tier: it always counts 100"))
		}
		if seen[tier.LabelKey] {
			faults = append(faults, field.Duplicate(at.Child("labelKey"), tier.LabelKey))
		}
		seen[tier.LabelKey] = true
		if tier.Percent < 1 || tier.Percent >= below {
			faults = append(faults, field.Invalid(at.Child("percent"), tier.Percent,
				fmt.Sprintf("must be at least 1 and less than %d, that of the nearer tier (the node itself is 100)", below)))
		}
		below = tier.Percent
	}
	return faults
}
