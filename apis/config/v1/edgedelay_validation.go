package v1

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"

	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
)

const maxClusterLayers = 64

// ValidateEdgeDelayArgs returns every fault of defaulted arguments, as one error, or nil.
func ValidateEdgeDelayArgs(path *field.Path, args *EdgeDelayArgs) error {
	faults := slices.Concat(
		oneOf(path.Child("unconstrainedPods"), args.UnconstrainedPods,
			UnconstrainedPreferCloud, UnconstrainedRequireCloud, UnconstrainedIgnore),
		oneOf(path.Child("onUnknown"), args.OnUnknown, vicinityv1alpha1.DelayUnknownReject,
			vicinityv1alpha1.DelayUnknownEstimate, vicinityv1alpha1.DelayUnknownAllow),
		oneOf(path.Child("clustering"), args.Clustering, DelayClusteringOff, DelayClusteringLayers),
		validateClusterLayers(path.Child("initialClusterLayers"), args),
	)
	if args.Percentile != 50 && args.Percentile != 99 {
		faults = append(faults, field.Invalid(path.Child("percentile"), args.Percentile, "must be 50 or 99"))
	}
	if selector, err := labels.Parse(args.CloudSelector); err != nil {
		faults = append(faults, field.Invalid(path.Child("cloudSelector"), args.CloudSelector, err.Error()))
	} else if selector.Empty() {
		faults = append(faults, field.Invalid(path.Child("cloudSelector"), args.CloudSelector, "must not select every node"))
	}
	if files := args.StaticFiles; (files.Matrix == "") != (files.Metadata == "") {
		faults = append(faults, field.Invalid(path.Child("staticFiles"), files, "needs both matrix and metadata"))
	}
	return faults.ToAggregate()
}

func validateClusterLayers(path *field.Path, args *EdgeDelayArgs) (faults field.ErrorList) {
	if len(args.InitialClusterLayers) == 0 {
		return nil
	}
	if args.Clustering == DelayClusteringOff {
		return field.ErrorList{field.Forbidden(path, "only clustering Layers has layers")}
	}
	if len(args.InitialClusterLayers) > maxClusterLayers {
		return field.ErrorList{field.TooMany(path, len(args.InitialClusterLayers), maxClusterLayers)}
	}
	last := metav1.Duration{Duration: -1}
	for i, layer := range args.InitialClusterLayers {
		faults = append(faults, durationIn(path.Index(i), layer, last.Duration+1, vicinityv1alpha1.MaxDelayBound)...)
		last = layer
	}
	return faults
}
