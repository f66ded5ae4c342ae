package localcluster

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

const (
	// plainInterval is how often a long step says in a log file that it is still at work.
	plainInterval = 10 * time.Second
	// terminalInterval is how often the line on a terminal is rewritten.
	terminalInterval = time.Second
)

// reporter writes progress for people. It is not safe for concurrent steps.
type reporter struct {
	w        io.Writer
	terminal bool
	interval time.Duration
}

// newReporter writes to w, silently when it is nil. On a terminal the line of a running step is rewritten in place.
func newReporter(w io.Writer) *reporter {
	if w == nil {
		w = io.Discard
	}
	r := &reporter{w: w, interval: plainInterval}
	if f, ok := w.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			r.terminal, r.interval = true, terminalInterval
		}
	}
	return r
}

// say writes one line.
func (r *reporter) say(format string, args ...any) {
	fmt.Fprintf(r.w, format+"\n", args...)
}

// step runs f and shows what it is doing: at once, then with the time it has taken so far, and with done in the end.
func (r *reporter) step(doing, done string, f func() error) error {
	start := time.Now()
	r.show(doing)
	stop := make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() {
		ticker := time.NewTicker(r.interval)
		defer ticker.Stop()
		for {
			select {
			case <-stop:
				return
			case <-ticker.C:
				r.show(doing + " " + elapsed(start))
			}
		}
	})
	err := f()
	close(stop)
	writer.Wait()
	if err != nil {
		r.show(doing + " failed after " + elapsed(start))
	} else {
		r.show(done + " in " + elapsed(start))
	}
	if r.terminal {
		fmt.Fprintln(r.w)
	}
	return err
}

// show writes the state of the running step over the previous one on a terminal, below it elsewhere.
func (r *reporter) show(text string) {
	if r.terminal {
		const clearLine = "\r\033[K"
		fmt.Fprint(r.w, clearLine+text)
		return
	}
	fmt.Fprintln(r.w, text)
}

// elapsed is the time since start in a form that does not flicker: tenths below ten seconds, else whole seconds.
func elapsed(start time.Time) string {
	d := time.Since(start)
	if d < 10*time.Second {
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}
