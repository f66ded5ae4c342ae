package imports

import "slices"

// Module is the path that the patterns of the table are relative to.
const Module = "github.com/vicinity-scheduler/vicinity"

// Row says what the packages of some folders may import.
//
// Patterns are import paths: relative to the module in Roots and Inside, full ones elsewhere. A path segment "*"
// matches any one segment, and a last segment "**" matches the folder before it and everything below.
type Row struct {
	// Name is how a failure calls the row.
	Name string
	// Roots are the folders that the row is about, relative to the module. A package belongs to the row with the
	// longest root at or above it. What lies below one root is one part: its packages may import each other.
	Roots []string
	// Inside lists what may be imported from this module, beside the package's own part. "**" is everything but cmd:
	// no part may import another one's main.
	Inside []string
	// Outside lists what may be imported from other modules. Nil means anything.
	Outside []string
	// Never lists what may not be imported although Inside or Outside would allow it.
	Never []string
	// TestsAlso lists what _test.go files may import in spite of the three fields above.
	TestsAlso []string
	// Why is the reason, shown with each breach.
	Why string
}

const delay = "pkg/delay"

// pure are the folders whose code is arithmetic on plain values. All but delay use the standard library only.
func pure() []string {
	return []string{
		"pkg/score", "pkg/sample", "pkg/locality", "pkg/blockio", delay, "pkg/gpushare", "pkg/feature",
		"pkg/mlp", "pkg/trace",
	}
}

// simulatorCore are the folders that a simulation with native policies consists of.
func simulatorCore() []string {
	return []string{
		"pkg/simulator/deschedule", "pkg/simulator/dice", "pkg/simulator/engine", "pkg/simulator/model",
		"pkg/simulator/occupancy", "pkg/simulator/policy", "pkg/simulator/workload", "pkg/simulator/world",
	}
}

// below turns roots into patterns that match everything at and below them.
func below(roots ...string) []string {
	patterns := make([]string, 0, len(roots))
	for _, root := range roots {
		patterns = append(patterns, root+"/**")
	}
	return patterns
}

// controlPlane is what a test needs to run against a real API server.
func controlPlane() []string {
	return []string{Module + "/pkg/localcluster", Module + "/manifests", Module + "/test/crds"}
}

// Table is the import direction of the whole module. The standard library is open to every package, but for Never.
func Table() []Row {
	return slices.Concat(apiRows(), pureRows(), clusterRows(), recordRows(), simulatorRows(), outerRows())
}

func apiRows() []Row {
	clients := []string{
		"k8s.io/client-go/**", "k8s.io/klog/**", "sigs.k8s.io/controller-runtime/**", "github.com/prometheus/**",
	}
	const why = "whoever reads or writes our objects imports the API packages, and must not get a client, a logger or a scheduler with them"
	tests := append([]string{"k8s.io/client-go/**", "sigs.k8s.io/controller-runtime/**"}, controlPlane()...)
	return []Row{
		{
			Name:      "apis",
			Roots:     []string{"apis"},
			Inside:    below("apis"),
			Never:     append([]string{"k8s.io/kubernetes/**"}, clients...),
			TestsAlso: tests,
			Why:       why,
		},
		{
			Name:      "apis/config/scheme",
			Roots:     []string{"apis/config/scheme"},
			Inside:    below("apis"),
			Never:     clients,
			TestsAlso: tests,
			Why:       "this is the one API package that touches kube-scheduler's scheme, and it registers types only",
		},
	}
}

func pureRows() []Row {
	const why = "a formula that only needs the standard library can be read, tested and reused without a cluster"
	logs := []string{"log", "log/slog"}
	tests := []string{"github.com/google/go-cmp/**", "go.uber.org/goleak"}
	return []Row{
		{
			Name:      "pure",
			Roots:     slices.DeleteFunc(pure(), func(root string) bool { return root == delay }),
			Inside:    below(pure()...),
			Outside:   []string{},
			Never:     logs,
			TestsAlso: tests,
			Why:       why,
		},
		{
			Name:      "delay",
			Roots:     []string{delay},
			Inside:    below(pure()...),
			Outside:   []string{"github.com/hashicorp/serf/coordinate"},
			Never:     logs,
			TestsAlso: tests,
			Why:       why + "; network coordinates are the one calculation taken from others",
		},
		{
			Name:    "version",
			Roots:   []string{"pkg/version"},
			Outside: []string{},
			Why:     "every binary imports it",
		},
	}
}

func clusterRows() []Row {
	domain := below(append([]string{"apis", "pkg/version"}, pure()...)...)
	kubernetes := []string{"k8s.io/kubernetes/**"}
	pluginTests := append(controlPlane(), kubernetes...)
	withState := append(below("pkg/state", "pkg/diskmodel", "pkg/mlpmodel", "pkg/tracewire"), domain...)
	return []Row{
		{
			Name:      "state",
			Roots:     []string{"pkg/state", "pkg/diskmodel", "pkg/mlpmodel"},
			Inside:    domain,
			Never:     kubernetes,
			TestsAlso: controlPlane(),
			Why:       "it serves every plugin and daemon, so it knows none of them, and it must not drag the scheduler into them",
		},
		{
			Name:      "plugins",
			Roots:     []string{"pkg/plugins/*"},
			Inside:    append(below("pkg/plugins/internal"), domain...),
			Never:     kubernetes,
			TestsAlso: pluginTests,
			Why: "plugins are adapters that can be enabled one by one: they share code through pkg/plugins/internal, " +
				"declare a small reader interface instead of importing pkg/state, and need k8s.io/kube-scheduler only",
		},
		{
			Name:      "plugins/internal",
			Roots:     []string{"pkg/plugins/internal"},
			Inside:    domain,
			Never:     kubernetes,
			TestsAlso: pluginTests,
			Why:       "what plugins share must not know a plugin",
		},
		{
			Name:      "daemons",
			Roots:     []string{"pkg/agent", "pkg/controller", "pkg/decisions"},
			Inside:    append(below("pkg/health"), withState...),
			Never:     kubernetes,
			TestsAlso: append(controlPlane(), Module+"/test/netem"),
			Why:       "the daemons are separate processes that meet in API objects only, and none is a scheduler",
		},
		{
			Name:   "process",
			Roots:  []string{"pkg/daemon", "pkg/health"},
			Inside: below("pkg/daemon", "pkg/health", "pkg/version"),
			Never:  kubernetes,
			Why:    "what each long-running process does the same way knows none of them",
		},
	}
}

// recordRows are about decision records on their way from the scheduler to whoever keeps them.
func recordRows() []Row {
	domain := below(append([]string{"apis", "pkg/version"}, pure()...)...)
	return []Row{
		{
			Name:      "tracewire",
			Roots:     []string{"pkg/tracewire"},
			Inside:    domain,
			Never:     append([]string{"k8s.io/**", "sigs.k8s.io/**", "github.com/prometheus/**"}, "log", "log/slog"),
			TestsAlso: []string{},
			Why:       "it converts one form of decision records into another, for whoever sends, takes or reads them",
		},
		{
			Name:      "tracesink",
			Roots:     []string{"pkg/tracesink"},
			Inside:    append(below("pkg/tracewire"), domain...),
			Never:     []string{"k8s.io/kubernetes/**", "k8s.io/client-go/**", "k8s.io/kube-scheduler/**"},
			Why:       "records go to files and services the same way, whoever makes them: a scheduler, the simulator or the command line",
			TestsAlso: []string{"k8s.io/klog/**"},
		},
		{
			Name:      "recording",
			Roots:     []string{"pkg/recording"},
			Inside:    append(below("pkg/plugins/sniffer"), domain...),
			TestsAlso: controlPlane(),
			Why: "it stands around kube-scheduler's own profiles, so it needs k8s.io/kubernetes, which the plugin must not import; " +
				"it knows no other plugin",
		},
	}
}

func simulatorRows() []Row {
	withState := append(below("pkg/state", "pkg/diskmodel", "apis", "pkg/version"), below(pure()...)...)
	return []Row{
		{
			Name:      "simulator core",
			Roots:     simulatorCore(),
			Inside:    append(below(pure()...), below(simulatorCore()...)...),
			Outside:   []string{},
			Never:     []string{"log", "log/slog", "os", "net/**"},
			TestsAlso: []string{"**"},
			Why:       "a simulation is arithmetic on plain values: nothing in it may depend on a cluster, a file or the time of day",
		},
		{
			Name:   "simulator",
			Roots:  []string{"pkg/simulator"},
			Inside: append(below("pkg/plugins"), withState...),
			Why:    "the simulator runs the plugins that ship, without the daemons that feed them in a cluster",
		},
	}
}

func outerRows() []Row {
	return []Row{
		{
			Name:   "localcluster",
			Roots:  []string{"pkg/localcluster"},
			Inside: below("hack/controlplane", "pkg/version"),
			Never:  []string{"k8s.io/kubernetes/**"},
			Why:    "it runs any control plane and knows nothing of what is tried on it",
		},
		{
			Name:   "scenario",
			Roots:  []string{"pkg/scenario", "pkg/localstack"},
			Inside: []string{"**"},
			Why:    "they start the binaries as processes: what a main does stays in cmd",
		},
		{
			Name:   "cmd",
			Roots:  []string{"cmd/*"},
			Inside: []string{"**"},
			Why:    "a binary is wiring: what two of them need belongs in pkg",
		},
		{
			Name:      "embedded files",
			Roots:     []string{"manifests", "hack/controlplane", "test/crds", "test/scenarios"},
			Outside:   []string{},
			TestsAlso: []string{"**"},
			Why:       "these packages only carry files, so that anything may embed them",
		},
		{
			Name:   "generators",
			Roots:  []string{"hack/metricsdoc"},
			Inside: []string{"**"},
			Why:    "a generator writes documentation from the packages that it documents",
		},
		{
			Name:   "test",
			Roots:  []string{"test/*"},
			Inside: []string{"**"},
			Why:    "tests drive the project from outside; what a main does is reached by running it",
		},
	}
}
