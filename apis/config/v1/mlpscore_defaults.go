package v1

import "time"

// SetDefaults_MLPScoreArgs fills in what the administrator left out.
func SetDefaults_MLPScoreArgs(args *MLPScoreArgs) {
	if args.Mode == "" {
		args.Mode = MLPScoreOff
	}
	if args.Deadline.Duration == 0 {
		args.Deadline.Duration = 20 * time.Millisecond
	}
	if args.Fallback == "" {
		args.Fallback = MLPScoreFallbackFGD
	}
	if args.External != nil && args.External.Timeout.Duration == 0 {
		args.External.Timeout.Duration = 100 * time.Millisecond
	}
}
