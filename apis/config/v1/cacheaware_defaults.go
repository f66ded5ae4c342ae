package v1

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
)

// SetDefaults_CacheAwareArgs fills in what the administrator left out.
func SetDefaults_CacheAwareArgs(args *CacheAwareArgs) {
	if args.DatasetPolicy == "" {
		args.DatasetPolicy = vicinityv1alpha1.DatasetPolicyPreferred
	}
	if len(args.Sources) == 0 {
		args.Sources = []DatasetSource{SourceNodeDatasetCache, SourceFluid, SourceDatashim}
	}
	if args.StaleAfter.Duration == 0 {
		args.StaleAfter.Duration = 5 * time.Minute
	}
	if args.Scoring == "" {
		args.Scoring = ScoringBytesSaved
	}
	setDefaultNearness(args)
	setDefaultColdData(&args.ColdData)
}

func setDefaultNearness(args *CacheAwareArgs) {
	if len(args.Tiers) == 0 {
		args.Tiers = []TopologyTier{
			{LabelKey: vicinityv1alpha1.RackLabel, Percent: 75},
			{LabelKey: corev1.LabelTopologyZone, Percent: 50},
			{LabelKey: corev1.LabelTopologyRegion, Percent: 25},
		}
	}
	if len(args.Media) == 0 {
		args.Media = []MediumWorth{
			{Medium: vicinityv1alpha1.MediumMemory, Percent: 100},
			{Medium: vicinityv1alpha1.MediumSSD, Percent: 80},
			{Medium: vicinityv1alpha1.MediumHDD, Percent: 50},
		}
	}
}

func setDefaultColdData(cold *ColdData) {
	if cold.Policy == "" {
		cold.Policy = ColdDataConverge
	}
	if cold.WarmingTTL.Duration == 0 {
		cold.WarmingTTL.Duration = 10 * time.Minute
	}
	if cold.HomePercent == 0 {
		cold.HomePercent = 5
	}
}
