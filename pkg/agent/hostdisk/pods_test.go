package hostdisk

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// The tree has the groups of a kubelet whose groups systemd keeps, of one that makes folders itself, and of one that runs
// in a container of another; and groups of other programs, which are no pods.
func TestReadPods(t *testing.T) {
	got, err := ReadPods(os.DirFS("testdata/pods"))
	if err != nil {
		t.Fatal(err)
	}
	of := func(major, minor uint32, reads, readBytes, writes, writeBytes uint64) Counters {
		return Counters{
			Number: Number{major, minor},
			Read:   Transfers{Operations: reads, Bytes: readBytes}, Write: Transfers{Operations: writes, Bytes: writeBytes},
		}
	}
	want := map[string]map[Number]Counters{
		"3f1c8e52-77aa-4d0b-9c55-0123456789ab": {{254, 0}: of(254, 0, 1, 4096, 16, 1048576), {253, 2}: of(253, 2, 0, 0, 16, 1048576)},
		"0123456789abcdef0123456789abcdef":     {{254, 0}: of(254, 0, 3, 1, 4, 2)},
		"a0a0a0a0-0000-4000-8000-000000000001": {},
		"11111111-2222-4333-8444-555555555555": {{259, 0}: of(259, 0, 10, 100, 20, 200)},
		"99999999-2222-4333-8444-555555555555": {{259, 0}: of(259, 0, 1, 1, 1, 1)},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pods (-want +got):\n%s", diff)
	}
}

func TestReadPodsWithoutControlGroups(t *testing.T) {
	if got, err := ReadPods(fstest.MapFS{}); err != nil || len(got) != 0 {
		t.Errorf("ReadPods() = %v, %v, want neither", got, err)
	}
}

func TestReadPodsNamesThePodThatItCannotRead(t *testing.T) {
	const uid = "11111111-2222-4333-8444-555555555555"
	got, err := ReadPods(fstest.MapFS{
		"sys/fs/cgroup/kubepods/pod" + uid + "/io.stat": {Data: []byte("8:0 rbytes=many\n")},
		"sys/fs/cgroup/kubepods/podcafecafe/io.stat":    {Data: []byte("8 rbytes=1\n")},
	})
	for _, want := range []string{
		"pod " + uid + `: io.stat: line "8:0 rbytes=many": expected a number as rbytes`,
		`pod cafecafe: io.stat: line "8 rbytes=1": expected a device number such as 8:1, found "8"`,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want it to say %q", err, want)
		}
	}
	if _, there := got[uid]; !there || len(got) != 2 {
		t.Errorf("pods %v, want both, which are there all the same", got)
	}
}

func TestPodOf(t *testing.T) {
	for group, want := range map[string]string{
		"pod1234abcd": "1234abcd", "kubepods-pod1234abcd.slice": "1234abcd", "kubepods-burstable-pod12_34_abcd.slice": "12-34-abcd",
		"kubepods.slice": "", "kubepods": "", "burstable": "", "pod.slice": "", "pod": "", "podman-1234abcd.scope": "", "poduser.slice": "",
		"podXYZ01234": "", "kubepods-pod1234abc.slice": "",
	} {
		if got, ok := podOf(group); got != want || ok != (want != "") {
			t.Errorf("podOf(%q) = %q, %t, want %q", group, got, ok, want)
		}
	}
}

func FuzzParseUsage(f *testing.F) {
	f.Add("8:0 rbytes=1 wbytes=2 rios=3 wios=4 dbytes=0 dios=0\n254:16 \n")
	f.Add("8:0 rbytes=18446744073709551616")
	f.Add("(unknown) rbytes=1 wbytes=\n")
	f.Fuzz(func(t *testing.T, content string) {
		found, err := ParseUsage(content)
		if (err == nil) == (found == nil) {
			t.Fatalf("both or neither of %v and %v", found, err)
		}
		for number, counters := range found {
			if counters.Number != number || counters.Busy != 0 {
				t.Fatalf("%v: %+v", number, counters)
			}
		}
	})
}
