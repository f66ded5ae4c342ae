package v1

import vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"

// defaultCloudSelector is the predecessor's label.
const defaultCloudSelector = "kubernetes.io/role=cloud"

// SetDefaults_EdgeDelayArgs fills in what the administrator left out.
func SetDefaults_EdgeDelayArgs(args *EdgeDelayArgs) {
	if args.UnconstrainedPods == "" {
		args.UnconstrainedPods = UnconstrainedPreferCloud
	}
	if args.CloudSelector == "" {
		args.CloudSelector = defaultCloudSelector
	}
	if args.OnUnknown == "" {
		args.OnUnknown = vicinityv1alpha1.DelayUnknownEstimate
	}
	if args.Percentile == 0 {
		args.Percentile = 50
	}
	if args.Clustering == "" {
		args.Clustering = DelayClusteringOff
	}
}
