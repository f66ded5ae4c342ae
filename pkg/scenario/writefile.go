package scenario

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/vicinity-scheduler/vicinity/pkg/scenario/format"
)

func (s *session) writeFile(_ context.Context, w *format.WriteFile) error {
	file, mode := filepath.Join(s.dir, w.Path), os.FileMode(0o600)
	if w.Executable {
		mode = 0o700
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return fmt.Errorf("creating the file's folder: %w", err)
	}
	if err := os.WriteFile(file, []byte(w.Content), mode); err != nil {
		return fmt.Errorf("writing the file: %w", err)
	}
	return nil
}
