package feature

import (
	"fmt"

	"github.com/vicinity-scheduler/vicinity/pkg/gpushare"
	"github.com/vicinity-scheduler/vicinity/pkg/mlp"
)

// Model is a network that reads this package's vectors.
type Model struct {
	*mlp.Model
	// Typical are the pods that fragmentation is measured for.
	Typical []gpushare.TypicalPod
}

// DecodeModel reads a model's file, and refuses one that was trained for another schema or that [mlp.Decode] refuses.
func DecodeModel(data []byte) (*Model, error) {
	decoded, err := mlp.Decode(data, Hash())
	if err != nil {
		return nil, err
	}
	if decoded.Inputs() != Inputs {
		return nil, fmt.Errorf("want a network with %d inputs, found %d", Inputs, decoded.Inputs())
	}
	typical, err := ParseTypical(decoded.Info.Typical)
	if err != nil {
		return nil, err
	}
	return &Model{Model: decoded, Typical: typical}, nil
}
