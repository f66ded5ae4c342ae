package delay

import "time"

// Source is what told a sample.
type Source uint8

// The sources, from the least to the most trusted when all are fresh.
const (
	// SourceNone is the zero value: nobody told.
	SourceNone Source = iota
	// SourceFiles is a delay matrix in files that the scheduler itself reads. It is never stale.
	SourceFiles
	// SourceStatic is a delay matrix that somebody imported into NodeRTT objects. It is never stale.
	SourceStatic
	// SourceGoldpinger is the time of an HTTP request, in whole milliseconds.
	SourceGoldpinger
	// SourceGoldpingerUDP is Goldpinger's UDP echo, or the mean of its histogram: less than a millisecond resolved.
	SourceGoldpingerUDP
	// SourceAgent is our own prober: ICMP or UDP echo between nodes.
	SourceAgent
	// sourceCount is the number of values above.
	sourceCount
)

// String returns the name that API objects and metrics use.
func (s Source) String() string {
	switch s {
	case SourceFiles:
		return "Files"
	case SourceStatic:
		return "Static"
	case SourceGoldpinger:
		return "Goldpinger"
	case SourceGoldpingerUDP:
		return "GoldpingerUDP"
	case SourceAgent:
		return "Agent"
	default:
		return "None"
	}
}

// ParseSource is the inverse of String; ok is false for other texts.
func ParseSource(name string) (source Source, ok bool) {
	for s := SourceFiles; s < sourceCount; s++ {
		if s.String() == name {
			return s, true
		}
	}
	return SourceNone, false
}

// Quality orders sources whose samples are equally fresh: the higher one counts.
func (s Source) Quality() int { return int(s) }

// WholeLoss is the loss, in parts per million, of a path on which nothing is answered.
const WholeLoss = 1_000_000

// MaxDelay is the longest round-trip time that is kept; samples above it count as unanswered.
const MaxDelay = time.Hour

// Sample is what one source knows about the path between two nodes.
type Sample struct {
	// P50 is the median round-trip time, 0 to MaxDelay. When nothing is answered now (Loss is WholeLoss) it is the last
	// that was known, or 0 with Known false.
	P50 time.Duration
	// P99 is the 99th percentile of the round-trip time, at least P50; it means nothing unless HasP99.
	P99 time.Duration
	// ObservedAt is when the last of the probes ended, by the clock of the node that sent them.
	ObservedAt time.Time
	// Count is the number of probes that the sample is taken from; 0 means not known. A store keeps at most 65535.
	Count int32
	// Loss is the share of probes without an answer in parts per million, 0 to WholeLoss.
	Loss int32
	// Known reports that P50 holds a time that was measured or stated once.
	Known bool
	// HasP99 reports that P99 is known.
	HasP99 bool
	// Source is what told.
	Source Source
}

// Answered reports that the path worked when the sample was taken.
func (s *Sample) Answered() bool { return s.Known && s.Loss < WholeLoss }

// Measured reports that the source measures again and again, so that its samples age; others were written down.
func (s Source) Measured() bool { return s > SourceStatic }

// Stale reports that the sample is older than staleAfter. Those that were written down never are.
func (s *Sample) Stale(now time.Time, staleAfter time.Duration) bool {
	return s.Source.Measured() && now.Sub(s.ObservedAt) > staleAfter
}

// PeerSample is a sample of the path to the node named Peer.
type PeerSample struct {
	Peer string
	Sample
}

// Row is what one source knows of the paths from one node.
type Row struct {
	From  string
	Peers []PeerSample
}
