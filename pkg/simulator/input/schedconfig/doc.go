// Package schedconfig reads scheduler configurations: those of the predecessor, in kubescheduler.config.k8s.io/v1beta1,
// which Kubernetes has dropped, and today's v1.
//
// A configuration is asked for two things. [Config.Native] is the same decision as a native policy, if every plugin that
// scores has a native form. [Config.V1] is the same configuration for the real scheduling framework: a v1 document is
// handed on as it stands, an older one is rewritten, with plugins that have moved under their names of today.
//
// In old configurations each extension point is enabled by name, and a plugin that was not enabled where it prepares
// itself failed on every pod. Rewritten ones enable plugins at all their points, so that this mistake does no harm.
//
// The package does not import kube-scheduler: the framework checks what it is given, and names its own plugins.
package schedconfig
