// Package scheme makes kube-scheduler understand the arguments of Vicinity's plugins. It is the one place that
// touches kube-scheduler's scheme.
package scheme
