package v1

import (
	"strings"
	"testing"
)

func TestParseDatasetLayout(t *testing.T) {
	tests := []struct {
		name string
		text string
		want string // the error; "" is none
	}{
		{name: "the default", text: DefaultDatasetLayout},
		{name: "the dataset above the namespace", text: "{dataset}/{namespace}"},
		{name: "literal folders around", text: "pools/{namespace}/by name/{dataset}/data"},
		{name: "as deep as can be", text: "{namespace}/{dataset}" + strings.Repeat("/a", 14)},
		{
			name: "nothing", text: "",
			want: `expected a relative path with {namespace} and {dataset}, found nothing; "{namespace}/{dataset}" is usual`,
		},
		{name: "no dataset", text: "{namespace}/data", want: `expected {dataset} as exactly one segment, found it 0 times`},
		{name: "no namespace", text: "{dataset}", want: `expected {namespace} as exactly one segment, found it 0 times`},
		{
			name: "a namespace twice", text: "{namespace}/{namespace}/{dataset}",
			want: `expected {namespace} as exactly one segment, found it 2 times`,
		},
		{
			name: "two placeholders in one segment, which could be told apart in more than one way", text: "{namespace}-{dataset}",
			want: `segment 1, "{namespace}-{dataset}": braces are for {namespace} and {dataset}, each a segment of its own`,
		},
		{
			name: "a placeholder that does not exist", text: "{node}/{namespace}/{dataset}",
			want: `segment 1, "{node}": braces are for {namespace} and {dataset}, each a segment of its own`,
		},
		{name: "an absolute path", text: "/{namespace}/{dataset}", want: `segment 1, "": expected a name, found nothing; remove the slash`},
		{name: "a trailing slash", text: "{namespace}/{dataset}/", want: `segment 3, "": expected a name, found nothing; remove the slash`},
		{name: "a way out of the root", text: "../{namespace}/{dataset}", want: `segment 1, "..": expected a name, not a direction`},
		{name: "a NUL character", text: "a\x00/{namespace}/{dataset}", want: `segment 1, "a\x00": a name must not contain a NUL character`},
		{
			name: "a name that no file system takes", text: strings.Repeat("a", 256) + "/{namespace}/{dataset}",
			want: `segment 1, "` + strings.Repeat("a", 256) + `": a name has at most 255 bytes, found 256`,
		},
		{name: "too deep", text: "{namespace}/{dataset}" + strings.Repeat("/a", 15), want: `expected at most 16 segments, found 17`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			layout, err := ParseDatasetLayout(tt.text)
			var got string
			if err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("error %q, want %q", got, tt.want)
			}
			if err == nil && layout.String() != tt.text {
				t.Errorf("String() = %q, want the text again", layout)
			}
		})
	}
}

func TestDatasetLayoutMatch(t *testing.T) {
	layout, err := ParseDatasetLayout("pools/{dataset}/{namespace}/data")
	if err != nil {
		t.Fatal(err)
	}
	if layout.Depth() != 4 {
		t.Errorf("depth %d, want 4", layout.Depth())
	}
	tests := []struct {
		name               string
		path               string
		namespace, dataset string
		ok                 bool
	}{
		{name: "the root leads to datasets", path: "", ok: true},
		{name: "a literal", path: "pools", ok: true},
		{name: "another literal", path: "Pools"},
		{name: "half of the names", path: "pools/ds1", dataset: "ds1", ok: true},
		{name: "both names, not yet a dataset", path: "pools/ds1/team", dataset: "ds1", namespace: "team", ok: true},
		{name: "a dataset", path: "pools/ds1/team/data", dataset: "ds1", namespace: "team", ok: true},
		{name: "beside a dataset", path: "pools/ds1/team/tmp"},
		{name: "in a dataset", path: "pools/ds1/team/data/file"},
		{name: "a folder called like a placeholder", path: "pools/{namespace}/team/data", dataset: "{namespace}", namespace: "team", ok: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var folders []string
			if tt.path != "" {
				folders = strings.Split(tt.path, "/")
			}
			namespace, dataset, ok := layout.Match(folders)
			if namespace != tt.namespace || dataset != tt.dataset || ok != tt.ok {
				t.Errorf("Match() = %q, %q, %t; want %q, %q, %t", namespace, dataset, ok, tt.namespace, tt.dataset, tt.ok)
			}
		})
	}
}

// What is accepted is a path below the root that holds both names at places of their own: filling them in and matching
// the result gives them back.
func FuzzParseDatasetLayout(f *testing.F) {
	for _, seed := range []string{
		DefaultDatasetLayout, "pools/{dataset}/{namespace}/data", "{namespace}-{dataset}", "//", "a/../{namespace}/{dataset}", "{namespace", "\x00",
	} {
		f.Add(seed, "team", "ds1")
	}
	f.Fuzz(func(t *testing.T, text, namespace, dataset string) {
		layout, err := ParseDatasetLayout(text)
		if err != nil {
			if layout.Depth() != 0 {
				t.Errorf("an error and a layout: %v", layout)
			}
			return
		}
		if layout.String() != text {
			t.Fatalf("String() = %q, want %q", layout, text)
		}
		folders := strings.Split(text, "/")
		if len(folders) != layout.Depth() || strings.Count(text, "{") != 2 || strings.Count(text, "}") != 2 {
			t.Fatalf("%q was accepted with depth %d", text, layout.Depth())
		}
		for i, folder := range folders {
			switch folder {
			case "{namespace}":
				folders[i] = namespace
			case "{dataset}":
				folders[i] = dataset
			case "", ".", "..":
				t.Fatalf("%q was accepted, though segment %d is no name", text, i+1)
			}
		}
		gotNamespace, gotDataset, ok := layout.Match(folders)
		if !ok || gotNamespace != namespace || gotDataset != dataset {
			t.Errorf("Match(%q) = %q, %q, %t; want %q, %q", folders, gotNamespace, gotDataset, ok, namespace, dataset)
		}
		if _, _, ok := layout.Match(append(folders, "file")); ok {
			t.Error("what lies in a dataset is taken for one")
		}
	})
}
