package trace

import (
	"encoding/json"
)

const (
	maxMessage = 1024
	maxReason  = 256
)

// Shrink cuts the record down until its JSON form has at most limit bytes, and sets Truncated if it cut anything. First
// texts are shortened; then, while it is still too long, the least important part goes: names of sample nodes, terms of
// scores, victims, nodes beyond the second, rare rejections, labels. A full matrix is left alone and does not count: who asked
// for it wants all of it. Limits below 4 KiB cannot always be kept.
func (r *Record) Shrink(limit int) {
	r.shortenTexts()
	if r.bound() <= limit {
		return
	}
	for _, cut := range []func() bool{r.cutSamples, r.cutTerms, r.cutVictims, r.cutScores, r.cutRejections, r.cutLabels} {
		for r.size() > limit {
			r.Truncated = true
			if !cut() {
				break
			}
		}
	}
}

// bound is never less than the record's size, and cheap: most records are far below their limit, and encoding them only
// to measure them would cost more than writing them does.
func (r *Record) bound() int {
	const fixed, perItem = 1400, 90 // field names, punctuation, times
	size := fixed + escaped(r.Session, r.Scheduler, r.Profile, r.Pod.Namespace, r.Pod.Name, r.Pod.UID, r.Pod.Group, r.Node, r.Plugin,
		r.Message) + len(r.Phases)*(perItem+20)
	if o := r.Pod.Owner; o != nil {
		size += perItem + escaped(o.Kind, o.Name, o.UID)
	}
	for k, v := range r.Pod.Labels {
		size += 6 + escaped(k, v)
	}
	for i := range r.Rejections {
		size += perItem + 40 + escaped(r.Rejections[i].Plugin, r.Rejections[i].Reason, r.Rejections[i].Stage)
		size += 3*len(r.Rejections[i].Sample) + escaped(r.Rejections[i].Sample...)
	}
	if r.Scores != nil {
		size += r.Scores.bound(perItem)
	}
	if p := r.Preemption; p != nil {
		size += perItem + escaped(p.Message, p.NominatedNode)
		for _, v := range p.Victims {
			size += perItem + 60 + escaped(v.Namespace, v.Name, v.UID, v.Node)
		}
	}
	if r.Permit != nil {
		size += perItem
		for i := range r.Permit.Waits {
			size += perItem + escaped(r.Permit.Waits[i].Plugin)
		}
	}
	if r.Undo != nil {
		size += perItem + escaped(r.Undo.Plugin, r.Undo.Reason, r.Undo.Stage)
	}
	return size
}

func (s *Scores) bound(perItem int) int {
	size := perItem + escaped(s.RunnerUp)
	for i := range s.Plugins {
		size += perItem/2 + escaped(s.Plugins[i].Name)
	}
	for i := range s.Top {
		node := &s.Top[i]
		size += perItem + escaped(node.Node) + digits(node.Raw) + digits(node.Normalised) + digits(node.Weighted)
		for _, plugin := range node.Terms {
			size += perItem/2 + escaped(plugin.Plugin)
			for _, term := range plugin.Terms {
				size += perItem + escaped(term.Name, term.Text, term.Unit)
			}
		}
	}
	return size
}

// escaped is the most bytes that the texts take within JSON strings.
func escaped(texts ...string) (size int) {
	for _, s := range texts {
		size += len(s)
		for i := range len(s) {
			if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
				size += 5
			}
		}
	}
	return size
}

// digits is how many bytes the numbers and their commas take.
func digits(numbers []int64) (size int) {
	for _, n := range numbers {
		size += 2
		for ; n < 0 || n > 9; n /= 10 {
			if n < 0 {
				size++
				n = -(n / 10)
			}
			size++
		}
	}
	return size
}

// size is the length of the JSON form without the matrix.
func (r *Record) size() int {
	matrix := r.Matrix
	r.Matrix = nil
	line, err := json.Marshal(r)
	r.Matrix = matrix
	if err != nil {
		return 0 // nothing that is cut would change that
	}
	return len(line)
}

func (r *Record) shortenTexts() {
	cut := func(s *string, limit int) {
		if len(*s) > limit {
			*s, r.Truncated = shorten(*s, limit), true
		}
	}
	cut(&r.Message, maxMessage)
	for i := range r.Rejections {
		cut(&r.Rejections[i].Reason, maxReason)
	}
	if r.Preemption != nil {
		cut(&r.Preemption.Message, maxMessage)
	}
	if r.Undo != nil {
		cut(&r.Undo.Reason, maxMessage)
	}
	if r.Scores == nil {
		return
	}
	for i := range r.Scores.Top {
		for _, plugin := range r.Scores.Top[i].Terms {
			for j := range plugin.Terms {
				cut(&plugin.Terms[j].Text, maxReason)
			}
		}
	}
}

// Each cut removes some of one part and reports whether more of it can go.

func (r *Record) cutSamples() bool {
	longest := 0
	for i := range r.Rejections {
		longest = max(longest, len(r.Rejections[i].Sample))
	}
	for i := range r.Rejections {
		if s := r.Rejections[i].Sample; len(s) == longest && longest > 0 {
			r.Rejections[i].Sample = s[:longest-1]
		}
	}
	return longest > 1
}

// cutTerms takes the terms of all nodes but the first, and then of the first every second one.
func (r *Record) cutTerms() bool {
	if r.Scores == nil || len(r.Scores.Top) == 0 {
		return false
	}
	more := false
	for i := range r.Scores.Top[1:] {
		more = more || r.Scores.Top[1+i].Terms != nil
		r.Scores.Top[1+i].Terms = nil
	}
	if more {
		return true
	}
	terms := r.Scores.Top[0].Terms
	for i := range terms {
		more = more || len(terms[i].Terms) > 1
		terms[i].Terms = terms[i].Terms[:len(terms[i].Terms)/2]
	}
	if !more {
		r.Scores.Top[0].Terms = nil
	}
	return more
}

func (r *Record) cutScores() bool {
	if r.Scores == nil || len(r.Scores.Top) <= 2 {
		return false
	}
	r.Scores.Top = r.Scores.Top[:len(r.Scores.Top)-1]
	return len(r.Scores.Top) > 2
}

// cutRejections joins the two rarest reasons.
func (r *Record) cutRejections() bool {
	n := len(r.Rejections)
	if n < 2 {
		return false
	}
	r.Rejections[n-2] = Rejection{
		Reason: "other reasons", Stage: r.Rejections[n-2].Stage, Nodes: r.Rejections[n-2].Nodes + r.Rejections[n-1].Nodes,
	}
	r.Rejections = r.Rejections[:n-1]
	return n > 2
}

func (r *Record) cutVictims() bool {
	if r.Preemption == nil {
		return false
	}
	r.Preemption.Victims = r.Preemption.Victims[:len(r.Preemption.Victims)/2]
	return len(r.Preemption.Victims) > 0
}

func (r *Record) cutLabels() bool {
	r.Pod.Labels = nil
	return false
}
