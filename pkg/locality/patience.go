package locality

import "time"

// Patience is delay scheduling: how far from its data a pod may run, depending on how long it has waited.
//
// For the duration Wait the pod's nodes must hold the data themselves; then each further Wait admits one more
// tier; after the last tier every node is admitted. The zero value admits every node at once.
type Patience struct {
	// Wait is the time for each step; 0 or less means no patience.
	Wait time.Duration
	// Tiers is the number of topology tiers.
	Tiers int
}

// Admits returns the largest distance that a pod accepts after having waited, and the waiting time at which that
// becomes larger; next is 0 when it never does.
func (p Patience) Admits(waited time.Duration) (farthest Distance, next time.Duration) {
	if p.Wait <= 0 {
		return Nowhere, 0
	}
	steps := int(max(0, waited) / p.Wait)
	if steps > p.Tiers {
		return Nowhere, 0
	}
	return Distance(steps), time.Duration(steps+1) * p.Wait
}
