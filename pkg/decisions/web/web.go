package web

import (
	"embed"
	"fmt"
	"io/fs"
	"net/http"
)

//go:embed static
var static embed.FS

// policy lets the page load nothing but its own files, and nobody frame it. uPlot and the heat map set sizes of elements
// through their style property, which is no inline style in the sense of the policy.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Register adds the page to mux.
func Register(mux *http.ServeMux) error {
	files, err := fs.Sub(static, "static")
	if err != nil {
		return fmt.Errorf("finding the page's files: %w", err)
	}
	server := http.FileServerFS(files)
	mux.HandleFunc("GET /", func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy", policy)
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Referrer-Policy", "no-referrer")
		// Small files without versions in their names: an update must not meet a page of the last one.
		header.Set("Cache-Control", "no-cache")
		server.ServeHTTP(w, r)
	})
	return nil
}
