package locality

import (
	"math"
	"slices"
)

// MaxScore is the score of a node from which no byte of any dataset has to be fetched.
const MaxScore = 100

// Request is what one pod asks for. Build it with [NewRequest].
type Request struct {
	reaches []*Reach
	weights []float64 // sum to 1
	rules   *Rules
	all     combined
	groups  bool // some dataset is served by whole domains
}

// NewRequest combines the reaches of a pod's datasets, all compiled with the same rules. Datasets that nothing
// serves must be left out by the caller: they are unknown, not far. The slice must not change afterwards.
func NewRequest(reaches []*Reach, rules *Rules) *Request {
	if rules.compatible {
		reaches = poolOf(reaches)
	}
	return &Request{
		reaches: reaches, weights: weigh(reaches), rules: rules, all: combine(reaches, rules),
		groups: slices.ContainsFunc(reaches, func(r *Reach) bool { return len(r.groups) > 0 }),
	}
}

// weigh returns the datasets' shares in the pod's bytes.
func weigh(reaches []*Reach) []float64 {
	sized, sum := 0, 0.0
	for _, r := range reaches {
		if r.weight > 0 {
			sized++
			sum += r.weight
		}
	}
	missing := 1.0 // the weight of a dataset without a size: the mean of the others'
	if sized > 0 {
		missing = sum / float64(sized)
	}
	total := sum + missing*float64(len(reaches)-sized)
	weights := make([]float64, len(reaches))
	for i, r := range reaches {
		weight := r.weight
		if weight == 0 {
			weight = missing
		}
		weights[i] = weight / total
	}
	return weights
}

// poolOf is the CacheAware fork's view of several datasets: where one has a gateway, gateways alone count.
func poolOf(reaches []*Reach) []*Reach {
	if !slices.ContainsFunc(reaches, func(r *Reach) bool { return r.gateway }) {
		return reaches
	}
	return slices.DeleteFunc(slices.Clone(reaches), func(r *Reach) bool { return !r.gateway })
}

// Reaches returns the datasets' reaches. The slice is shared and only to be read.
func (q *Request) Reaches() []*Reach { return q.reaches }

// Score returns the expected share of bytes saved by the node, 0 to [MaxScore], rounded half up. An empty request
// scores 0. It does not allocate.
func (q *Request) Score(node Node) int64 {
	if len(q.reaches) == 0 {
		return 0
	}
	held, shared := q.all.along(node, q.rules.Tiers)
	total := 0.0
	for d, r := range q.reaches {
		value := 0.0
		if held != nil {
			value = min(held[d], r.ceiling)
		}
		if q.groups {
			value = min(r.Held(node), r.ceiling)
		}
		for i := range q.rules.Tiers {
			if shared[i] != nil {
				value = max(value, shared[i][d]*q.all.worth[i][d])
			}
		}
		total = q.add(total, q.weights[d], value)
	}
	return toScore(total)
}

func (q *Request) add(total, weight, value float64) float64 {
	if q.rules.compatible {
		return max(total, value)
	}
	return total + weight*value
}

func toScore(total float64) int64 { return int64(math.Floor(MaxScore*min(1, total) + 0.5)) }

// Explanation is a score with its terms.
type Explanation struct {
	Score int64
	Terms []Term
}

// Explain returns the score of the node and the terms it is made of, dataset by dataset.
func (q *Request) Explain(node Node) Explanation {
	path := q.rules.Tiers.path(node)
	out := Explanation{Terms: make([]Term, len(q.reaches))}
	total := 0.0
	for i, r := range q.reaches {
		value, from := r.value(node, &path)
		out.Terms[i] = Term{Dataset: r.Key, Weight: q.weights[i], Value: value, From: from}
		total = q.add(total, q.weights[i], value)
	}
	out.Score = toScore(total)
	return out
}
