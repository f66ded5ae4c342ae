// Package netem makes networks for tests: hosts in network namespaces of their own, and links between them with a set
// delay, jitter, loss and MTU. Real processes send real packets through real sockets; only the wire is made up.
//
// # The wire
//
// Each host has a TUN device, and one goroutine of this package reads what the host sends. A packet crosses two access
// links, that of its sender and that of its receiver, and waits in a heap until it is due; a thread of its own, which
// sleeps in ppoll with nanoseconds and not in Go's timers with milliseconds, hands it to the receiver's device. The
// kernel's own sch_netem does the same with a few microseconds less of work, but many kernels are built without it, those
// of small virtual machines above all, and it takes a seed only since Linux 6.7. One wire for all machines also means one
// result for all machines.
//
// What this wire adds by itself, two passes through user space a direction, is tens of microseconds on an idle machine;
// [Network.Added] tells what it was.
//
// Needs Linux, root, /dev/net/tun and the command ip; [New] returns [ErrUnsupported] where namespaces cannot be made.
// Namespaces that a killed test left behind are removed by the next one.
package netem
