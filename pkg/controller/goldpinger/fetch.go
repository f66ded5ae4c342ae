package goldpinger

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
)

const (
	// maxCheckAll bounds the answer of /check_all: about 350 nodes that all ping each other. Larger clusters use Check.
	maxCheckAll = 32 << 20
	// maxCheck bounds the answer of one pod: about 30,000 peers, or the histograms of 3,000.
	maxCheck = 8 << 20
)

// What can be wrong with an answer. Each is a reason in the metrics.
var (
	errUnreachable = errors.New("no answer")
	errStatus      = errors.New("not the status 200")
	errPassive     = errors.New("a passive pod")
	errTooLarge    = errors.New("too large an answer")
	errMalformed   = errors.New("not an answer of Goldpinger")
	errImpossible  = errors.New("an impossible time")
	errUnknownNode = errors.New("not a node of this cluster")
	errWrite       = errors.New("cannot write")
)

// fetch gets a URL. The body is at most that long.
func fetch(ctx context.Context, client *http.Client, url string, most int64) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errUnreachable, err)
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errUnreachable, err)
	}
	defer func() { _ = response.Body.Close() }() // it was read, or its rest is of no use
	body, err := io.ReadAll(io.LimitReader(response.Body, most+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: GET %s: %w", errUnreachable, url, err)
	case response.StatusCode == http.StatusServiceUnavailable:
		return nil, fmt.Errorf("%w: GET %s: %s", errPassive, url, response.Status)
	case response.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("%w: GET %s: %s", errStatus, url, response.Status)
	case int64(len(body)) > most:
		return nil, fmt.Errorf("%w: GET %s: more than %d bytes; mode Check asks for less at once", errTooLarge, url, most)
	}
	return body, nil
}
