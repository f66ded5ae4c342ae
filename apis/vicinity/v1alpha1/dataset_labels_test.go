package v1alpha1

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseDatasetLabels(t *testing.T) {
	cases := map[string]struct {
		labels  map[string]string
		want    []DatasetReference
		wantErr string
	}{
		"the seed's pod": {
			labels: map[string]string{"dataset.0.id": "example-dataset", "dataset.0.useas": "mount"},
			want:   []DatasetReference{{Index: 0, Name: "example-dataset", UseAs: []string{"mount"}}},
		},
		"two datasets come back by index, whatever the order of the map": {
			labels: map[string]string{"dataset.10.id": "b", "dataset.2.id": "a", "dataset.2.useas": "configmap"},
			want:   []DatasetReference{{Index: 2, Name: "a", UseAs: []string{"configmap"}}, {Index: 10, Name: "b"}},
		},
		"both uses at once, a repetition folded": {
			labels: map[string]string{"dataset.0.id": "a", "dataset.0.useas": "mount.configmap.mount"},
			want:   []DatasetReference{{Index: 0, Name: "a", UseAs: []string{"mount", "configmap"}}},
		},
		"labels that only contain the words are not meant: the predecessor took Fluid's for a dataset": {
			labels: map[string]string{"fluid.io/dataset.hbase.sched": "required", "datasetid": "x", "app": "dataset.0.id"},
		},
		"no labels": {},
		"index is no integer": {
			labels:  map[string]string{"dataset.x.id": "a"},
			wantErr: `label "dataset.x.id": want an integer as index, found "x"`,
		},
		"too few parts": {
			labels:  map[string]string{"dataset.id": "a"},
			wantErr: `label "dataset.id": want the form dataset.<index>.id or dataset.<index>.useas`,
		},
		"too many parts": {
			labels:  map[string]string{"dataset.0.id.extra": "a"},
			wantErr: `label "dataset.0.id.extra": want the form dataset.<index>.id or dataset.<index>.useas`,
		},
		"unknown last part": {
			labels:  map[string]string{"dataset.0.name": "a"},
			wantErr: `label "dataset.0.name": want "id" or "useas" at its end, found "name"`,
		},
		"a dataset under two indices": {
			labels:  map[string]string{"dataset.0.id": "a", "dataset.1.id": "a"},
			wantErr: `label "dataset.1.id": dataset "a" is named by label "dataset.0.id" already`,
		},
		"two ids for one index, written differently": {
			labels:  map[string]string{"dataset.1.id": "a", "dataset.01.id": "b"},
			wantErr: `label "dataset.1.id": index 1 names dataset "b" already`,
		},
		"two uses for one index, written differently": {
			labels:  map[string]string{"dataset.1.id": "a", "dataset.1.useas": "mount", "dataset.01.useas": "mount"},
			wantErr: `label "dataset.1.useas": label "dataset.01.useas" says the use of index 1 already`,
		},
		"unknown use": {
			labels:  map[string]string{"dataset.0.id": "a", "dataset.0.useas": "moutn"},
			wantErr: `label "dataset.0.useas": want "mount", "configmap" or both joined by a dot, found "moutn"`,
		},
		"a use of no dataset": {
			labels:  map[string]string{"dataset.0.id": "a", "dataset.1.useas": "mount"},
			wantErr: `label "dataset.1.useas": want a label "dataset.1.id" beside it that names the dataset`,
		},
		"an empty name": {
			labels:  map[string]string{"dataset.0.id": ""},
			wantErr: `label "dataset.0.id": want the name of a Dataset, found nothing`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := ParseDatasetLabels(tc.labels)
			if gotErr := errorText(err); gotErr != tc.wantErr {
				t.Fatalf("error %q, want %q", gotErr, tc.wantErr)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("references (-want +got):\n%s", diff)
			}
		})
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// FuzzParseDatasetLabels: no panic, and either a usable result or an error that names a label.
func FuzzParseDatasetLabels(f *testing.F) {
	f.Add("dataset.0.id", "a", "dataset.0.useas", "mount")
	f.Add("dataset.-1.id", "a", "dataset.1.useas", "")
	f.Add("dataset..id", "", "dataset.99999999999999999999.id", ".")
	f.Fuzz(func(t *testing.T, key1, value1, key2, value2 string) {
		labels := map[string]string{key1: value1, key2: value2}
		refs, err := ParseDatasetLabels(labels)
		if err != nil {
			if refs != nil || !strings.HasPrefix(err.Error(), "label ") {
				t.Fatalf("references %v with error %q, want none and an error that names a label", refs, err)
			}
			return
		}
		names := map[string]bool{}
		for _, ref := range refs {
			if ref.Name == "" || names[ref.Name] {
				t.Fatalf("empty or repeated dataset in %v", refs)
			}
			names[ref.Name] = true
		}
	})
}
