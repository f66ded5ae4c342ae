package v1

import "time"

// SetDefaults_DiskIOArgs fills in what the administrator left out.
func SetDefaults_DiskIOArgs(args *DiskIOArgs) {
	if args.ScoreStrategy == "" {
		args.ScoreStrategy = DiskIOLeastAllocated
	}
	if args.BestEffortMinimum == 0 {
		args.BestEffortMinimum = 5 << 20
	}
	if args.StaleAfter.Duration == 0 {
		args.StaleAfter.Duration = 2 * time.Minute
	}
}
