package scenario

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/vicinity-scheduler/vicinity/pkg/localcluster"
	"github.com/vicinity-scheduler/vicinity/pkg/localstack"
	"github.com/vicinity-scheduler/vicinity/pkg/scenario/format"
)

const (
	// maxOwnClusters is how many clusters besides the shared one may run at a time.
	maxOwnClusters = 3
	// logLines is how many lines of the scheduler's log are shown after a failure, of how many that are looked at.
	logLines, logLinesRead = 15, 500
)

// Runner runs scenarios on local control planes.
type Runner struct {
	// Binaries are the control plane's programs.
	Binaries localcluster.Binaries
	// Locate finds the executable of a component, for instance vicinity-scheduler.
	Locate func(name string) (string, error)
	// BinDir comes first on the PATH of programs that scenarios run; empty adds nothing.
	BinDir string
	// Progress receives lines about what is being done, one write at a time.
	Progress io.Writer
	// Report is called for each result as soon as it is there, one call at a time.
	Report func(Result)
	// Keep, when set, is called at the end with a cluster that still has what the last scenario left: the shared one
	// if there is one. The cluster stops when Keep returns.
	Keep func(ctx context.Context, stack *localstack.Stack) error

	progress io.Writer // Progress, with a lock

	mu      sync.Mutex
	results []Result
}

// Run runs the scenarios and returns their results in the order in which they ended. A scenario that could not be run
// has failed; the error is about the run as a whole, for instance that it was interrupted.
func (r *Runner) Run(ctx context.Context, scenarios []*format.Scenario) ([]Result, error) {
	r.progress = &lockedWriter{to: r.Progress}
	jobs := plan(scenarios)
	var kept *localstack.Stack
	slots := make(chan struct{}, min(maxOwnClusters, max(1, runtime.NumCPU()-1)))
	var group errgroup.Group // without a context: what goes wrong with one cluster does not concern the others
	for i, j := range jobs {
		group.Go(func() error {
			if j.name != sharedName {
				slots <- struct{}{}
				defer func() { <-slots }()
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			stack, err := r.runJob(ctx, j, r.Keep != nil && i == r.keptJob(jobs))
			if stack != nil {
				kept = stack // at most one job returns one
			}
			return err
		})
	}
	err := group.Wait()
	if kept != nil {
		if err == nil {
			err = r.Keep(ctx, kept)
		}
		err = errors.Join(err, kept.Stop(ctx))
	}
	return r.results, err
}

// keptJob is the index of the job whose cluster is kept: the shared one, else the last.
func (r *Runner) keptJob(jobs []job) int {
	if jobs[0].name == sharedName {
		return 0
	}
	return len(jobs) - 1
}

// runJob runs the job's scenarios on a cluster. It returns the cluster if it is to be kept, else stops it.
func (r *Runner) runJob(ctx context.Context, j job, keep bool) (_ *localstack.Stack, err error) {
	stack, err := localstack.Start(ctx, localstack.Options{
		Name:        j.name,
		Binaries:    r.Binaries,
		Locate:      r.Locate,
		ForeignCRDs: j.crds,
		Progress:    r.progress,
	})
	if err != nil {
		r.failAll(ctx, j.scenarios, err)
		return nil, ctx.Err()
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case died := <-stack.Cluster.Failed():
			cancel(died)
		case <-ctx.Done():
		}
	}()
	left := r.runScenarios(ctx, stack, j.scenarios, keep)
	if keep && left == nil {
		return stack, nil
	}
	return nil, errors.Join(left, stack.Stop(ctx))
}

// runScenarios runs scenarios one after the other. When the cluster becomes unusable the rest has failed.
func (r *Runner) runScenarios(ctx context.Context, stack *localstack.Stack, scenarios []*format.Scenario, keep bool) error {
	var running *format.Profile
	for i, scenario := range scenarios {
		s := &session{scenario: scenario, stack: stack, kubeconfig: stack.Cluster.AdminKubeconfig(), binDir: r.BinDir}
		if running == nil || running.Key() != scenario.Profile.Key() || scenario.Profile.NamesFolder() {
			if err := r.startScheduler(ctx, stack, s); err != nil {
				r.failAll(ctx, scenarios[i:], err)
				return interrupted(ctx)
			}
			running = &scenario.Profile
		}
		result := s.play(ctx)
		if interrupted(ctx) != nil {
			return interrupted(ctx)
		}
		r.report(result)
		if !result.OK {
			r.explain(result, logOf(stack, scenario))
		}
		if i == len(scenarios)-1 {
			break
		}
		if err := s.cleanUp(ctx); err != nil {
			r.failAll(ctx, scenarios[i+1:], fmt.Errorf("cleaning up after %s: %w", scenario.ID(), err))
			return interrupted(ctx)
		}
	}
	if keep {
		return awaitNamespacesGone(ctx, stack, scenarios[:len(scenarios)-1])
	}
	return nil
}

// explain shows what does not fit into a line of results.
func (r *Runner) explain(result Result, log string) {
	if strings.Contains(result.Reason, "\n") {
		r.progressf("%s: %s", result.Scenario, result.Reason)
	}
	if log != "" {
		r.progressf("%s: from the scheduler's log:\n%s", result.Scenario, log)
	}
}

// logOf returns what the scheduler has logged about a scenario's namespace.
func logOf(stack *localstack.Stack, scenario *format.Scenario) string {
	var lines []string
	for line := range strings.Lines(stack.LogTail(localstack.Scheduler, logLinesRead)) {
		if strings.Contains(line, scenario.Namespace()+"/") {
			lines = append(lines, strings.TrimSuffix(line, "\n"))
		}
	}
	return strings.Join(lines[max(0, len(lines)-logLines):], "\n")
}

// startScheduler starts the scheduler with the scenario's profile, after stopping the one that runs with another. It also
// serves the predecessors' names, under which some scenarios' pods ask for it.
func (r *Runner) startScheduler(ctx context.Context, stack *localstack.Stack, s *session) error {
	config, err := stack.SchedulerConfig()
	if err != nil {
		return err
	}
	profile, err := s.profile()
	if err != nil {
		return err
	}
	for _, setting := range settings(profile) {
		if err := config.SetPlugin(setting); err != nil {
			return err
		}
	}
	if err := config.AddCompatProfiles(); err != nil {
		return err
	}
	if _, err := stack.Process(localstack.Scheduler); err == nil {
		if err := stack.StopComponent(ctx, localstack.Scheduler); err != nil {
			return err
		}
	}
	return stack.StartScheduler(ctx, config)
}

// failAll reports scenarios that could not be run, unless the user has interrupted the run.
func (r *Runner) failAll(ctx context.Context, scenarios []*format.Scenario, err error) {
	if interrupted(ctx) != nil {
		return
	}
	for _, s := range scenarios {
		r.report(Result{Scenario: s.ID(), Plugin: s.Plugin, Reason: "not run: " + err.Error()})
	}
}

// interrupted returns an error when ctx was ended from outside, and nil when a process of the cluster has died.
func interrupted(ctx context.Context) error {
	if ctx.Err() != nil && errors.Is(context.Cause(ctx), context.Canceled) {
		return ctx.Err()
	}
	return nil
}

func (r *Runner) report(result Result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.results = append(r.results, result)
	r.Report(result)
}

func (r *Runner) progressf(format string, args ...any) {
	fmt.Fprintf(r.progress, format+"\n", args...)
}

// Failed returns the results that are not ok.
func Failed(results []Result) []Result {
	return slices.DeleteFunc(slices.Clone(results), func(r Result) bool { return r.OK })
}

// lockedWriter keeps lines from several clusters apart.
type lockedWriter struct {
	mu sync.Mutex
	to io.Writer
}

func (w *lockedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(p)
}
