package v1

import (
	"fmt"
	"math"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
)

// maxTiers equals the bound of package locality, which stores a node's tiers in an array of that size.
const maxTiers = 8

// minStaleAfter is twice the agents' heartbeat: news may be a heartbeat old when the next one is lost.
const minStaleAfter = 2 * time.Minute

// maxWait bounds how long pods wait for one step nearer to their data.
const maxWait = 24 * time.Hour

// ValidateCacheAwareArgs returns every fault of defaulted arguments, as one error, or nil.
func ValidateCacheAwareArgs(path *field.Path, args *CacheAwareArgs) error {
	faults := oneOf(path.Child("datasetPolicy"), args.DatasetPolicy,
		vicinityv1alpha1.DatasetPolicyPreferred, vicinityv1alpha1.DatasetPolicyRequired)
	faults = append(faults, oneOf(path.Child("scoring"), args.Scoring, ScoringBytesSaved, ScoringCompatible)...)
	faults = append(faults, oneOf(path.Child("coldData", "policy"), args.ColdData.Policy, ColdDataConverge, ColdDataIgnore)...)
	faults = append(faults, validateSources(path.Child("sources"), args.Sources)...)
	faults = append(faults, validateTiers(path.Child("tiers"), args.Tiers)...)
	faults = append(faults, validateMedia(path.Child("media"), args.Media)...)
	faults = append(faults, durationIn(path.Child("staleAfter"), args.StaleAfter, minStaleAfter, maxWait)...)
	faults = append(faults, durationIn(path.Child("waitForWarmNode"), args.WaitForWarmNode, 0, maxWait)...)
	faults = append(faults, durationIn(path.Child("coldData", "warmingTTL"), args.ColdData.WarmingTTL, time.Second, maxWait)...)
	faults = append(faults, numberIn(path.Child("coldData", "homePercent"), args.ColdData.HomePercent, 1, 100)...)
	faults = append(faults, numberIn(path.Child("keepOthersAwayPercent"), args.KeepOthersAwayPercent, 0, 100)...)
	faults = append(faults, numberIn(path.Child("gatewayLoad", "threshold"), args.GatewayLoad.Threshold, 0, math.MaxInt32)...)
	return faults.ToAggregate()
}

func oneOf[T ~string](path *field.Path, value T, legal ...T) field.ErrorList {
	if slices.Contains(legal, value) {
		return nil
	}
	return field.ErrorList{field.NotSupported(path, value, legal)}
}

func numberIn(path *field.Path, value, least, most int32) field.ErrorList {
	if value >= least && value <= most {
		return nil
	}
	return field.ErrorList{field.Invalid(path, value, fmt.Sprintf("must be between %d and %d", least, most))}
}

func durationIn(path *field.Path, value metav1.Duration, least, most time.Duration) field.ErrorList {
	if value.Duration >= least && value.Duration <= most {
		return nil
	}
	return field.ErrorList{field.Invalid(path, value.Duration.String(), fmt.Sprintf("must be between %s and %s", least, most))}
}

func validateSources(path *field.Path, sources []DatasetSource) (faults field.ErrorList) {
	for i, source := range sources {
		faults = append(faults, oneOf(path.Index(i), source, SourceNodeDatasetCache, SourceFluid, SourceDatashim)...)
		if slices.Contains(sources[:i], source) {
			faults = append(faults, field.Duplicate(path.Index(i), source))
		}
	}
	return faults
}

func validateMedia(path *field.Path, media []MediumWorth) (faults field.ErrorList) {
	seen := map[vicinityv1alpha1.Medium]bool{}
	for i, m := range media {
		faults = append(faults, oneOf(path.Index(i).Child("medium"), m.Medium,
			vicinityv1alpha1.MediumMemory, vicinityv1alpha1.MediumSSD, vicinityv1alpha1.MediumHDD)...)
		faults = append(faults, numberIn(path.Index(i).Child("percent"), m.Percent, 1, 100)...)
		if seen[m.Medium] {
			faults = append(faults, field.Duplicate(path.Index(i).Child("medium"), m.Medium))
		}
		seen[m.Medium] = true
	}
	return faults
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
