//go:build !linux

package localcluster

import "syscall"

// childAttributes put a child into a process group of its own, so that Ctrl-C at the terminal reaches only us and we
// stop the children in order. Only Linux can kill the children of a killed parent.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
