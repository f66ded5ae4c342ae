package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"slices"

	"github.com/vicinity-scheduler/vicinity/manifests"
	"github.com/vicinity-scheduler/vicinity/pkg/feature"
	"github.com/vicinity-scheduler/vicinity/pkg/mlp"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/policy"
)

// modelFlag names the model that policy MLP decides by.
const modelFlag, modelUsage = "model", "model file for policy MLP (default: the model that is built in)"

// loadNetwork reads a model file, or takes the built-in one when there is no path. It returns the file's digest as well.
func loadNetwork(path string) (network *mlp.Network, digest string, err error) {
	data, source := manifests.Model(), "built-in model"
	if path != "" {
		if data, err = os.ReadFile(path); err != nil {
			return nil, "", badInputf("--%s: %w", modelFlag, err)
		}
		source = path
	}
	model, err := feature.DecodeModel(data)
	if err != nil {
		return nil, "", badInputf("--%s: %s: %w", modelFlag, source, err)
	}
	sum := sha256.Sum256(data)
	return model.Network, hex.EncodeToString(sum[:]), nil
}

// isLearned says whether a network scores nodes or chooses devices.
func isLearned(config *policy.Config) bool {
	return config.Device == policy.MLP || slices.ContainsFunc(config.Scorers, func(s policy.Scorer) bool { return s.Name == policy.MLP })
}

// setNetwork gives a policy the network if it uses one.
func setNetwork(config *policy.Config, path string) (digest string, err error) {
	if !isLearned(config) {
		return "", nil
	}
	config.Network, digest, err = loadNetwork(path)
	if err != nil {
		return "", fmt.Errorf("policy %s: %w", config.Title(), err)
	}
	return digest, nil
}
