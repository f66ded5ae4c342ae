package localcluster

import "syscall"

// childAttributes put a child into a process group of its own, so that Ctrl-C at the terminal reaches only us and we
// stop the children in order, and have the kernel kill it when we die without stopping it.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
