package diskmodel

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// failure is an error with the reason by which it is counted.
type failure struct {
	reason string
	// passing says that another attempt may succeed.
	passing bool
	err     error
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// parseURL returns a URL from which documents can be fetched.
func parseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, errors.New("url: want one that begins with http://, https:// or file:///, found one that cannot be read")
	}
	if strings.HasSuffix(strings.ToLower(u.Path), ".so") {
		return nil, fmt.Errorf("url %.200q: %w", u.Redacted(), ErrNative)
	}
	switch u.Scheme {
	case "http", "https":
		if u.Host == "" {
			return nil, fmt.Errorf("url: want a host, found none in %.200q", u.Redacted())
		}
	case "file":
		if u.Host != "" && u.Host != "localhost" || u.Path == "" {
			return nil, fmt.Errorf("url: want file:/// and a path, found %.200q", u.Redacted())
		}
	default:
		return nil, fmt.Errorf("url: want one that begins with http://, https:// or file:///, found %.200q", u.Redacted())
	}
	return u, nil
}

// fetcher gets documents.
type fetcher struct {
	client  *http.Client
	timeout time.Duration // of one attempt
	backoff wait.Backoff
}

// document returns what an entry points at, its digest checked.
func (f *fetcher) document(ctx context.Context, e entry) ([]byte, error) {
	data := e.inline
	if data == nil {
		var err error
		if data, err = f.fetch(ctx, e.url); err != nil {
			return nil, err
		}
	}
	if e.sha256 == "" {
		return data, nil
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != e.sha256 {
		return nil, &failure{
			reason: reasonDigest,
			err:    fmt.Errorf("want a document with the sha256 %s, found %s", e.sha256, hex.EncodeToString(sum[:])),
		}
	}
	return data, nil
}

// fetch retries what may pass, with a growing pause.
func (f *fetcher) fetch(ctx context.Context, text string) ([]byte, error) {
	u, err := parseURL(text)
	if err != nil {
		return nil, &failure{reason: reasonList, err: err}
	}
	var data []byte
	var last error
	err = wait.ExponentialBackoffWithContext(ctx, f.backoff, func(ctx context.Context) (bool, error) {
		ctx, cancel := context.WithTimeout(ctx, f.timeout)
		defer cancel()
		if u.Scheme == "file" {
			data, last = readFile(u.Path)
		} else {
			data, last = f.get(ctx, u)
		}
		var fault *failure
		if errors.As(last, &fault) && fault.passing {
			return false, nil
		}
		return true, last
	})
	if last != nil {
		return nil, last
	}
	return data, err
}

func (f *fetcher) get(ctx context.Context, u *url.URL) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), http.NoBody)
	if err != nil {
		return nil, &failure{reason: reasonFetch, err: err}
	}
	response, err := f.client.Do(request)
	if err != nil {
		return nil, &failure{reason: reasonFetch, passing: true, err: short(err)} // names the URL, without a password
	}
	defer func() { _ = response.Body.Close() }() // nothing was written that could be lost
	if response.StatusCode != http.StatusOK {
		passing := response.StatusCode >= http.StatusInternalServerError || response.StatusCode == http.StatusTooManyRequests
		return nil, &failure{
			reason: reasonFetch, passing: passing,
			err: fmt.Errorf("GET %s: want status 200, found %d", u.Redacted(), response.StatusCode),
		}
	}
	data, err := readBounded(response.Body)
	if err != nil {
		return nil, named("GET "+u.Redacted(), err)
	}
	return data, nil
}

// readFile reads a regular file: opening a pipe would wait for someone to write to it.
func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, &failure{reason: reasonFetch, err: err}
	}
	if !info.Mode().IsRegular() {
		return nil, &failure{reason: reasonFetch, err: fmt.Errorf("want a regular file, found %s of mode %s", path, info.Mode())}
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, &failure{reason: reasonFetch, err: err}
	}
	defer func() { _ = file.Close() }() // it was only read
	data, err := readBounded(file)
	if err != nil {
		return nil, named(path, err)
	}
	return data, nil
}

// readBounded reads what is at most a document long.
func readBounded(r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxDocument+1))
	if err != nil {
		return nil, &failure{reason: reasonFetch, passing: true, err: err}
	}
	if len(data) > MaxDocument {
		return nil, &failure{reason: reasonFetch, err: fmt.Errorf("want a document of at most %d bytes, found more", MaxDocument)}
	}
	return data, nil
}

// named says in a failure where it happened.
func named(where string, err error) error {
	if fault, ok := errors.AsType[*failure](err); ok {
		return &failure{reason: fault.reason, passing: fault.passing, err: fmt.Errorf("%s: %w", where, fault.err)}
	}
	return fmt.Errorf("%s: %w", where, err)
}
