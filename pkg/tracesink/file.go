package tracesink

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/go-logr/logr"
	"gopkg.in/natefinch/lumberjack.v2"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	"github.com/vicinity-scheduler/vicinity/pkg/trace"
)

// File writes records as JSON lines into a file that is rotated by size. The library that rotates keeps a goroutine from
// the first rotation to the end of the process.
type File struct {
	name    string
	out     io.WriteCloser
	metrics *Metrics
	logger  logr.Logger
	health  health
}

// NewFile returns the sink. The file is made with the first record.
func NewFile(logger logr.Logger, args *configv1.SnifferFileSink, metrics *Metrics) *File {
	return &File{name: args.Path, metrics: metrics, logger: logger, out: &lumberjack.Logger{
		Filename: args.Path, MaxSize: int(args.MaxSizeMiB), MaxBackups: int(args.MaxBackups), MaxAge: int(args.MaxAgeDays),
		Compress: args.Compress,
	}}
}

// Write appends a line.
func (f *File) Write(record *trace.Record) {
	line, err := json.Marshal(record)
	if err == nil {
		_, err = f.out.Write(append(line, '\n'))
	}
	if f.health.changed(err) {
		if err != nil {
			f.logger.Error(err, "Decision records are not written to the file; they are lost there until it can be written again", "file", f.name)
		} else {
			f.logger.Info("Decision records are written to the file again", "file", f.name)
		}
	}
	if err != nil {
		f.metrics.lost.WithLabelValues("file", "error").Inc()
		return
	}
	f.metrics.written.WithLabelValues("file").Inc()
}

// Close closes the file.
func (f *File) Close(context.Context) error {
	if err := f.out.Close(); err != nil {
		return fmt.Errorf("file of decision records %s: %w", f.name, err)
	}
	return nil
}
