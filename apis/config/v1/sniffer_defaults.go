package v1

import "cmp"

// DefaultMatrixLabel is the default of SnifferArgs.matrixLabel.
const DefaultMatrixLabel = "vicinity.dev/trace"

// SetDefaults_SnifferArgs fills in what the administrator left out.
func SetDefaults_SnifferArgs(args *SnifferArgs) {
	args.SamplePercent = cmp.Or(args.SamplePercent, 100)
	args.TopK = cmp.Or(args.TopK, 5)
	args.MatrixLabel = cmp.Or(args.MatrixLabel, DefaultMatrixLabel)
	args.QueueLength = cmp.Or(args.QueueLength, 8192)
	if file := args.Sinks.File; file != nil {
		file.MaxSizeMiB = cmp.Or(file.MaxSizeMiB, 100)
		file.MaxBackups = cmp.Or(file.MaxBackups, 5)
	}
	if service := args.Sinks.Service; service != nil {
		service.SpoolMaxMiB = cmp.Or(service.SpoolMaxMiB, 4096)
	}
	if tracing := args.Sinks.Tracing; tracing != nil {
		tracing.SamplePercent = cmp.Or(tracing.SamplePercent, 100)
	}
	if live := args.Sinks.Live; live != nil {
		live.Records = cmp.Or(live.Records, 2000)
	}
}
