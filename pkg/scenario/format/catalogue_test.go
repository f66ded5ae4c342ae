package format

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func testCatalogue(t *testing.T) []*Scenario {
	t.Helper()
	files := fstest.MapFS{}
	for _, id := range []string{"cacheaware/gateway-node", "cacheaware/gateway-node-new", "cacheaware/pvc", "diskio/pvc"} {
		text := strings.Replace(minimal, "name: x", "name: "+filepath.Base(id), 1)
		files[id+".yaml"] = &fstest.MapFile{Data: []byte(text)}
	}
	files["README.yaml"] = &fstest.MapFile{Data: []byte("not a scenario: it is in no plugin's folder")}
	catalogue, err := Load(files)
	if err != nil {
		t.Fatal(err)
	}
	return catalogue
}

func ids(scenarios []*Scenario) []string {
	var ids []string
	for _, s := range scenarios {
		ids = append(ids, s.ID())
	}
	return ids
}

func TestSelect(t *testing.T) {
	folder := t.TempDir()
	own := filepath.Join(folder, "cacheaware", "x.yaml")
	twin := filepath.Join(folder, "diskio", "pvc.yaml")
	for file, text := range map[string]string{own: minimal, twin: strings.Replace(minimal, "name: x", "name: pvc", 1)} {
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tests := map[string]struct {
		arguments []string
		want      []string
		wantErr   []string
	}{
		"nothing named means all": {
			want: []string{"cacheaware/gateway-node", "cacheaware/gateway-node-new", "cacheaware/pvc", "diskio/pvc"},
		},
		"one by its name":                 {arguments: []string{"diskio/pvc"}, want: []string{"diskio/pvc"}},
		"order and repetition are no use": {arguments: []string{"diskio/pvc", "*/pvc"}, want: []string{"cacheaware/pvc", "diskio/pvc"}},
		"a pattern":                       {arguments: []string{"cacheaware/g*"}, want: []string{"cacheaware/gateway-node", "cacheaware/gateway-node-new"}},
		"a file comes after the catalogue": {
			arguments: []string{own, "diskio/*"}, want: []string{"diskio/pvc", "cacheaware/x"},
		},
		"a file of the same name":       {arguments: []string{twin, "diskio/*"}, wantErr: []string{"diskio/pvc", "twice"}},
		"a file that is not there":      {arguments: []string{filepath.Join(folder, "no.yaml")}, wantErr: []string{"no.yaml"}},
		"a slip of the finger":          {arguments: []string{"cacheaware/gatewy-node"}, wantErr: []string{"did you mean cacheaware/gateway-node"}},
		"the plugin's name is left out": {arguments: []string{"pvc"}, wantErr: []string{"did you mean cacheaware/pvc, diskio/pvc?"}},
		"nothing like it":               {arguments: []string{"something/else-entirely"}, wantErr: []string{"there are cacheaware/gateway-node, "}},
		"a broken pattern":              {arguments: []string{"cacheaware/["}, wantErr: []string{"syntax error"}},
		"all faults at once":            {arguments: []string{"nope/one", "nope/two"}, wantErr: []string{"nope/one", "nope/two"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Select(testCatalogue(t), tc.arguments)
			if len(tc.wantErr) == 0 && err != nil {
				t.Fatal(err)
			}
			for _, want := range tc.wantErr {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("want an error with %q, found %v", want, err)
				}
			}
			if diff := cmp.Diff(tc.want, ids(got)); diff != "" {
				t.Errorf("selected (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLoadReportsEveryFault(t *testing.T) {
	_, err := Load(fstest.MapFS{
		"cacheaware/a.yaml": {Data: []byte("name: [")},
		"cacheaware/b.yaml": {Data: []byte("colour: red")},
	})
	for _, want := range []string{"cacheaware/a.yaml", "cacheaware/b.yaml"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error about %s, found %v", want, err)
		}
	}
}

// slowDistance follows the definition of the Levenshtein distance.
func slowDistance(a, b string) int {
	switch {
	case a == "" || b == "":
		return len(a) + len(b)
	case a[0] == b[0]:
		return slowDistance(a[1:], b[1:])
	}
	return 1 + min(slowDistance(a[1:], b), slowDistance(a, b[1:]), slowDistance(a[1:], b[1:]))
}

func TestDistance(t *testing.T) {
	words := []string{"", "a", "ab", "ba", "abc", "axc", "node", "noed", "gate", "gateway", "away"}
	for _, a := range words {
		for _, b := range words {
			if got, want := distance(a, b), slowDistance(a, b); got != want {
				t.Errorf("distance(%q, %q): want %d, found %d", a, b, want, got)
			}
		}
	}
}
