package hostdisk

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Mount is a line of mountinfo.
type Mount struct {
	Number Number
	// Root is the folder of the file system that is mounted: "/" for all of it.
	Root string
	// Point is where the file system is mounted, an absolute path.
	Point string
	// Type is the kind of the file system, such as "ext4".
	Type string
	// Source is what is mounted, such as "/dev/sda1".
	Source string
}

// Whose mounts are read.
const (
	// Self is the process that reads.
	Self = "self"
	// Init is the first process of the machine that the root is of.
	Init = "1"
)

// ReadMounts reads what is mounted for a process, which is Self or Init.
func ReadMounts(root fs.FS, process string) ([]Mount, error) {
	content, err := fs.ReadFile(root, path.Join("proc", process, "mountinfo"))
	if err != nil {
		return nil, fmt.Errorf("cannot read what is mounted: %w", err)
	}
	return ParseMounts(string(content))
}

// ParseMounts reads the content of mountinfo, in its order.
func ParseMounts(content string) ([]Mount, error) {
	var mounts []Mount
	for line := range strings.Lines(content) {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		mount, err := parseMount(fields)
		if err != nil {
			return nil, fmt.Errorf("mountinfo: line %q: %w", strings.TrimSuffix(line, "\n"), err)
		}
		mounts = append(mounts, mount)
	}
	return mounts, nil
}

// parseMount reads "36 35 98:0 /root /point options [optional ...] - type source options".
func parseMount(fields []string) (Mount, error) {
	const number, root, point, firstOptional = 2, 3, 4, 6
	if len(fields) < firstOptional {
		return Mount{}, fmt.Errorf("expected at least %d fields, found %d", firstOptional, len(fields))
	}
	end := slices.Index(fields[firstOptional:], "-")
	if end < 0 || len(fields[firstOptional+end:]) < 3 {
		return Mount{}, errors.New(`expected "-", a type and a source after the optional fields`)
	}
	n, err := parseNumber(fields[number])
	if err != nil {
		return Mount{}, err
	}
	rest := fields[firstOptional+end+1:]
	return Mount{Number: n, Root: unescape(fields[root]), Point: unescape(fields[point]), Type: rest[0], Source: unescape(rest[1])}, nil
}

// whole tells a file system from a folder of one that is mounted a second time, which is how a container sees files of its
// host. On btrfs each part that is mounted is a folder.
func (m Mount) whole() bool { return m.Root == "/" || m.Type == "btrfs" }

// unescape turns the kernel's \040 back into a space, and so for other bytes that would break a line into fields.
func unescape(text string) string {
	const digits = 3
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+digits < len(text) {
			if value, ok := octal(text[i+1 : i+1+digits]); ok {
				b.WriteByte(value)
				i += digits
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

func octal(digits string) (byte, bool) {
	value := 0
	for _, digit := range []byte(digits) {
		if digit < '0' || digit > '7' {
			return 0, false
		}
		value = value*8 + int(digit-'0')
	}
	return byte(value), value < 256
}

// mountOf returns the mount that a path lies on: the one with the longest point, and of several there the last, which
// covers the others.
func mountOf(mounts []Mount, file string) (Mount, bool) {
	best, found := Mount{}, false
	for _, mount := range mounts {
		inside := mount.Point == "/" || file == mount.Point || strings.HasPrefix(file, mount.Point+"/")
		if inside && (!found || len(mount.Point) >= len(best.Point)) {
			best, found = mount, true
		}
	}
	return best, found
}
