package cacheaware

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
	"github.com/vicinity-scheduler/vicinity/pkg/locality"
)

const (
	// datashimClaimLabel is on the volume claims that Datashim makes; its value is the dataset's name.
	datashimClaimLabel = "dataset"
	// fluidClaimPrefix starts a label on every volume claim that Fluid makes for a dataset.
	fluidClaimPrefix = "fluid.io/s-"
	// A pod label fluid.io/dataset.<name>.sched=required makes the dataset of one of the pod's claims required.
	// Fluid ignores other values, and names of datasets that the pod does not use; so does this plugin.
	fluidSchedPrefix, fluidSchedSuffix, fluidSchedRequired = "fluid.io/dataset.", ".sched", "required"
)

// fluidClaimLabels hold the name of the dataset of a volume claim that Fluid made: the present key and its
// predecessor.
func fluidClaimLabels() [2]string { return [2]string{"fluid.io/managed-by", "fluid.io/wrapped-by"} }

// wish is what a pod asks of this plugin.
type wish struct {
	datasets []wantedDataset // in the order of the labels, then of the volumes; without repetition
	policy   vicinityv1alpha1.DatasetPolicy
	wait     time.Duration // for a warm node; 0: the pod does not say
}

type wantedDataset struct {
	key      locality.DatasetKey
	required bool // by a label of Fluid's; the policy may require it besides
}

func (w *wish) keys() []locality.DatasetKey {
	keys := make([]locality.DatasetKey, len(w.datasets))
	for i := range w.datasets {
		keys[i] = w.datasets[i].key
	}
	return keys
}

func (w *wish) add(key locality.DatasetKey) {
	if !slices.ContainsFunc(w.datasets, func(d wantedDataset) bool { return d.key == key }) {
		w.datasets = append(w.datasets, wantedDataset{key: key})
	}
}

// wish reads the pod with the profile's defaults for what it does not say.
func (pl *CacheAware) wish(pod *corev1.Pod) (wish, error) {
	w, err := pl.wishOf(pod, pl.args.Sources)
	if err != nil {
		return wish{}, err
	}
	w.policy = cmp.Or(w.policy, pl.args.DatasetPolicy)
	required := false
	for i := range w.datasets {
		w.datasets[i].required = w.datasets[i].required || w.policy == vicinityv1alpha1.DatasetPolicyRequired
		required = required || w.datasets[i].required
	}
	if !required { // what a pod requires is relaxed only if the pod says so itself
		w.wait = cmp.Or(w.wait, pl.args.WaitForWarmNode.Duration)
	}
	return w, nil
}

// wishOf reads the pod's labels, annotations and volumes. An error is the user's to mend and names the place.
func (s *Shared) wishOf(pod *corev1.Pod, sources []configv1.DatasetSource) (w wish, err error) {
	references, err := vicinityv1alpha1.ParseDatasetLabels(pod.Labels)
	if err != nil {
		return wish{}, err
	}
	if value, ok := pod.Annotations[vicinityv1alpha1.DatasetPolicyAnnotation]; ok {
		if w.policy, err = vicinityv1alpha1.ParseDatasetPolicy(value); err != nil {
			return wish{}, fmt.Errorf("annotation %q: %w", vicinityv1alpha1.DatasetPolicyAnnotation, err)
		}
	}
	if value, ok := pod.Annotations[vicinityv1alpha1.DatasetWaitAnnotation]; ok {
		if w.wait, err = vicinityv1alpha1.ParseDatasetWait(value); err != nil {
			return wish{}, fmt.Errorf("annotation %q: %w", vicinityv1alpha1.DatasetWaitAnnotation, err)
		}
	}
	for _, reference := range references {
		w.add(locality.DatasetKey{Namespace: pod.Namespace, Name: reference.Name})
	}
	for i := range pod.Spec.Volumes {
		if claim := pod.Spec.Volumes[i].PersistentVolumeClaim; claim != nil {
			if key, ok := s.datasetOfClaim(pod.Namespace, claim.ClaimName, sources); ok {
				w.add(key)
			}
		}
	}
	for i := range w.datasets {
		w.datasets[i].required = pod.Labels[fluidSchedPrefix+w.datasets[i].key.Name+fluidSchedSuffix] == fluidSchedRequired
	}
	return w, nil
}

// datasetOfClaim returns the dataset behind a volume claim: the one that Datashim's or Fluid's labels name, or
// else the one of the claim's own name, which is what both call it, if a source has heard of it. A claim that does
// not exist is left to the volume plugins to complain about.
func (s *Shared) datasetOfClaim(namespace, claimName string, sources []configv1.DatasetSource) (locality.DatasetKey, bool) {
	key := locality.DatasetKey{Namespace: namespace, Name: claimName}
	if claim, err := s.claims.PersistentVolumeClaims(namespace).Get(claimName); err == nil {
		if name, ok := datasetOfLabels(claim.Labels); ok {
			key.Name = cmp.Or(name, claimName)
			return key, true
		}
	}
	return key, s.datasets.Known(key, sources)
}

// datasetOfLabels returns the name that a claim's labels give its dataset; "" when they only say that it has one.
func datasetOfLabels(labels map[string]string) (name string, ok bool) {
	if name := labels[datashimClaimLabel]; name != "" {
		return name, true
	}
	for _, key := range fluidClaimLabels() {
		if name := labels[key]; name != "" {
			return name, true
		}
	}
	for key := range labels {
		if strings.HasPrefix(key, fluidClaimPrefix) {
			return "", true
		}
	}
	return "", false
}
