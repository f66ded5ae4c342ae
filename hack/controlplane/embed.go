package controlplane

import _ "embed"

//go:embed kubernetes.mod
var kubernetesMod string

//go:embed kubernetes.sum
var kubernetesSum string

//go:embed kwok.mod
var kwokMod string

//go:embed kwok.sum
var kwokSum string

// Module is the content of one pinned module's two files.
type Module struct {
	// Mod is the content for its go.mod.
	Mod string
	// Sum is the content for its go.sum, complete for building the module's tools.
	Sum string
}

// Kubernetes pins etcd, kube-apiserver, kube-controller-manager and kubectl.
func Kubernetes() Module {
	return Module{Mod: kubernetesMod, Sum: kubernetesSum}
}

// Kwok pins kwok. It is a module of its own because kwok follows Kubernetes' libraries at another pace.
func Kwok() Module {
	return Module{Mod: kwokMod, Sum: kwokSum}
}
