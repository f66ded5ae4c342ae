package version

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// unstamped is the value of Version in a build that nobody stamped.
const unstamped = "dev"

// revisionLength is how many hexadecimal digits of a commit are shown: as many as Go itself puts
// into a pseudo-version, which is enough to be unique in any repository.
const revisionLength = 12

// Version is the version of Vicinity, for example "v0.1.0". Release builds set it with
//
//	-ldflags "-X github.com/vicinity-scheduler/vicinity/pkg/version.Version=v0.1.0"
//
// which is why it has to be a variable. Nothing writes it while the program runs.
var Version = "dev"

// String returns the stamped Version. A build without a stamp describes itself as well as the
// toolchain allows: by the module version that "go install" resolved, by the commit it was built
// from, or, knowing nothing, as "dev".
func String() string {
	if Version != unstamped {
		return Version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return unstamped
	}
	return fromBuildInfo(info)
}

// Line returns one line for humans about the named program: its version, platform and Go release.
func Line(program string) string {
	return fmt.Sprintf("%s %s (%s/%s, %s)", program, String(), runtime.GOOS, runtime.GOARCH, runtime.Version())
}

func fromBuildInfo(info *debug.BuildInfo) string {
	// "(devel)" is what the toolchain writes when it knows no version: the commit says more.
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	var revision, dirty string
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value[:min(len(s.Value), revisionLength)]
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "-dirty"
		}
	}
	if revision == "" {
		return unstamped
	}
	return unstamped + "-" + revision + dirty
}
