package scenarios

import (
	"embed"
	"io/fs"
)

//go:embed */*.yaml
var files embed.FS

// FS has the scenario files at <plugin>/<name>.yaml.
func FS() fs.FS { return files }
