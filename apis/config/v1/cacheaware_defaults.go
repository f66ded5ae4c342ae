package v1

import (
	corev1 "k8s.io/api/core/v1"

	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
)

// SetDefaults_CacheAwareArgs fills in what the administrator left out.
func SetDefaults_CacheAwareArgs(args *CacheAwareArgs) {
	if args.DatasetPolicy == "" {
		args.DatasetPolicy = vicinityv1alpha1.DatasetPolicyPreferred
	}
	if len(args.Tiers) == 0 {
		args.Tiers = []TopologyTier{
			{LabelKey: vicinityv1alpha1.RackLabel, Percent: 75},
			{LabelKey: corev1.LabelTopologyZone, Percent: 50},
			{LabelKey: corev1.LabelTopologyRegion, Percent: 25},
		}
	}
}
