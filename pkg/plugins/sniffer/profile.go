package sniffer

import (
	"hash/fnv"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
)

const (
	matrixLabelValue = "full"
	redacted         = "REDACTED"
)

// Profile is what one scheduler profile records.
type Profile struct {
	// Tally is for the verdicts of the cycle that goes on.
	Tally Tally

	name             string
	args             *configv1.SnifferArgs
	include, exclude sets.Set[string]
	redact           sets.Set[string]
	recorder         *Recorder
	columns          []Column
}

func newProfile(name string, args *configv1.SnifferArgs, recorder *Recorder) *Profile {
	return &Profile{
		name: name, args: args, recorder: recorder,
		include: sets.New(args.Namespaces.Include...), exclude: sets.New(args.Namespaces.Exclude...),
		redact: sets.New(args.Labels.Redact...),
	}
}

// SetColumns tells which plugins score in this profile. It is called before the first cycle.
func (p *Profile) SetColumns(columns []Column) { p.columns = columns }

// records reports whether the pod's attempts are recorded.
func (p *Profile) records(pod *corev1.Pod) bool {
	if p.exclude.Has(pod.Namespace) || (len(p.include) > 0 && !p.include.Has(pod.Namespace)) {
		return false
	}
	return p.args.SamplePercent >= 100 || sampled(string(pod.UID), uint32(p.args.SamplePercent))
}

// sampled chooses the given share of UIDs, always the same ones.
func sampled(uid string, percent uint32) bool {
	h := fnv.New32a()
	h.Write([]byte(uid))
	return h.Sum32()%100 < percent
}

func (p *Profile) wantsMatrix(pod *corev1.Pod) bool {
	return pod.Labels[p.args.MatrixLabel] == matrixLabelValue
}

// labels returns the labels of a pod that may be recorded.
func (p *Profile) labels(pod *corev1.Pod) map[string]string {
	if len(p.args.Labels.Keep) == 0 && len(p.redact) == 0 {
		return nil
	}
	all := slices.Contains(p.args.Labels.Keep, "*")
	out := map[string]string{}
	for key, value := range pod.Labels {
		switch {
		case p.redact.Has(key):
			out[key] = redacted
		case all || slices.Contains(p.args.Labels.Keep, key):
			out[key] = value
		}
	}
	return out
}
