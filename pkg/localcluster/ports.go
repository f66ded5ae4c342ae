package localcluster

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

const (
	loopback = "127.0.0.1"
	// firstPort and portCount keep chosen ports below the ranges from which Linux (32768 up) and macOS (49152 up)
	// take the local ports of outgoing connections. Such a connection could otherwise grab a port between its
	// choice and its use, and an API server opens a hundred of them to etcd just then.
	firstPort = 20000
	portCount = 10000
	// portTries is enough to find a free port even when nine in ten are taken.
	portTries = 200
)

// errPortTaken is what a process fails with when somebody took its port between the choice and the use.
var errPortTaken = errors.New("a port chosen for the cluster was taken by somebody else meanwhile")

// FreePort finds a TCP port on loopback that nothing listens on. It is not reserved, only unlikely to be taken by
// anyone before its use.
func FreePort() (int, error) {
	var last error
	for range portTries {
		port := firstPort + rand.IntN(portCount)
		listener, err := net.Listen("tcp", hostPort(port))
		if err != nil {
			last = err
			continue
		}
		return port, listener.Close()
	}
	return 0, fmt.Errorf("found no free port on %s between %d and %d in %d tries: %w",
		loopback, firstPort, firstPort+portCount-1, portTries, last)
}

func hostPort(port int) string {
	return net.JoinHostPort(loopback, strconv.Itoa(port))
}
