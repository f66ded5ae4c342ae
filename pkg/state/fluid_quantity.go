package state

import (
	"math"
	"strconv"
	"strings"
)

// quantity is a number of bytes that may be unknown.
type quantity struct {
	bytes int64
	known bool
}

// parseQuantity reads the sizes that Fluid writes for people, with one or two decimals and binary units: "2GiB",
// "566.22MiB", "0.00B". Anything else, such as "[Calculating]" or "", is unknown; so are negative numbers and
// those too large to be true.
func parseQuantity(text string) quantity {
	const units = "KMGTPE"
	number, ok := strings.CutSuffix(strings.TrimSpace(text), "B")
	if !ok {
		return quantity{}
	}
	factor := 1.0
	if binary, ok := strings.CutSuffix(number, "i"); ok && binary != "" {
		i := strings.IndexByte(units, binary[len(binary)-1])
		if i < 0 {
			return quantity{}
		}
		number, factor = binary[:len(binary)-1], math.Pow(1024, float64(i+1))
	}
	value, err := strconv.ParseFloat(number, 64)
	if err != nil || !(value >= 0) || value*factor >= math.MaxInt64 {
		return quantity{}
	}
	return quantity{bytes: int64(value * factor), known: true}
}
