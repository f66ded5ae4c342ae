// Package controlplane carries the module files that pin the programs of the local control plane: etcd,
// kube-apiserver, kube-controller-manager and kubectl in kubernetes.mod, kwok in kwok.mod.
//
// They are complete go.mod and go.sum files under other names. As go.mod files of nested modules they could not be
// embedded (go:embed refuses the files of another module), and a released vicinity binary must carry them, because
// pkg/localcluster builds the programs from them on the user's machine. The product's own go.mod never sees what
// they require. tidy.sh completes them after a version was changed.
package controlplane
