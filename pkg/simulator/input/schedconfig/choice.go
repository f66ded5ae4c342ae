package schedconfig

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/input/faults"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/policy"
)

// Choice is who decides: a native policy, a profile of the framework, or either.
type Choice struct {
	// Native is nil if the configuration has no native form, and then WhyNot says why.
	Native *policy.Config
	WhyNot string
	// V1 is the configuration for the framework; nil for a policy that was named without a configuration.
	V1 []byte
	// File is where the configuration was read.
	File string
	// Title names the configuration in reports: by what scores, else by its file.
	Title string
}

// Name is what reports call the choice.
func (c *Choice) Name() string {
	if c.Native != nil {
		return c.Native.Title()
	}
	return c.Title
}

// Rename gives it another name, for reports that show two of one name.
func (c *Choice) Rename(name string) {
	c.Title = name
	if c.Native != nil {
		c.Native.Name = name
	}
}

// Choose asks a configuration for both of its forms.
func Choose(c *Config, list *faults.List) (*Choice, error) {
	v1, err := c.V1(list)
	if err != nil {
		return nil, err
	}
	native, whyNot := c.Native()
	return &Choice{Native: native, WhyNot: whyNot, V1: v1, File: c.File, Title: c.title()}, nil
}

// title is what the first profile adds to the default scores.
func (c *Config) title() string {
	var names []string
	for _, s := range scorePlugins(&c.content.Profiles[0]) {
		names = append(names, shortName(s.Name))
	}
	if len(names) == 0 {
		return strings.TrimSuffix(filepath.Base(c.File), filepath.Ext(c.File))
	}
	return strings.Join(names, "+")
}

// scoreSuffix ends the names of most score plugins; people leave it out.
const scoreSuffix = "Score"

// PolicyNames are the short names of the native policies.
func PolicyNames() []string {
	var names []string
	for _, name := range native() {
		names = append(names, shortName(name))
	}
	return names
}

func shortName(name string) string {
	if name == policy.DotProduct {
		return "DotProd"
	}
	return strings.TrimSuffix(name, scoreSuffix)
}

// ParsePolicy reads a policy by its name, or a mix such as FGD=500,BestFit=500; + parts as well as a comma. Empty
// methods are those of the study:
// DotProd merges a node's GPUs and divides by the largest node, FGD chooses the device itself, others take the one that
// fits best.
func ParsePolicy(text, device, dimExt, norm string) (*policy.Config, error) {
	var config policy.Config
	var names []string
	for part := range strings.SplitSeq(strings.ReplaceAll(text, "+", ","), ",") {
		name, weightText, weighted := strings.Cut(strings.TrimSpace(part), "=")
		scorer := policy.Scorer{Name: fullName(name), Weight: defaultWeight, DimExt: policyOr(dimExt, "merge"), Norm: policyOr(norm, "max")}
		if scorer.Name == "" {
			return nil, fmt.Errorf("unknown policy %q: want one of %s, or the name of a .yaml file", name, strings.Join(PolicyNames(), ", "))
		}
		if weighted {
			weight, err := strconv.ParseInt(weightText, 10, 64)
			if err != nil || weight < 1 || weight > mostWeight {
				return nil, fmt.Errorf("policy %s: want a weight from 1 to %d, found %q", name, mostWeight, weightText)
			}
			scorer.Weight = weight
		}
		config.Scorers = append(config.Scorers, scorer)
		names = append(names, shortName(scorer.Name))
	}
	config.Name = strings.Join(names, "+")
	config.Device = policy.DeviceMethod(policyOr(device, string(usualDevice(config.Scorers[0].Name))))
	given := map[string]string{deviceKey: string(config.Device), dimExtKey: config.Scorers[0].DimExt, normKey: config.Scorers[0].Norm}
	for key, value := range given {
		if allowed := methodNames(key); !slices.Contains(allowed, value) {
			return nil, fmt.Errorf("%s: want one of %s, found %q", key, strings.Join(allowed, ", "), value)
		}
	}
	return &config, nil
}

// defaultWeight is that of the study's configurations.
const defaultWeight = 1000

func policyOr(value, otherwise string) string {
	if value == "" {
		return otherwise
	}
	return value
}

func fullName(name string) string {
	for _, full := range native() {
		if strings.EqualFold(name, full) || strings.EqualFold(name, shortName(full)) || strings.EqualFold(name+scoreSuffix, full) {
			return full
		}
	}
	return ""
}

func usualDevice(scorer string) policy.DeviceMethod {
	if scorer == policy.FGD || scorer == policy.MLP {
		return policy.DeviceMethod(scorer)
	}
	return policy.DeviceBest
}
