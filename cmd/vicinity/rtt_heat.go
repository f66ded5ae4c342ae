package main

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"os"
	"time"
	"unicode/utf8"

	"golang.org/x/term"
)

const (
	// maxHeatNodes is how many columns are drawn: what a wide terminal holds.
	maxHeatNodes = 96
	unknownCell  = "? "
	cutCell      = "x "
)

// shades go from near to far. The colours are those of the 256-colour palette from green over yellow to red.
func shades() []string { return []string{"· ", "░░", "▒▒", "▓▓", "██"} }

func heatColors() []int { return []int{22, 28, 34, 106, 142, 178, 172, 166, 160, 124} }

func useColor(when string, out io.Writer) bool {
	file, ok := out.(*os.File)
	return when == "always" || when != "never" && ok && os.Getenv("NO_COLOR") == "" && term.IsTerminal(int(file.Fd()))
}

// writeHeat draws the matrix. The scale is logarithmic, because delays differ by powers of ten.
func writeHeat(out io.Writer, view *rttView, nodes []string, color bool) error {
	if len(nodes) > maxHeatNodes {
		return fmt.Errorf("a picture holds up to %d nodes, there are %d: name some of them", maxHeatNodes, len(nodes))
	}
	low, high, width := time.Duration(math.MaxInt64), time.Duration(0), 0
	for _, from := range nodes {
		width = max(width, utf8.RuneCountInString(from))
		for _, to := range nodes {
			if s, ok := view.best(from, to); ok && from != to {
				low, high = min(low, max(s.P50, time.Microsecond)), max(high, s.P50)
			}
		}
	}
	w := bufio.NewWriter(out)
	for i, from := range nodes {
		fmt.Fprintf(w, "%*s %3d ", width, from, i)
		for _, to := range nodes {
			fmt.Fprint(w, heatCell(view, from, to, low, high, color))
		}
		fmt.Fprintln(w)
	}
	switch {
	case len(nodes) == 0:
	case high == 0 && low > high:
		fmt.Fprintf(w, "%*s     no round-trip time is known\n", width, "")
	default:
		fmt.Fprintf(w, "%*s     %s nearest, %s farthest, \"%s\" unknown, \"%s\" cut; columns in the order of rows\n",
			width, "", milliseconds(low), milliseconds(high), unknownCell[:1], cutCell[:1])
	}
	return w.Flush()
}

func heatCell(view *rttView, from, to string, low, high time.Duration, color bool) string {
	if from == to {
		return "  "
	}
	sample, ok := view.best(from, to)
	switch {
	case !ok:
		return unknownCell
	case !sample.Answered():
		return cutCell
	}
	share := 0.0
	if high > low {
		share = math.Log(float64(max(sample.P50, low))/float64(low)) / math.Log(float64(high)/float64(low))
	}
	step := func(n int) int { return min(max(int(share*float64(n)), 0), n-1) }
	if color {
		palette := heatColors()
		return fmt.Sprintf("\x1b[48;5;%dm  \x1b[0m", palette[step(len(palette))])
	}
	return shades()[step(len(shades()))]
}
