package engine

import (
	"iter"
	"slices"
	"time"
)

// waiting are the pods that found no node, in the order of their first attempt.
type waiting struct {
	pods []waiter
}

type waiter struct {
	pod int
	// notBefore is the end of the pause after the last attempt.
	notBefore time.Duration
	// coming is set while another attempt is on the agenda.
	coming bool
}

func (w *waiting) add(pod int, notBefore time.Duration) {
	at, _ := w.find(pod)
	w.pods = slices.Insert(w.pods, at, waiter{pod: pod, notBefore: notBefore})
}

func (w *waiting) find(pod int) (int, bool) {
	return slices.BinarySearchFunc(w.pods, pod, func(x waiter, pod int) int { return x.pod - pod })
}

// take removes a pod and says whether it was there.
func (w *waiting) take(pod int) bool {
	at, found := w.find(pod)
	if found {
		w.pods = slices.Delete(w.pods, at, at+1)
	}
	return found
}

func (w *waiting) drop(pod int) { w.take(pod) }

// idle are the pods without another attempt ahead, and when the next one may be.
func (w *waiting) idle() iter.Seq2[int, time.Duration] {
	return func(yield func(int, time.Duration) bool) {
		for i := range w.pods {
			if !w.pods[i].coming && !yield(w.pods[i].pod, w.pods[i].notBefore) {
				return
			}
		}
	}
}

func (w *waiting) called(pod int) {
	if at, found := w.find(pod); found {
		w.pods[at].coming = true
	}
}
