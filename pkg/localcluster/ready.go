package localcluster

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	// readyInterval is how often a starting process is asked whether it is ready.
	readyInterval = 50 * time.Millisecond
	// probeTimeout bounds one such question.
	probeTimeout = 5 * time.Second
	// bodyBytes bounds how much of an unready answer is shown.
	bodyBytes = 2 << 10
)

// await asks check until it returns nil, for as long as ctx lasts and every one of the processes lives. The error
// says what was waited for, what was answered last, and shows the log of the process at fault, the last one if none
// has ended.
func await(ctx context.Context, what string, check func(context.Context) error, processes ...*Process) error {
	start := time.Now()
	answer, answered := errors.New("none"), false
	err := wait.PollUntilContextCancel(ctx, readyInterval, true, func(ctx context.Context) (bool, error) {
		for _, p := range processes {
			if p.exited() {
				return false, p.deathError()
			}
		}
		probe, cancel := context.WithTimeout(ctx, probeTimeout)
		defer cancel()
		if err := check(probe); err != nil {
			// Not ready yet. A question that the end of ctx cut off has no answer worth more than the one before.
			if ctx.Err() == nil || !answered {
				answer, answered = err, true
			}
			return false, nil
		}
		return true, nil
	})
	switch {
	case err == nil:
		return nil
	case ctx.Err() == nil:
		return fmt.Errorf("while waiting for %s: %w", what, err)
	default:
		last := processes[len(processes)-1]
		return fmt.Errorf("%s is not there after %s: %w; last answer: %w; %s",
			what, elapsed(start), ctx.Err(), answer, quoteLog(last.logPath, last.LogTail(errorTailLines)))
	}
}

// answersOK checks that GET url is answered with 200.
func answersOK(client *http.Client, address string) func(context.Context) error {
	return func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
		if err != nil {
			return err
		}
		response, err := client.Do(request)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		if response.StatusCode == http.StatusOK {
			return nil
		}
		body, err := io.ReadAll(io.LimitReader(response.Body, bodyBytes))
		if err != nil {
			return err
		}
		return fmt.Errorf("GET %s: %s: %s", address, response.Status, strings.TrimSpace(string(body)))
	}
}

// probeClient is for asking whether a child on this machine is ready. It keeps no connection open, follows no
// redirect, and does not verify certificates of loopback addresses: serving certificates of programs under test are
// self-signed, and the answer is trusted with nothing but the timing of a start.
func probeClient(address string) (*http.Client, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("address to ask for readiness: %w", err)
	}
	transport := &http.Transport{DisableKeepAlives: true}
	if isLoopback(u.Hostname()) {
		transport.TLSClientConfig = &tls.Config{InsecureSkipVerify: true} //nolint:gosec // loopback only, see above
	}
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, nil
}

func isLoopback(host string) bool {
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}
