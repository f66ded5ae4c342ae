package v1alpha1

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

const (
	// DatasetLabelPrefix starts every label by which a pod names a dataset: "dataset.<index>.id" holds the
	// name of a Dataset in the pod's namespace, "dataset.<index>.useas" says how the pod uses it. The rule is
	// that of Datashim's pod webhook.
	DatasetLabelPrefix = "dataset."
	// DatasetUseAsMount mounts the dataset as a volume.
	DatasetUseAsMount = "mount"
	// DatasetUseAsConfigMap passes the dataset's access data as environment variables.
	DatasetUseAsConfigMap = "configmap"
)

// DatasetReference is one dataset that a pod names by its labels.
type DatasetReference struct {
	// Index is the number in the label keys. It only tells references apart.
	Index int
	// Name of the Dataset in the pod's namespace, never empty.
	Name string
	// UseAs holds the ways of use without repetition, in the order written; empty when the pod does not say.
	UseAs []string
}

// ParseDatasetLabels returns the datasets that a pod's labels name, ordered by index, or nil when there are
// none. Labels without the dataset prefix are not looked at. Of several faults, the error names the one of the
// label that sorts first, so that the same labels give the same text each time.
func ParseDatasetLabels(labels map[string]string) ([]DatasetReference, error) {
	var keys []string
	for key := range labels {
		if strings.HasPrefix(key, DatasetLabelPrefix) {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return nil, nil
	}
	slices.Sort(keys)
	parsed := datasetLabels{ids: map[int]string{}, byName: map[string]string{}, useAs: map[int]useAsLabel{}}
	for _, key := range keys {
		if err := parsed.add(key, labels[key]); err != nil {
			return nil, err
		}
	}
	return parsed.references()
}

// datasetLabels collects what was read so far. The keys kept beside the values are for error messages.
type datasetLabels struct {
	ids    map[int]string
	byName map[string]string // dataset name -> label key that named it
	useAs  map[int]useAsLabel
}

type useAsLabel struct {
	key  string
	ways []string
}

func (d *datasetLabels) add(key, value string) error {
	parts := strings.Split(key, ".")
	if len(parts) != 3 {
		return fmt.Errorf("label %q: want the form dataset.<index>.id or dataset.<index>.useas", key)
	}
	index, err := strconv.Atoi(parts[1])
	if err != nil {
		return fmt.Errorf("label %q: want an integer as index, found %q", key, parts[1])
	}
	switch parts[2] {
	case "id":
		return d.addID(index, key, value)
	case "useas":
		return d.addUseAs(index, key, value)
	default:
		return fmt.Errorf("label %q: want \"id\" or \"useas\" at its end, found %q", key, parts[2])
	}
}

func (d *datasetLabels) addID(index int, key, name string) error {
	if name == "" {
		return fmt.Errorf("label %q: want the name of a Dataset, found nothing", key)
	}
	if other, ok := d.ids[index]; ok {
		return fmt.Errorf("label %q: index %d names dataset %q already", key, index, other)
	}
	if other, ok := d.byName[name]; ok {
		return fmt.Errorf("label %q: dataset %q is named by label %q already", key, name, other)
	}
	d.ids[index], d.byName[name] = name, key
	return nil
}

func (d *datasetLabels) addUseAs(index int, key, value string) error {
	if other, ok := d.useAs[index]; ok {
		return fmt.Errorf("label %q: label %q says the use of index %d already", key, other.key, index)
	}
	var ways []string
	for way := range strings.SplitSeq(value, ".") {
		way = strings.TrimSpace(way)
		if way != DatasetUseAsMount && way != DatasetUseAsConfigMap {
			return fmt.Errorf("label %q: want %q, %q or both joined by a dot, found %q",
				key, DatasetUseAsMount, DatasetUseAsConfigMap, value)
		}
		if !slices.Contains(ways, way) {
			ways = append(ways, way)
		}
	}
	d.useAs[index] = useAsLabel{key: key, ways: ways}
	return nil
}

func (d *datasetLabels) references() ([]DatasetReference, error) {
	for _, index := range slices.Sorted(maps.Keys(d.useAs)) {
		if _, ok := d.ids[index]; !ok {
			return nil, fmt.Errorf("label %q: want a label \"dataset.%d.id\" beside it that names the dataset",
				d.useAs[index].key, index)
		}
	}
	out := make([]DatasetReference, 0, len(d.ids))
	for index, name := range d.ids {
		out = append(out, DatasetReference{Index: index, Name: name, UseAs: d.useAs[index].ways})
	}
	slices.SortFunc(out, func(a, b DatasetReference) int { return cmp.Compare(a.Index, b.Index) })
	return out, nil
}
