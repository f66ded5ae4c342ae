package blockio

import (
	"testing"
	"time"
)

func TestFillsEndWithTheirTime(t *testing.T) {
	l, now := NewFills(time.Hour), time.Unix(1000, 0)
	if got := l.On("n1", now, time.Minute); got != 0 {
		t.Errorf("%d bytes expected of nobody", got)
	}
	l.Expect("n1", "a", 100, now)
	l.Expect("n1", "b", 50, now.Add(30*time.Second))
	l.Expect("n2", "c", 7, now)
	l.Expect("n2", "nothing", 0, now)
	for after, want := range map[time.Duration]int64{
		30 * time.Second: 150, time.Minute - 1: 150, time.Minute: 50, 90 * time.Second: 0,
	} {
		if got := l.On("n1", now.Add(after), time.Minute); got != want {
			t.Errorf("after %s: %d bytes, want %d", after, got, want)
		}
	}
	l.TakeBack("n1", "a")
	l.TakeBack("n1", "a")
	if got := l.On("n1", now.Add(30*time.Second), time.Minute); got != 50 {
		t.Errorf("after taking back: %d bytes, want 50", got)
	}
}

func TestFillsAreBounded(t *testing.T) {
	l, now := NewFills(time.Minute), time.Unix(1000, 0)
	l.count.Store(maxFills - 1) // as if so many others were remembered
	l.Expect("n1", "last", 1, now)
	l.Expect("n1", "too many", 1, now)
	if got := l.On("n1", now, time.Minute); got != 1 {
		t.Errorf("%d bytes, want those of the last pod that fitted", got)
	}
	l.Expect("n1", "after the time", 1, now.Add(time.Minute))
	if got := l.On("n1", now.Add(time.Minute), time.Minute); got != 1 {
		t.Errorf("%d bytes, want the place of the expired pod taken", got)
	}
}
