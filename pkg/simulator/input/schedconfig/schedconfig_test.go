package schedconfig

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/input/faults"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/policy"
)

// old is a configuration as the predecessor's users write it.
const old = `apiVersion: kubescheduler.config.k8s.io/v1beta1
kind: KubeSchedulerConfiguration
percentageOfNodesToScore: 100
profiles:
- schedulerName: simon-scheduler
  plugins:
    filter:   {enabled: [{name: Open-Gpu-Share}]}
    score:
      disabled: [{name: ImageLocality}, {name: NodeAffinity}, {name: PodTopologySpread}, {name: TaintToleration}, {name: NodeResourcesBalancedAllocation}, {name: InterPodAffinity}, {name: NodeResourcesLeastAllocated}, {name: NodePreferAvoidPods}]
      enabled:  [{name: FGDScore, weight: 1000}]
    reserve:  {enabled: [{name: Open-Gpu-Share}]}
    bind:     {disabled: [{name: DefaultBinder}], enabled: [{name: Simon}]}
  pluginConfig:
  - {name: FGDScore, args: {dimExtMethod: share, normMethod: max}}
  - {name: Open-Gpu-Share, args: {dimExtMethod: share, normMethod: max, gpuSelMethod: FGDScore}}
`

func parse(t *testing.T, text string) (*Config, *faults.List) {
	t.Helper()
	list := &faults.List{}
	config := Parse("s.yaml", []byte(text), list)
	if err := list.Err(); err != nil {
		t.Fatal(err)
	}
	return config, list
}

func TestNative(t *testing.T) {
	fgd := &policy.Config{
		Name: "FGD", Scorers: []policy.Scorer{{Name: policy.FGD, Weight: 1000, DimExt: "share", Norm: "max"}},
		Device: policy.DeviceMethod(policy.FGD),
	}
	mix := &policy.Config{
		Name:    "FGD+BestFit",
		Scorers: []policy.Scorer{{Name: policy.FGD, Weight: 1000, DimExt: "share", Norm: "max"}, {Name: policy.BestFit, Weight: 1}},
		Device:  policy.DeviceMethod(policy.FGD),
	}
	const today = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n- plugins:\n"
	tests := map[string]struct {
		text   string
		want   *policy.Config
		whyNot string
	}{
		"the predecessor's":                   {text: old, want: fgd},
		"a mix, weight 1 when none is given":  {text: strings.Replace(old, "weight: 1000}", "weight: 1000}, {name: BestFitScore}", 1), want: mix},
		"a default scorer that is left on":    {text: strings.Replace(old, "{name: ImageLocality}, ", "", 1), whyNot: "ImageLocality of the default profile score"},
		"one under its old name":              {text: strings.Replace(old, "{name: NodeResourcesLeastAllocated}, ", "", 1), whyNot: "NodeResourcesFit of the default profile score"},
		"a scorer that is not native":         {text: strings.Replace(old, "weight: 1000}", "weight: 1000}, {name: NodeFlavour}", 1), whyNot: "plugin NodeFlavour has no native form"},
		"no scorer":                           {text: strings.Replace(old, "{name: FGDScore, weight: 1000}", "", 1), whyNot: "no score plugin is enabled"},
		"today's version, all defaults off":   {text: today + "    multiPoint: {enabled: [{name: BestFitScore, weight: 3}]}\n    score: {disabled: [{name: '*'}]}\n", want: &policy.Config{Name: "BestFit", Scorers: []policy.Scorer{{Name: policy.BestFit, Weight: 3}}}},
		"today's version has no old names":    {text: today + "    score: {enabled: [{name: BestFitScore}], disabled: [{name: NodeResourcesLeastAllocated}]}\n", whyNot: "NodeResourcesFit"},
		"a profile of Vicinity's own plugins": {text: today + "    multiPoint: {enabled: [{name: CacheAware, weight: 10}]}\n    score: {disabled: [{name: '*'}]}\n", whyNot: "plugin CacheAware has no native form"},
		"a trained network, in the predecessor's form": {
			text: strings.ReplaceAll(old, "FGDScore", "MLPScore"),
			want: &policy.Config{
				Name: "MLP", Scorers: []policy.Scorer{{Name: policy.MLP, Weight: 1000, DimExt: "share", Norm: "max"}},
				Device: policy.DeviceMethod(policy.MLP),
			},
		},
		"the plugin in mode Active": {
			text: today + "    multiPoint: {enabled: [{name: MLPScore}]}\n    score: {disabled: [{name: '*'}]}\n" +
				"  pluginConfig: [{name: MLPScore, args: {mode: Active, deadline: 1ms}}]\n",
			want: &policy.Config{Name: "MLP", Scorers: []policy.Scorer{{Name: policy.MLP, Weight: 1}}},
		},
		"the plugin in its default mode scores nothing": {
			text:   today + "    multiPoint: {enabled: [{name: MLPScore}]}\n    score: {disabled: [{name: '*'}]}\n",
			whyNot: "no score plugin is enabled",
		},
		"a service of random weights is replaced": {
			text: strings.ReplaceAll(strings.ReplaceAll(old, "FGDScore", "RLSchedulerScore"), "normMethod: max}}\n  - {name: Open", "normMethod: max}}\n  - {name: Open"), want: fgd,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			config, _ := parse(t, tc.text)
			got, whyNot := config.Native()
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("policy (-want +got):\n%s", diff)
			}
			if !strings.Contains(whyNot, tc.whyNot) || (whyNot == "") != (tc.whyNot == "") {
				t.Errorf("want the reason %q, found %q", tc.whyNot, whyNot)
			}
		})
	}
}

func TestTheReplacedServiceIsWarnedAbout(t *testing.T) {
	_, list := parse(t, strings.ReplaceAll(old, "FGDScore", "RLSchedulerScore"))
	if all := strings.Join(list.Warnings(), "\n"); !strings.Contains(all, "s.yaml:6: profiles[0].plugins: RLSchedulerScore asks a service") {
		t.Errorf("want a warning, found %q", all)
	}
}

func TestV1(t *testing.T) {
	config, list := parse(t, strings.Replace(old, "weight: 1000}", "weight: 1000}, {name: NodeResourcesMostAllocated}, {name: NodeLabel}", 1))
	text, err := config.V1(list)
	if err != nil {
		t.Fatal(err)
	}
	var got, want any
	if err := yaml.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	// Plugins are enabled at all of their points; NodePreferAvoidPods and NodeLabel are gone, binding is not simulated.
	err = yaml.Unmarshal([]byte(`apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
percentageOfNodesToScore: 100
profiles:
- schedulerName: simon-scheduler
  plugins:
    multiPoint: {enabled: [{name: Open-Gpu-Share}, {name: FGDScore, weight: 1000}, {name: NodeResourcesFit}]}
    score:
      disabled: [{name: ImageLocality}, {name: NodeAffinity}, {name: PodTopologySpread}, {name: TaintToleration}, {name: NodeResourcesBalancedAllocation}, {name: InterPodAffinity}, {name: NodeResourcesFit}]
  pluginConfig:
  - {name: FGDScore, args: {dimExtMethod: share, normMethod: max}}
  - {name: Open-Gpu-Share, args: {dimExtMethod: share, normMethod: max, gpuSelMethod: FGDScore}}
`), &want)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rewritten (-want +got):\n%s", diff)
	}
	if all := strings.Join(list.Warnings(), "\n"); !strings.Contains(all, "no plugin NodeLabel any more") {
		t.Errorf("want a warning of the plugin that is gone, found %q", all)
	}
	current := strings.Replace(old, "v1beta1", "v1", 1)
	config, list = parse(t, current)
	if text, err := config.V1(list); err != nil || string(text) != current {
		t.Errorf("want today's version as it stands, found %s and error %v", text, err)
	}
}

func TestFaultsNameFileLineAndField(t *testing.T) {
	tests := map[string]struct{ from, to, want string }{
		"an unknown device method":  {"gpuSelMethod: FGDScore", "gpuSelMethod: bset", "s.yaml:15: profiles[0].pluginConfig[1].args.gpuSelMethod: want one of best, worst, random, DotProductScore, FGDScore, MLPScore; found \"bset\""},
		"an unknown vector method":  {"dimExtMethod: share, normMethod: max}}\n  - {name: Open", "dimExtMethod: 3, normMethod: max}}\n  - {name: Open", "s.yaml:14: profiles[0].pluginConfig[0].args.dimExtMethod: want one of merge, share, divide, extend; found \"3\""},
		"another kind":              {"KubeSchedulerConfiguration", "Pod", "s.yaml:1: apiVersion: want apiVersion kubescheduler.config.k8s.io/"},
		"a version nobody had":      {"v1beta1", "v2", "s.yaml:1: apiVersion: want"},
		"a negative weight":         {"weight: 1000", "weight: -1", "s.yaml:10: profiles[0].plugins.score.enabled[0].weight: want a weight"},
		"a plugin without name":     {"{name: FGDScore, weight: 1000}", "{weight: 1}", "s.yaml:10: profiles[0].plugins.score.enabled[0].name: want the name"},
		"a plugin twice":            {"weight: 1000}", "weight: 1}, {name: FGDScore}", "s.yaml:10: profiles[0].plugins.score.enabled[1].name: FGDScore is enabled twice"},
		"arguments twice":           {"- {name: Open-Gpu-Share, args", "- {name: FGDScore, args", "s.yaml:15: profiles[0].pluginConfig[1].name: FGDScore is configured twice"},
		"a text for a number":       {"weight: 1000", "weight: heavy", "s.yaml:10: profiles[0].plugins.score.enabled[0].weight: "},
		"nothing that is a profile": {"profiles:", "profile:", "s.yaml:1: profiles: want at least one profile"},
		"two documents":             {"profiles:", "---\nprofiles:", "s.yaml: want one YAML document, found 2"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			list := &faults.List{}
			text := strings.Replace(old, tc.from, tc.to, 1)
			if text == old {
				t.Fatalf("the configuration does not have %q", tc.from)
			}
			Parse("s.yaml", []byte(text), list)
			if err := list.Err(); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("want an error with %q, found %v", tc.want, err)
			}
		})
	}
}

func TestUnknownKeysAreWarnedAboutByName(t *testing.T) {
	_, list := parse(t, strings.Replace(strings.Replace(old, "normMethod: max, gpu", "normMetod: max, gpu", 1), "percentage", "percent", 1))
	all := strings.Join(list.Warnings(), "\n")
	for _, want := range []string{"s.yaml:3: percentOfNodesToScore: unknown key", "s.yaml:15: profiles[0].pluginConfig[1].args.normMetod: unknown key"} {
		if !strings.Contains(all, want) {
			t.Errorf("want the warning %q, found %q", want, all)
		}
	}
}

func TestParsePolicy(t *testing.T) {
	study := &policy.Config{
		Name: "DotProd", Scorers: []policy.Scorer{{Name: policy.DotProduct, Weight: 1000, DimExt: "merge", Norm: "max"}}, Device: policy.DeviceBest,
	}
	mix := &policy.Config{
		Name: "FGD+BestFit", Device: policy.DeviceWorst, Scorers: []policy.Scorer{
			{Name: policy.FGD, Weight: 500, DimExt: "share", Norm: "max"}, {Name: policy.BestFit, Weight: 1000, DimExt: "share", Norm: "max"},
		},
	}
	tests := map[string]struct {
		text, device, dimExt string
		want                 *policy.Config
		err                  string
	}{
		"as the study had it":  {text: "DotProd", want: study},
		"the full name":        {text: "dotproductscore", want: study},
		"a mix":                {text: "fgd=500, BestFit", device: "worst", dimExt: "share", want: mix},
		"nobody's":             {text: "Best", err: `unknown policy "Best": want one of Random, DotProd`},
		"a weight of nothing":  {text: "FGD=0", err: "want a weight from 1"},
		"an unknown device":    {text: "FGD", device: "any", err: "gpuSelMethod: want one of best"},
		"an empty name":        {text: "", err: `unknown policy ""`},
		"a vector of its own":  {text: "DotProd", dimExt: "x", err: "dimExtMethod: want one of merge"},
		"a weight as a number": {text: "FGD=x", err: `found "x"`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := ParsePolicy(tc.text, tc.device, tc.dimExt, "")
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Fatalf("want an error with %q, found %v", tc.err, err)
				}
				return
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || err != nil {
				t.Errorf("error %v, policy (-want +got):\n%s", err, diff)
			}
		})
	}
}

// FuzzParse: no configuration panics, and one that is accepted can be asked for both of its forms.
func FuzzParse(f *testing.F) {
	f.Add(old)
	f.Add(strings.ReplaceAll(old, "FGDScore", "RLSchedulerScore"))
	f.Add("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles: [{plugins: {multiPoint: {enabled: [{name: x}]}}}]\n")
	f.Fuzz(func(t *testing.T, text string) {
		list := &faults.List{}
		config := Parse("s.yaml", []byte(text), list)
		if list.Err() != nil {
			return
		}
		if native, whyNot := config.Native(); (native == nil) == (whyNot == "") {
			t.Errorf("want either a policy or a reason, found %v and %q", native, whyNot)
		}
		if _, err := config.V1(list); err != nil {
			t.Errorf("an accepted configuration cannot be rewritten: %v", err)
		}
	})
}
