package state

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	"github.com/vicinity-scheduler/vicinity/pkg/locality"
)

// datashimPlacement is the placement in a DatasetInternal's status.
type datashimPlacement struct {
	gateways      []locality.Location
	dataLocations []locality.Location
}

// replicas are the gateways, because data behind a gateway is read through it, or the data locations where there
// is no gateway.
func (p *datashimPlacement) replicas() []locality.Replica {
	places := p.gateways
	if len(places) == 0 {
		places = p.dataLocations
	}
	out := make([]locality.Replica, len(places))
	for i, at := range places {
		out[i] = locality.Replica{At: at, Gateway: len(p.gateways) > 0, Source: string(configv1.SourceDatashim)}
	}
	return out
}

// maxLocations bounds the gateways, and the data locations, that are kept of one dataset. Real ones have a few;
// the bound keeps an object with ten thousand entries from making every pod of that dataset slow.
const maxLocations = 1024

// decodeDatashimPlacement reads a DatasetInternal and returns how many entries had to be left out because they
// had a wrong type, no key, no value, or were too many. Entries are read one by one since the old group's schema
// allows anything: one bad entry hides no other. Repetitions are folded; Datashim writes one entry per storage
// daemon.
func decodeDatashimPlacement(u *unstructured.Unstructured) (datashimPlacement, int) {
	placements, found, err := unstructured.NestedFieldNoCopy(u.Object, "status", "caching", "placements")
	if err != nil {
		return datashimPlacement{}, 1
	}
	if !found || placements == nil {
		return datashimPlacement{}, 0
	}
	fields, ok := placements.(map[string]any)
	if !ok {
		return datashimPlacement{}, 1
	}
	gateways, faults := decodeLocations(fields["gateways"])
	dataLocations, moreFaults := decodeLocations(fields["datalocations"])
	return datashimPlacement{gateways: gateways, dataLocations: dataLocations}, faults + moreFaults
}

func decodeLocations(value any) (locations []locality.Location, faults int) {
	if value == nil {
		return nil, 0
	}
	entries, ok := value.([]any)
	if !ok {
		return nil, 1
	}
	seen := map[locality.Location]bool{}
	for _, entry := range entries {
		fields, _ := entry.(map[string]any)
		key, _ := fields["key"].(string)
		name, _ := fields["value"].(string)
		at := locality.Location{Key: key, Value: name}
		switch {
		case key == "" || name == "" || len(locations) == maxLocations:
			faults++
		case !seen[at]:
			seen[at] = true
			locations = append(locations, at)
		}
	}
	return locations, faults
}
