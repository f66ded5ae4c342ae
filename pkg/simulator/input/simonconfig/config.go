package simonconfig

// Config is the file, with the predecessor's names.
type Config struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Metadata   Metadata `json:"metadata"`
	Spec       Spec     `json:"spec"`
}

// Metadata names the experiment.
type Metadata struct {
	Name string `json:"name"`
}

// Spec says what is simulated.
type Spec struct {
	Cluster Cluster `json:"cluster"`
	// AppList is deployed after the cluster's own pods, in order.
	AppList []App `json:"appList"`
	// NewNode is accepted and not used, as in the predecessor.
	NewNode      string `json:"newNode"`
	CustomConfig Custom `json:"customConfig"`
}

// Cluster is one of two: a kubeconfig, whose cluster is only read, or a folder with manifests.
type Cluster struct {
	KubeConfig   string `json:"kubeConfig"`
	CustomConfig string `json:"customConfig"`
}

// App is an application: a folder or file with manifests, or a Helm chart.
type App struct {
	Name  string `json:"name"`
	Path  string `json:"path"`
	Chart bool   `json:"chart"`
}

// Custom is how the workload is made.
type Custom struct {
	ShufflePod              bool       `json:"shufflePod"`
	WorkloadTuningConfig    Tuning     `json:"workloadTuningConfig"`
	WorkloadInflationConfig Tuning     `json:"workloadInflationConfig"`
	DescheduleConfig        Deschedule `json:"descheduleConfig"`
	NewWorkloadConfig       string     `json:"newWorkloadConfig"`
	TypicalPodsConfig       Typical    `json:"typicalPodsConfig"`
	ExportConfig            Export     `json:"exportConfig"`
}

// Tuning is a ratio and a seed. The seed of an inflation has no effect in the predecessor, nor here.
type Tuning struct {
	Ratio float64 `json:"ratio"`
	Seed  int64   `json:"seed"`
}

// Deschedule evicts pods and places them anew.
type Deschedule struct {
	Ratio  float64 `json:"ratio"`
	Policy string  `json:"policy"`
}

// Typical chooses the typical pods.
type Typical struct {
	IsInvolvedCPUPods      bool    `json:"isInvolvedCpuPods"`
	PodPopularityThreshold int     `json:"podPopularityThreshold"`
	PodIncreaseStep        int     `json:"podIncreaseStep"`
	GPUResWeight           float64 `json:"gpuResWeight"`
}

// Export says where snapshots are written.
type Export struct {
	PodSnapshotYAMLFilePrefix string `json:"podSnapshotYamlFilePrefix"`
	NodeSnapshotCSVFilePrefix string `json:"nodeSnapshotCSVFilePrefix"`
}
