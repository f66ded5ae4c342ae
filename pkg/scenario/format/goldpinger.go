package format

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// GoldpingerURL stands in the arguments of a controller for the address of the Goldpinger that the verb of that name serves.
const GoldpingerURL = "$(GOLDPINGER)"

// Goldpinger serves what Goldpinger would answer to /check_all from now on; the address stays the same.
type Goldpinger struct {
	// Pings are milliseconds, by the node that pings and the node that is pinged. Below 1 the time is left out of the answer,
	// as Goldpinger does; null is a ping that fails.
	Pings map[string]map[string]*int64 `json:"pings"`
	// Fault makes it answer otherwise: "hang", "huge" or "lies".
	Fault string `json:"fault"`
}

func (g *Goldpinger) validate(path *field.Path) field.ErrorList {
	var faults field.ErrorList
	known := []string{"hang", "huge", "lies"}
	if g.Fault != "" && !slices.Contains(known, g.Fault) {
		faults = append(faults, field.NotSupported(path.Child("fault"), g.Fault, known))
	}
	if (g.Fault == "") == (len(g.Pings) == 0) {
		faults = append(faults, field.Required(path, "either pings or a fault"))
	}
	for from, peers := range g.Pings {
		for to, milliseconds := range peers {
			if milliseconds != nil && *milliseconds < 0 {
				faults = append(faults, field.Invalid(path.Child("pings").Key(from).Key(to), *milliseconds, "want 0 or more"))
			}
		}
	}
	return faults
}
