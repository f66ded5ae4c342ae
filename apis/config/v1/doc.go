// Package v1 holds what administrators configure: the arguments of Vicinity's scheduler plugins, which stand in
// KubeSchedulerConfiguration under pluginConfig, and the agent's AgentConfiguration file.
//
// Each plugin has one Go type that serves both as kubescheduler.config.k8s.io/v1 and as the scheduler's internal
// version: there is one version only, so a second copy with conversions would have nothing to convert. Decoding
// is strict, defaults apply also when a plugin is enabled without arguments, and Validate* functions report
// every fault with its field path. A plugin's type appears here together with the plugin: arguments that would
// be accepted and do nothing are not offered.
//
// Defaults and meanings are chosen such that the zero value is never a legal explicit setting, so no field
// needs a pointer.
//
// The package depends on API packages only. Package scheme, beside it, registers the types with kube-scheduler.
//
// +kubebuilder:object:generate=true
// +groupName=config.vicinity.dev
package v1
