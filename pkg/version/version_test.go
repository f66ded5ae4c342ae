package version

import (
	"regexp"
	"runtime/debug"
	"testing"
)

func TestFromBuildInfo(t *testing.T) {
	const commit = "4bf47260b79ce643aaaabbbbccccddddeeeeffff"
	setting := func(key, value string) debug.BuildSetting { return debug.BuildSetting{Key: key, Value: value} }

	tests := []struct {
		name string
		info debug.BuildInfo
		want string
	}{
		{
			name: "installed by module version",
			info: debug.BuildInfo{Main: debug.Module{Version: "v0.3.1"}, Settings: []debug.BuildSetting{setting("vcs.revision", commit)}},
			want: "v0.3.1",
		},
		{
			name: "built from a clean checkout",
			info: debug.BuildInfo{Main: debug.Module{Version: "(devel)"}, Settings: []debug.BuildSetting{
				setting("vcs.revision", commit), setting("vcs.modified", "false"),
			}},
			want: "dev-4bf47260b79c",
		},
		{
			name: "built from a changed checkout",
			info: debug.BuildInfo{Settings: []debug.BuildSetting{
				setting("vcs.modified", "true"), setting("vcs.revision", commit),
			}},
			want: "dev-4bf47260b79c-dirty",
		},
		{
			name: "a revision shorter than what is shown",
			info: debug.BuildInfo{Settings: []debug.BuildSetting{setting("vcs.revision", "abc")}},
			want: "dev-abc",
		},
		{
			name: "built without version control",
			info: debug.BuildInfo{Main: debug.Module{Version: "(devel)"}},
			want: "dev",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := fromBuildInfo(&tt.info); got != tt.want {
				t.Errorf("fromBuildInfo() = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestStringPrefersTheStamp(t *testing.T) {
	old := Version
	t.Cleanup(func() { Version = old })

	Version = "v9.8.7"
	if got := String(); got != "v9.8.7" {
		t.Errorf("String() = %q, want the stamped version v9.8.7", got)
	}
	if got := Line("vicinity-x"); !regexp.MustCompile(`^vicinity-x v9\.8\.7 \(\w+/\w+, go.+\)$`).MatchString(got) {
		t.Errorf("Line() = %q, want program, version, platform and Go release", got)
	}

	Version = unstamped
	if got := String(); got == "" {
		t.Error("String() of an unstamped build is empty, want at least \"dev\"")
	}
}
