package crds

import (
	"embed"
	"io/fs"
)

//go:embed datashim/*.yaml fluid/*.yaml
var files embed.FS

// FS returns the CRDs as <project>/<name>.yaml, one document a file.
func FS() fs.FS {
	return files
}
