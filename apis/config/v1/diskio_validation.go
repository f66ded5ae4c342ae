package v1

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const maxBestEffortMinimum = 1 << 40

// MaxFillDuration bounds DiskIOArgs.fillDuration.
const MaxFillDuration = time.Hour

// ValidateDiskIOArgs returns every fault of defaulted arguments, as one error, or nil.
func ValidateDiskIOArgs(path *field.Path, args *DiskIOArgs) error {
	faults := oneOf(path.Child("scoreStrategy"), args.ScoreStrategy,
		DiskIOLeastAllocated, DiskIOMostAllocated, DiskIORequestedToCapacityRatio)
	faults = append(faults, validateShape(path.Child("shape"), args)...)
	for i, namespace := range args.NSWhiteList {
		at := path.Child("nsWhiteList").Index(i)
		for _, fault := range validation.IsDNS1123Label(namespace) {
			faults = append(faults, field.Invalid(at, namespace, "invalid namespace format: "+fault))
		}
		if slices.Contains(args.NSWhiteList[:i], namespace) {
			faults = append(faults, field.Duplicate(at, namespace))
		}
	}
	if args.BestEffortMinimum < 1 || args.BestEffortMinimum > maxBestEffortMinimum {
		faults = append(faults, field.Invalid(path.Child("bestEffortMinimum"), args.BestEffortMinimum,
			fmt.Sprintf("must be between 1 and %d", int64(maxBestEffortMinimum))))
	}
	faults = append(faults, durationIn(path.Child("staleAfter"), args.StaleAfter, time.Second, maxWait)...)
	faults = append(faults, durationIn(path.Child("fillDuration"), args.FillDuration, 0, MaxFillDuration)...)
	faults = append(faults, numberIn(path.Child("pressureWeightPercent"), args.PressureWeightPercent, 0, 100)...)
	return faults.ToAggregate()
}

func validateShape(path *field.Path, args *DiskIOArgs) (faults field.ErrorList) {
	wanted := args.ScoreStrategy == DiskIORequestedToCapacityRatio
	switch {
	case wanted && len(args.Shape) == 0:
		return field.ErrorList{field.Required(path, "with scoreStrategy RequestedToCapacityRatio")}
	case !wanted && len(args.Shape) > 0:
		return field.ErrorList{field.Forbidden(path, "only scoreStrategy RequestedToCapacityRatio has a shape")}
	}
	last := int32(-1)
	for i, point := range args.Shape {
		faults = append(faults, numberIn(path.Index(i).Child("utilization"), point.Utilization, last+1, 100)...)
		faults = append(faults, numberIn(path.Index(i).Child("score"), point.Score, 0, 10)...)
		last = point.Utilization
	}
	return faults
}
