package cacheaware

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
	"github.com/vicinity-scheduler/vicinity/pkg/locality"
)

// datashimClaimLabel is the label by which Datashim marks the volume claims it makes; its value is the
// dataset's name.
const datashimClaimLabel = "dataset"

// wish is what a pod asks of this plugin.
type wish struct {
	datasets []locality.DatasetKey // in the order of the labels, then of the volumes; without repetition
	policy   vicinityv1alpha1.DatasetPolicy
}

// wishOf reads the pod's labels, annotation and volumes. An error is the user's to mend and names the place.
func (pl *CacheAware) wishOf(pod *corev1.Pod) (wish, error) {
	references, err := vicinityv1alpha1.ParseDatasetLabels(pod.Labels)
	if err != nil {
		return wish{}, err
	}
	w := wish{policy: pl.defaultPolicy}
	if value, ok := pod.Annotations[vicinityv1alpha1.DatasetPolicyAnnotation]; ok {
		if w.policy, err = vicinityv1alpha1.ParseDatasetPolicy(value); err != nil {
			return wish{}, fmt.Errorf("annotation %q: %w", vicinityv1alpha1.DatasetPolicyAnnotation, err)
		}
	}
	for _, reference := range references {
		w.add(locality.DatasetKey{Namespace: pod.Namespace, Name: reference.Name})
	}
	for i := range pod.Spec.Volumes {
		if claim := pod.Spec.Volumes[i].PersistentVolumeClaim; claim != nil {
			if key, ok := pl.datasetOfClaim(pod.Namespace, claim.ClaimName); ok {
				w.add(key)
			}
		}
	}
	return w, nil
}

func (w *wish) add(key locality.DatasetKey) {
	if !slices.Contains(w.datasets, key) {
		w.datasets = append(w.datasets, key)
	}
}

// datasetOfClaim returns the dataset behind a volume claim: the one its label names, or else the one of the
// claim's own name, which is what Datashim calls it, if there is such a dataset. A claim that does not exist is
// left to the volume plugins to complain about.
func (pl *CacheAware) datasetOfClaim(namespace, claimName string) (locality.DatasetKey, bool) {
	key := locality.DatasetKey{Namespace: namespace, Name: claimName}
	if claim, err := pl.claims.PersistentVolumeClaims(namespace).Get(claimName); err == nil {
		if name := claim.Labels[datashimClaimLabel]; name != "" {
			key.Name = name
			return key, true
		}
	}
	return key, pl.datasets.Known(key)
}
