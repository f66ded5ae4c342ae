package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
)

// lastPercent is the last column of the predecessor's tables.
const lastPercent = 130

// tuneOf is the demand that a run reached, as its tables name the tuning: 1.3 for 130 %.
func tuneOf(r *Run) string {
	last, found := r.Last()
	if !found {
		return "0"
	}
	return strconv.FormatFloat(float64(last.ArrivedPercent)/100, 'f', -1, 64)
}

// column is one of the predecessor's tables of curves.
type column struct {
	file      string
	value     func(*model.CurvePoint) float64
	totalGPUs bool
}

func columns() []column {
	return []column{
		{"analysis_allo_discrete.csv", func(p *model.CurvePoint) float64 { return p.Allocation }, true},
		{"analysis_frag_discrete.csv", func(p *model.CurvePoint) float64 { return p.FragCapacity }, true},
		{"analysis_frag_ratio_discrete.csv", func(p *model.CurvePoint) float64 { return p.FragRatio }, false},
	}
}

// WriteDocumentCurves writes the table of allocation of results that were read back.
func WriteDocumentCurves(out io.Writer, documents []*Document) error {
	table := csv.NewWriter(out)
	header := []string{"workload", "sc_policy", "tune", "seed", "total_gpus"}
	for percent := range lastPercent + 1 {
		header = append(header, strconv.Itoa(percent))
	}
	rows := [][]string{header}
	for _, d := range documents {
		tune := 0.0
		cells := make([]string, lastPercent+1)
		for _, point := range d.Allocation {
			tune = max(tune, float64(point.ArrivedPercent)/100)
			if point.ArrivedPercent <= lastPercent {
				cells[point.ArrivedPercent] = strconv.FormatFloat(point.Value, 'f', 2, 64)
			}
		}
		row := []string{d.Trace, d.Policy, strconv.FormatFloat(tune, 'f', -1, 64), strconv.FormatInt(d.Seed, 10), strconv.Itoa(d.GPUs)}
		rows = append(rows, append(row, cells...))
	}
	if err := table.WriteAll(rows); err != nil {
		return fmt.Errorf("writing a table: %w", err)
	}
	return nil
}

// WriteCurves writes the table of allocation: a row for each run, a column for each percent of arrived demand.
func WriteCurves(out io.Writer, runs ...*Run) error { return writeCurves(out, columns()[0], runs) }

func writeCurves(out io.Writer, c column, runs []*Run) error {
	table := csv.NewWriter(out)
	header := []string{"workload", "sc_policy", "tune", "seed"}
	if c.totalGPUs {
		header = append(header, "total_gpus")
	}
	for percent := range lastPercent + 1 {
		header = append(header, strconv.Itoa(percent))
	}
	rows := [][]string{header}
	for _, r := range runs {
		row := []string{r.Trace, r.Policy, tuneOf(r), strconv.FormatInt(r.Seed, 10)}
		if c.totalGPUs {
			row = append(row, strconv.Itoa(r.TotalGPUs()))
		}
		for percent := range lastPercent + 1 {
			cell := ""
			if point, found := r.At(percent); found {
				cell = strconv.FormatFloat(c.value(&point), 'f', 2, 64)
			}
			row = append(row, cell)
		}
		rows = append(rows, row)
	}
	if err := table.WriteAll(rows); err != nil {
		return fmt.Errorf("writing a table: %w", err)
	}
	return nil
}

// writeFailed writes the pods that found no node.
func writeFailed(out io.Writer, runs []*Run) error {
	table := csv.NewWriter(out)
	rows := [][]string{{"order", "workload", "sc_policy", "tune", "seed", "num_pod", "cpu_milli", "num_gpu", "gpu_milli", "gpu_type_req"}}
	for _, r := range runs {
		for order := range r.Placements {
			if r.Placements[order].Scheduled() {
				continue
			}
			p := &r.Pods[r.Placements[order].Pod]
			rows = append(rows, []string{
				strconv.Itoa(order), r.Trace, r.Policy, tuneOf(r), strconv.FormatInt(r.Seed, 10), "1",
				strconv.FormatInt(p.CPUMilli, 10), strconv.Itoa(p.GPUs), strconv.Itoa(p.GPUMilli), strings.Join(p.GPUModels, "|"),
			})
		}
	}
	if err := table.WriteAll(rows); err != nil {
		return fmt.Errorf("writing a table: %w", err)
	}
	return nil
}

// WriteTables writes the predecessor's analysis tables into a folder, which is made if it is not there.
func WriteTables(folder string, runs ...*Run) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("writing tables: %w", err)
	}
	for _, c := range columns() {
		err := writeFile(filepath.Join(folder, c.file), func(out io.Writer) error { return writeCurves(out, c, runs) })
		if err != nil {
			return err
		}
	}
	return writeFile(filepath.Join(folder, "analysis_fail.csv"), func(out io.Writer) error { return writeFailed(out, runs) })
}

// writeFile closes the file with a check, since a full disk may show only then.
func writeFile(path string, write func(io.Writer) error) error {
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("writing a report: %w", err)
	}
	if err := write(file); err != nil {
		_ = file.Close() // the first error is the one to tell
		return err
	}
	if err := file.Close(); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}
