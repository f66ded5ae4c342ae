package ingest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strings"
)

// unixPrefix begins addresses that are paths of sockets.
const unixPrefix = "unix:"

// Listen opens an address: "unix:" and the path of a socket that only this user and group may use, or host:port. An
// address that is neither a socket nor a loopback one is refused unless secured.
func Listen(ctx context.Context, address string, secured bool) (net.Listener, error) {
	path, isSocket := strings.CutPrefix(address, unixPrefix)
	if !isSocket {
		return listenTCP(ctx, address, secured)
	}
	path = strings.TrimPrefix(path, "//")
	// Left by a process that was killed.
	if info, err := os.Lstat(path); err == nil && info.Mode().Type() == fs.ModeSocket {
		if err := os.Remove(path); err != nil {
			return nil, fmt.Errorf("removing the socket of an earlier process: %w", err)
		}
	}
	ln, err := (&net.ListenConfig{}).Listen(ctx, "unix", path)
	if err != nil {
		return nil, fmt.Errorf("listening on socket %s: %w", path, err)
	}
	if err := os.Chmod(path, 0o660); err != nil { //nolint:gosec // the group is the scheduler's
		return nil, errors.Join(fmt.Errorf("protecting socket %s: %w", path, err), ln.Close())
	}
	return ln, nil
}

func listenTCP(ctx context.Context, address string, secured bool) (net.Listener, error) {
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listening on %s: %w", address, err)
	}
	if tcp, ok := ln.Addr().(*net.TCPAddr); !secured && (!ok || !tcp.IP.IsLoopback()) {
		return nil, errors.Join(fmt.Errorf("%s can be reached from other machines, and whoever connects can write: "+
			"want a certificate and a client CA, a loopback address, or unix:PATH", address), ln.Close())
	}
	return ln, nil
}
