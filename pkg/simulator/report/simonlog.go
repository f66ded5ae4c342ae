package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/vicinity-scheduler/vicinity/pkg/gpushare"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
)

// SimonLog writes the predecessor's log lines, which its analysis script cuts into tables. It is an observer of a run.
type SimonLog struct {
	out io.Writer
	now func() time.Time
	// bellman writes the second fragmentation, which a run computes on demand.
	bellman bool
	err     error
}

// NewSimonLog writes to out. now stamps the lines; bellman says whether the run computes the recursive fragmentation.
func NewSimonLog(out io.Writer, now func() time.Time, bellman bool) *SimonLog {
	return &SimonLog{out: out, now: now, bellman: bellman}
}

// Err is the first error of writing.
func (l *SimonLog) Err() error { return l.err }

// line writes in the form of a logger that does not write to a terminal; the script looks for level=info msg=.
func (l *SimonLog) line(format string, args ...any) {
	if l.err != nil {
		return
	}
	text := strconv.Quote(fmt.Sprintf(format, args...))
	if _, err := fmt.Fprintf(l.out, "time=%q level=info msg=%s\n", l.now().Format(time.RFC3339), text); err != nil {
		l.err = fmt.Errorf("writing the log: %w", err)
	}
}

// Observe writes an event and the state after it.
func (l *SimonLog) Observe(e *model.Event) {
	verb := "create"
	if e.Kind == model.Deleted {
		verb = "delete"
	}
	l.line("[%d] attempt to %s pod(%s)", e.Index, verb, e.PodSpec.Key())
	if e.Kind == model.Failed {
		l.line("[%d] failed to schedule pod(%s): %s", e.Index, e.PodSpec.Key(), resources(e.PodSpec))
	}
	u := e.Usage
	l.line("[Report]; Frag amount: %.2f; Frag ratio: %.2f%%; Q124 ratio: %.2f%%; (origin)", u.Frag.Fragment(), u.FragRatio(), q124(u))
	if l.bellman {
		l.line("[Report]; Frag amount: %.2f; Frag ratio: %.2f%%; (bellman)", u.Bellman, percent(u.Bellman, float64(u.IdleGPUMilli())))
	}
	l.line("[Alloc]; Used nodes: %d; Used GPUs: %d; Used GPU Milli: %d; Total GPUs: %d; Arrived GPU Milli: %d",
		u.UsedNodes, u.UsedNodeGPUs, u.UsedGPUMilli, u.TotalGPUs, u.ArrivedGPUMilli)
}

// q124 is the part of the idle capacity that lacks CPU, GPU or both, in percent.
func q124(u *model.Usage) float64 {
	lacking := u.Frag[gpushare.Q1LackBoth] + u.Frag[gpushare.Q2LackGPU] + u.Frag[gpushare.Q4LackCPU]
	return percent(lacking, float64(u.IdleGPUMilli()))
}

func percent(part, whole float64) float64 {
	if whole == 0 {
		return 0
	}
	return 100 * part / whole
}

// resources is a pod's request as the predecessor writes it.
func resources(p *model.Pod) string {
	text := fmt.Sprintf("<CPU: %.2f, GPU: %d", float64(p.CPUMilli)/1000, p.GPUs)
	if p.GPUs > 0 {
		text += fmt.Sprintf(" x {%d}m", p.GPUMilli)
	}
	return text + " (" + strings.Join(p.GPUModels, "|") + ")>"
}

// fragNames are the predecessor's names of the classes.
func fragNames() [gpushare.Quadrants]string {
	return [gpushare.Quadrants]string{
		gpushare.Q1LackBoth: "q1_lack_both", gpushare.Q2LackGPU: "q2_lack_gpu", gpushare.Q3Satisfied: "q3_satisfied",
		gpushare.Q4LackCPU: "q4_lack_cpu", gpushare.XLSatisfied: "xl_satisfied", gpushare.XRLackCPU: "xr_lack_cpu",
		gpushare.NoAccess: "no_access",
	}
}

// Stages writes the closing block of each stage.
func (l *SimonLog) Stages(r *model.Result) {
	for i := range r.Stages {
		l.stage(&r.Stages[i])
	}
}

func (l *SimonLog) stage(s *model.Stage) {
	u := &s.Usage
	l.line("========== Cluster Analysis Results (%s) ==========", s.Tag)
	l.line("Allocation Ratio:")
	ratio := func(name string, used, total int64) {
		l.line("    %-12s: %.1f%% (%d/%d)", name, percent(float64(used), float64(total)), used, total)
	}
	// Its log says MilliCpuLeft of what is requested, its script looks for MilliCpu and loses the column.
	ratio("MilliCpuLeft", u.UsedCPUMilli, u.TotalCPUMilli)
	ratio("MilliCpu", u.UsedCPUMilli, u.TotalCPUMilli)
	ratio("Memory", u.UsedMemoryBytes, u.TotalMemoryBytes)
	ratio("Gpu", int64(u.UsedGPUs), int64(u.TotalGPUs))
	ratio("MilliGpu", u.UsedGPUMilli, u.TotalGPUMilli)
	amount := func(name string, milli float64) {
		l.line("%-18s: %10.2f x 10^3 (%6.2f%%)", name, milli/1000, percent(milli, float64(u.IdleGPUMilli())))
	}
	for class, name := range fragNames() {
		amount(name, u.Frag[class])
	}
	l.line("%s", strings.Repeat("-", 62))
	amount("idle_gpu_milli", float64(u.IdleGPUMilli()))
	amount("frag_gpu_milli", u.Frag.Fragment())
	l.line("%s", strings.Repeat("=", 62))
}
