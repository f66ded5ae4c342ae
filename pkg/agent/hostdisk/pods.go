package hostdisk

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// cgroups is where the hierarchy of control groups, version 2, is mounted.
const cgroups = "sys/fs/cgroup"

// maxCgroupDepth is deeper than any kubelet nests the groups of pods.
const maxCgroupDepth = 6

// ReadPods returns the pods that have a control group, by UID, and what each has done with each device, as io.stat tells
// it: operations and bytes, but no times. Of a pod for which the kernel does not count, that is empty. A machine without
// control groups of version 2, or without pods, has none. The error joins what could not be read of single pods.
func ReadPods(root fs.FS) (map[string]map[Number]Counters, error) {
	found := map[string]map[Number]Counters{}
	err := readPods(root, cgroups, 0, found)
	return found, err
}

func readPods(root fs.FS, at string, depth int, into map[string]map[Number]Counters) error {
	entries, err := fs.ReadDir(root, at)
	if err != nil || depth == maxCgroupDepth {
		return nil //nolint:nilerr // a folder that is not there, or was, has no pods
	}
	var errs []error
	for _, entry := range entries {
		name := entry.Name()
		if !entry.IsDir() || !strings.Contains(name, "kube") && depth == 0 {
			continue
		}
		below := path.Join(at, name)
		uid, ok := podOf(name)
		if !ok {
			errs = append(errs, readPods(root, below, depth+1, into))
			continue
		}
		usage, err := readUsage(root, path.Join(below, "io.stat"))
		if err != nil {
			errs = append(errs, fmt.Errorf("pod %s: %w", uid, err))
		}
		into[uid] = usage
	}
	return errors.Join(errs...)
}

// podOf reads the name of a pod's group: "pod<UID>", or "kubepods-burstable-pod<UID with underscores>.slice" where systemd
// keeps the groups.
func podOf(group string) (uid string, ok bool) {
	group, systemd := strings.CutSuffix(group, ".slice")
	if systemd {
		at := strings.LastIndex(group, "-pod")
		if at < 0 {
			return "", false
		}
		return podUID(strings.ReplaceAll(group[at+len("-pod"):], "_", "-"))
	}
	uid, ok = strings.CutPrefix(group, "pod")
	if !ok {
		return "", false
	}
	return podUID(uid)
}

// podUID tells UIDs, which are of hexadecimal digits and dashes, from other words: "kubepods-pod.slice".
func podUID(text string) (string, bool) {
	const shortest, longest = 8, 64
	if len(text) < shortest || len(text) > longest {
		return "", false
	}
	for _, c := range []byte(text) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') && c != '-' {
			return "", false
		}
	}
	return text, true
}

// readUsage reads an io.stat; one that is not there is an empty one.
func readUsage(root fs.FS, at string) (map[Number]Counters, error) {
	content, err := fs.ReadFile(root, at)
	if err != nil {
		return nil, nil //nolint:nilerr // the pod is gone, or the kernel does not count for it
	}
	return ParseUsage(string(content))
}

// ParseUsage reads the content of a control group's io.stat: "8:0 rbytes=1 wbytes=2 rios=3 wios=4 dbytes=0 dios=0".
// Devices without numbers, and numbers of other names, are left out.
func ParseUsage(content string) (map[Number]Counters, error) {
	found := map[Number]Counters{}
	for line := range strings.Lines(content) {
		fields := strings.Fields(line)
		if len(fields) < 2 {
			continue
		}
		number, counters, err := parseUsage(fields)
		if err != nil {
			return nil, fmt.Errorf("io.stat: line %q: %w", strings.TrimSuffix(line, "\n"), err)
		}
		found[number] = counters
	}
	return found, nil
}

func parseUsage(fields []string) (Number, Counters, error) {
	number, err := parseNumber(fields[0])
	if err != nil {
		return Number{}, Counters{}, err
	}
	counters := Counters{Number: number}
	into := map[string]*uint64{
		"rbytes": &counters.Read.Bytes, "wbytes": &counters.Write.Bytes,
		"rios": &counters.Read.Operations, "wios": &counters.Write.Operations,
	}
	for _, field := range fields[1:] {
		key, text, _ := strings.Cut(field, "=")
		target, ok := into[key]
		if !ok {
			continue
		}
		if *target, err = strconv.ParseUint(text, 10, 64); err != nil {
			return Number{}, Counters{}, fmt.Errorf("expected a number as %s: %w", key, err)
		}
	}
	return number, counters, nil
}
