package manifests

import (
	"bytes"
	"embed"
	"io/fs"
)

//go:embed install.yaml
var installYAML []byte

//go:embed chart/crds/*.yaml
var crdFiles embed.FS

// Install returns install.yaml, a stream of YAML documents: our CRDs, then everything else that Vicinity needs in a
// cluster, in an order in which it can be applied. The slice is the caller's own.
func Install() []byte {
	return bytes.Clone(installYAML)
}

//go:embed models/mlpscore.safetensors
var model []byte

// Model returns the model that plugin MLPScore has built in; docs/mlp.md tells how it was trained. The slice is shared:
// do not change it.
func Model() []byte { return model }

// CRDs returns the files of our CRDs, each with one document, under chart/crds.
func CRDs() fs.FS {
	return crdFiles
}
