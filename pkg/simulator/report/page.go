package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
)

//go:embed assets/page.html
var pageHTML string

//go:embed assets/page.css
var pageCSS string

//go:embed assets/page.js
var pageJS string

//go:embed assets/uplot/uPlot.iife.min.js
var plotJS string

//go:embed assets/uplot/uPlot.min.css
var plotCSS string

// PageRun is a run and what was noted along the way.
type PageRun struct {
	*Run
	Timeline *Timeline
}

// WritePage writes one page about one run, or about two that are compared.
func WritePage(out io.Writer, runs ...PageRun) error {
	if len(runs) < 1 || len(runs) > 2 {
		return fmt.Errorf("writing a page: want one run or two, found %d", len(runs))
	}
	page, err := template.New("page").Funcs(template.FuncMap{"thousands": thousands}).Parse(pageHTML)
	if err != nil {
		return fmt.Errorf("reading the page's template: %w", err)
	}
	if err := page.Execute(out, newPage(runs)); err != nil {
		return fmt.Errorf("writing a page: %w", err)
	}
	return nil
}

// WritePageFile writes the page into a file.
func WritePageFile(path string, runs ...PageRun) error {
	return writeFile(path, func(out io.Writer) error { return WritePage(out, runs...) })
}

// page is what the template shows.
type page struct {
	Title   string
	Lead    string
	Columns []string
	Compare bool
	Rows    []figure
	Groups  []groupRow
	Pods    *PodDifferences
	Charts  []chart
	Notes   []string
	// Styles and scripts are files of this package, none comes from outside.
	PlotCSS, PageCSS template.CSS
	PlotJS, PageJS   template.JS
}

// figure is a row of the table: a number of each run and how they differ.
type figure struct {
	Name, Hint string
	Values     []string
	Difference string
	// Better is "a", "b" or empty.
	Better string
}

type groupRow struct {
	Name   string
	Values []string
}

// chart is one plot, in the form that page.js reads.
type chart struct {
	Title  string `json:"title"`
	Hint   string `json:"hint"`
	XLabel string `json:"xLabel"`
	YLabel string `json:"yLabel"`
	// Stacked series are cumulative, the largest first.
	Stacked bool `json:"stacked"`
	// LogX draws the x axis in powers of ten.
	LogX   bool       `json:"logX"`
	X      []float64  `json:"x"`
	Series []lineData `json:"series"`
}

type lineData struct {
	Name string `json:"name"`
	// Colour is the name of a colour of page.css.
	Colour string     `json:"colour"`
	Y      []*float64 `json:"y"`
	// Own are the values to show in the legend, where Y is cumulative.
	Own []*float64 `json:"own,omitempty"`
}

func newPage(runs []PageRun) *page {
	first := runs[0]
	p := &page{
		Title:   first.Policy,
		Lead:    lead(first.Run),
		Columns: []string{first.Policy},
		PlotCSS: template.CSS(plotCSS), //nolint:gosec // files of this package, not input
		PageCSS: template.CSS(pageCSS), //nolint:gosec // files of this package, not input
		PlotJS:  template.JS(plotJS),   //nolint:gosec // files of this package, not input
		PageJS:  template.JS(pageJS),   //nolint:gosec // files of this package, not input
	}
	if len(runs) == 2 {
		p.Compare = true
		p.Title = first.Policy + " and " + runs[1].Policy
		p.Columns = []string{"A: " + first.Policy, "B: " + runs[1].Policy}
		differences := Compare(first.Run, runs[1].Run)
		p.Pods = &differences.Pods
	}
	p.Rows = figures(runs)
	p.Groups = groupRows(runs)
	p.Charts = charts(runs)
	p.Notes = notes(runs)
	return p
}

func lead(r *Run) string {
	return fmt.Sprintf("%s pods on %s nodes with %s GPUs; trace %s, seed %d",
		thousands(len(r.Placements)), thousands(len(r.Nodes)), thousands(r.TotalGPUs()), orNone(r.Trace), r.Seed)
}

// notes say what the page does not show, and why.
func notes(runs []PageRun) []string {
	var all []string
	if !runs[0].Timed() {
		all = append(all, "The trace has no times: pods arrive one after the other and stay, so that nothing can be said of waiting "+
			"and completion.")
	}
	if runs[0].TotalGPUs() == 0 {
		all = append(all, "The cluster has no GPUs, and the curves by arrived GPU demand are empty.")
	}
	return all
}
