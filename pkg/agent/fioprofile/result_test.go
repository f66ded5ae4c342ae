package fioprofile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseOutputOfFio(t *testing.T) {
	content, err := os.ReadFile("testdata/randrw.json")
	if err != nil {
		t.Fatal(err)
	}
	got, err := ParseOutput(content)
	// 1072042538 + 1066212749 bytes, 32716.1 + 32538.2 operations.
	if want := (Rate{2138255287, 65254}); err != nil || got != want {
		t.Errorf("ParseOutput() = %+v, %v, want %+v", got, err, want)
	}
}

func TestParseOutputSaysWhatIsWrong(t *testing.T) {
	for _, tt := range []struct{ name, content, want string }{
		{"a message", "fio: engine libaio not loadable\n", "expected the JSON of fio"},
		{"no job", `{"jobs": []}`, "expected the result of one job of fio, found 0"},
		{"a failed job", `{"jobs": [{"error": 28}]}`, "fio reports error 28"},
		{"a job that did nothing", `{"jobs": [{"read": {"bw_bytes": 0, "iops": 0}}]}`, "fio did nothing"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := ParseOutput([]byte(tt.content)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want it to say %q", err, tt.want)
			}
		})
	}
}

func TestCacheKnowsADiskByMoreThanItsIdentifier(t *testing.T) {
	file := filepath.Join(t.TempDir(), "disks.json")
	first := Disk{ID: "vda", Vendor: "virtio", Model: "virtio-blk", SizeBytes: 1 << 30}
	stored, err := loadCache(file)
	if err != nil {
		t.Fatal(err)
	}
	stored.set(first, stepRead, Rate{1, 2})
	stored.set(first, stepWrite, Rate{3, 4})
	if err := stored.save(file); err != nil {
		t.Fatal(err)
	}
	again, err := loadCache(file)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]Rate{stepRead: {1, 2}, stepWrite: {3, 4}}
	if diff := cmp.Diff(want, again.steps(first)); diff != "" {
		t.Errorf("steps (-saved +loaded):\n%s", diff)
	}
	larger := first
	larger.SizeBytes *= 2
	if got := again.steps(larger); got != nil {
		t.Errorf("steps of another disk of that identifier %v, want none", got)
	}
	again.set(larger, stepRead, Rate{5, 6})
	if diff := cmp.Diff(map[string]Rate{stepRead: {5, 6}}, again.steps(larger)); diff != "" {
		t.Errorf("steps of the other disk (-want +got):\n%s", diff)
	}
	if left, err := filepath.Glob(file + ".*"); err != nil || len(left) != 0 {
		t.Errorf("files left behind: %v, %v", left, err)
	}
}

func TestLoadCacheSaysWhatIsWrong(t *testing.T) {
	for _, tt := range []struct{ name, content, want string }{
		{"no JSON", "{", "remove it"},
		{"a later version", `{"version": 2}`, "expected version 1, found 2; remove it"},
		{"far too long", strings.Repeat(" ", maxCacheBytes+1), "expected at most 1048576 bytes, found 1048577; remove it"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "disks.json")
			if err := os.WriteFile(file, []byte(tt.content), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := loadCache(file); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want it to say %q", err, tt.want)
			}
		})
	}
}

func FuzzParseOutput(f *testing.F) {
	f.Add([]byte(`{"fio version": "fio-3.33", "jobs": [{"error": 0, "read": {"bw_bytes": 1e300, "iops": -1}, "write": {"bw_bytes": 5}}]}`))
	f.Add([]byte(`{"jobs": [{"read": {"bw_bytes": 10, "iops": 2.5}}]}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		if rate, err := ParseOutput(content); (err == nil) != rate.valid() {
			t.Fatalf("ParseOutput() = %+v, %v", rate, err)
		}
	})
}

func FuzzParseCache(f *testing.F) {
	f.Add([]byte(`{"version": 1, "disks": {"d": {"vendor": "v", "model": "m", "sizeBytes": 1, "steps": {"read-32k": {"bytesPerSecond": 1, "operationsPerSecond": 1}}}}}`))
	f.Add([]byte(`{"version": 1, "disks": {"d": {"steps": {"read-32k": {"bytesPerSecond": -1}}}}}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		found, err := parseCache(content)
		if err != nil {
			return
		}
		disk := Disk{ID: "d", Vendor: "v", Model: "m", SizeBytes: 1}
		for _, s := range steps() {
			found.set(disk, s.name, Rate{1, 1})
		}
		if got, ok := capacityOf(found.steps(disk)); !ok || got != (Capacity{1, 1, 1, 1, 1}) {
			t.Fatalf("capacity %+v, %t", got, ok)
		}
	})
}
