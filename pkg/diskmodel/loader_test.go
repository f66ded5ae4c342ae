package diskmodel

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/vicinity-scheduler/vicinity/pkg/blockio"
)

// double and triple are documents that are told apart by what reading 100 costs.
const (
	double = "kind: Table\nreadRatios: {4k: 2}\n"
	triple = "kind: Table\nreadRatios: {4k: 3}\n"
)

func newTestLoader(t *testing.T, options Options) *Loader {
	t.Helper()
	if options.Timeout == 0 {
		options.Timeout = 5 * time.Second
	}
	if options.Backoff.Steps == 0 {
		options.Backoff = wait.Backoff{Steps: 3, Duration: time.Millisecond, Factor: 2}
	}
	l, err := NewLoader(options, prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// cost returns what reading 100 bytes per second costs on a disk, and whether its model is known.
func cost(t *testing.T, l *Loader, vendor, model string) (read int64, known bool) {
	t.Helper()
	m, known := l.Snapshot().Model(vendor, model)
	d, err := m.Normalize(blockio.Request{Read: 100, ReadBlock: 4096, WriteBlock: 4096})
	if err != nil {
		t.Fatal(err)
	}
	return int64(d.Bandwidth.Read), known
}

func wantCost(t *testing.T, l *Loader, want int64, wantKnown bool) {
	t.Helper()
	if got, known := cost(t, l, "V", "M"); got != want || known != wantKnown {
		t.Errorf("the disk costs %d, known %v; want %d, %v", got, known, want, wantKnown)
	}
}

func wantFailures(t *testing.T, l *Loader, reason string, want float64) {
	t.Helper()
	var metric dto.Metric
	if err := l.failures.WithLabelValues(reason).Write(&metric); err != nil {
		t.Fatal(err)
	}
	if got := metric.GetCounter().GetValue(); got != want {
		t.Errorf("%v failures of reason %s, want %v", got, reason, want)
	}
}

// vendorList is a list with one entry for disk V M.
func vendorList(t *testing.T, fields map[string]any) string {
	t.Helper()
	entry := map[string]any{"vendor": "V", "model": "M"}
	maps.Copy(entry, fields)
	data, err := json.Marshal([]any{entry})
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func digest(document string) string {
	sum := sha256.Sum256([]byte(document))
	return hex.EncodeToString(sum[:])
}

// server serves what handler says on loopback until the test ends.
func server(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return s.URL
}

func mustSet(t *testing.T, l *Loader, list string) {
	t.Helper()
	if err := l.SetVendors(list); err != nil {
		t.Fatal(err)
	}
}

func mustRefresh(t *testing.T, l *Loader) {
	t.Helper()
	if err := l.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestModelsFromAFileServer(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "a.yaml"), []byte(double), 0o600); err != nil {
		t.Fatal(err)
	}
	files := http.FileServer(http.Dir(folder))
	url := server(t, files.ServeHTTP)
	l := newTestLoader(t, Options{})
	wantCost(t, l, 100, false)

	mustSet(t, l, vendorList(t, map[string]any{"url": url + "/a.yaml", "sha256": strings.ToUpper(digest(double))}))
	mustRefresh(t, l)
	wantCost(t, l, 200, true)
	first := l.Snapshot().Generation()

	mustRefresh(t, l)
	if got := l.Snapshot().Generation(); got != first {
		t.Errorf("generation %d after a refresh that changed nothing, want %d", got, first)
	}

	mustSet(t, l, vendorList(t, map[string]any{"url": "file://" + folder + "/a.yaml"}))
	if err := os.WriteFile(filepath.Join(folder, "a.yaml"), []byte(triple), 0o600); err != nil {
		t.Fatal(err)
	}
	mustRefresh(t, l)
	wantCost(t, l, 300, true)
	if got := l.Snapshot().Generation(); got == first {
		t.Error("the generation is the same after a change")
	}

	mustSet(t, l, "")
	mustRefresh(t, l)
	wantCost(t, l, 100, false)
}

func TestInlineDocuments(t *testing.T) {
	for name, inline := range map[string]any{
		"as a string": double, "as an object": map[string]any{"kind": "Table", "readRatios": map[string]any{"4k": 2}},
	} {
		t.Run(name, func(t *testing.T) {
			l := newTestLoader(t, Options{})
			mustSet(t, l, vendorList(t, map[string]any{"inline": inline}))
			mustRefresh(t, l)
			wantCost(t, l, 200, true)
		})
	}
}

// TestVendorAndModelAreTwoNames: the predecessor took both of these for the disk A-B-C.
func TestVendorAndModelAreTwoNames(t *testing.T) {
	l := newTestLoader(t, Options{})
	mustSet(t, l, fmt.Sprintf(`[{"vendor":"A-B","model":"C","inline":%q},{"vendor":"A","model":"B-C","inline":%q}]`, double, triple))
	mustRefresh(t, l)
	if first, _ := cost(t, l, "A-B", "C"); first != 200 {
		t.Errorf("A-B, C costs %d, want 200", first)
	}
	if second, _ := cost(t, l, "A", "B-C"); second != 300 {
		t.Errorf("A, B-C costs %d, want 300", second)
	}
}

func TestDefaultModel(t *testing.T) {
	fallback, _, err := Parse([]byte(triple))
	if err != nil {
		t.Fatal(err)
	}
	wantCost(t, newTestLoader(t, Options{Default: fallback}), 300, false)
}

// TestLastGoodModelStays goes through everything that can happen to a document that was there once.
func TestLastGoodModelStays(t *testing.T) {
	cases := map[string]struct {
		then    http.HandlerFunc
		reason  string
		wantErr string
	}{
		"the server says no": {
			func(w http.ResponseWriter, _ *http.Request) { http.NotFound(w, nil) }, reasonFetch, "want status 200, found 404",
		},
		"the server is broken, also at the third attempt": {
			func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }, reasonFetch, "want status 200, found 502",
		},
		"another document than the digest's": {
			func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(triple)) }, reasonDigest, "want a document with the sha256 " + digest(double),
		},
		"a document that never ends": {
			func(w http.ResponseWriter, _ *http.Request) {
				chunk := make([]byte, 1<<16)
				for sent := 0; sent < 1<<30; sent += len(chunk) {
					if _, err := w.Write(chunk); err != nil {
						return
					}
				}
			}, reasonFetch, "want a document of at most 1048576 bytes, found more",
		},
		"a connection that breaks off": {
			func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Length", "1000")
				_, _ = w.Write([]byte(double))
			}, reasonFetch, "unexpected EOF",
		},
		"a redirection to a file": {
			func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", "file:///etc/hostname")
				w.WriteHeader(http.StatusFound)
			}, reasonFetch, "unsupported protocol scheme",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var broken atomic.Bool
			url := server(t, func(w http.ResponseWriter, r *http.Request) {
				if broken.Load() {
					tc.then(w, r)
					return
				}
				_, _ = w.Write([]byte(double))
			})
			l := newTestLoader(t, Options{})
			mustSet(t, l, vendorList(t, map[string]any{"url": url + "/model", "sha256": digest(double)}))
			mustRefresh(t, l)
			broken.Store(true)
			if err := l.Refresh(t.Context()); err == nil || !strings.Contains(err.Error(), tc.wantErr) {
				t.Errorf("error %v, want %q", err, tc.wantErr)
			}
			wantCost(t, l, 200, true)
			wantFailures(t, l, tc.reason, 1)
		})
	}
}

func TestDocumentsThatAreNotModels(t *testing.T) {
	cases := map[string]struct{ document, reason string }{
		"a native plug-in under another name": {"\x7fELF\x02\x01", reasonNative},
		"an expression that takes too long": {
			celDocument(`{"read": ` + strings.Repeat("[1,2,3,4,5,6,7,8,9].all(x, ", 5) + "true" + strings.Repeat(")", 5) + ` ? read : 0.0, "write": write}`), reasonDocument,
		},
		"an expression that is no number": {celDocument(`{"read": 0.0 / 0.0, "write": write}`), reasonDocument},
		"a page of a web server":          {"<html><body>Hello</body></html>", reasonDocument},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var document atomic.Value
			document.Store(double)
			url := server(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(document.Load().(string))) })
			l := newTestLoader(t, Options{})
			mustSet(t, l, vendorList(t, map[string]any{"url": url}))
			mustRefresh(t, l)
			document.Store(tc.document)
			if err := l.Refresh(t.Context()); err == nil {
				t.Error("no error")
			}
			wantCost(t, l, 200, true)
			wantFailures(t, l, tc.reason, 1)
		})
	}
}

func TestTransientFaultsAreRetried(t *testing.T) {
	var requests atomic.Int32
	url := server(t, func(w http.ResponseWriter, _ *http.Request) {
		if requests.Add(1) < 3 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		_, _ = w.Write([]byte(double))
	})
	l := newTestLoader(t, Options{})
	mustSet(t, l, vendorList(t, map[string]any{"url": url}))
	mustRefresh(t, l)
	wantCost(t, l, 200, true)
	if got := requests.Load(); got != 3 {
		t.Errorf("%d requests, want 3", got)
	}
	wantFailures(t, l, reasonFetch, 0)
}

// TestSlowServer: it holds up neither other models nor the loader for longer than its attempts may take.
func TestSlowServer(t *testing.T) {
	release := make(chan struct{})
	slow := server(t, func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
	})
	t.Cleanup(func() { close(release) }) // before the server is closed, which waits for its requests
	l := newTestLoader(t, Options{Timeout: 50 * time.Millisecond})
	mustSet(t, l, fmt.Sprintf(`[{"vendor":"S","model":"slow","url":%q},{"vendor":"V","model":"M","inline":%q}]`, slow, double))
	if err := l.Refresh(t.Context()); err == nil || !strings.Contains(err.Error(), "deadline exceeded") {
		t.Errorf("error %v, want an exceeded deadline", err)
	}
	wantCost(t, l, 200, true)
	wantFailures(t, l, reasonFetch, 1)
}

func TestRunFollowsChangesAndEnds(t *testing.T) {
	var document atomic.Value
	document.Store(double)
	url := server(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(document.Load().(string))) })
	changed := make(chan struct{}, 10)
	l := newTestLoader(t, Options{RefreshInterval: 10 * time.Millisecond, Changed: func() { changed <- struct{}{} }})
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { l.Run(ctx) })
	await := func(what string) {
		t.Helper()
		select {
		case <-changed:
		case <-time.After(30 * time.Second):
			t.Fatalf("no change after %s", what)
		}
	}
	mustSet(t, l, vendorList(t, map[string]any{"url": url}))
	await("a new list")
	wantCost(t, l, 200, true)
	document.Store(triple)
	await("a new document")
	wantCost(t, l, 300, true)
	mustSet(t, l, "[]")
	await("an empty list")
	wantCost(t, l, 100, false)
	cancel()
	running.Wait()
}

// TestInterruptedRefreshIsNoFailure: a scheduler that is stopped says nothing of its models.
func TestInterruptedRefreshIsNoFailure(t *testing.T) {
	l := newTestLoader(t, Options{})
	mustSet(t, l, vendorList(t, map[string]any{"url": "http://127.0.0.1:1/m"}))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.Refresh(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
	wantFailures(t, l, reasonFetch, 0)
}

// TestConcurrentUse is for the race detector.
func TestConcurrentUse(t *testing.T) {
	l := newTestLoader(t, Options{})
	var group sync.WaitGroup
	for i := range 4 {
		group.Go(func() {
			for j := range 20 {
				if err := l.SetVendors(vendorList(t, map[string]any{"inline": []string{double, triple}[(i+j)%2]})); err != nil {
					t.Error(err)
				}
				if err := l.Refresh(t.Context()); err != nil {
					t.Error(err)
				}
				if m, _ := l.Snapshot().Model("V", "M"); m == nil {
					t.Error("no model at all")
				}
			}
		})
	}
	group.Wait()
}

func TestLookUpDoesNotAllocate(t *testing.T) {
	l := newTestLoader(t, Options{})
	mustSet(t, l, vendorList(t, map[string]any{"inline": double}))
	mustRefresh(t, l)
	if n := testing.AllocsPerRun(100, func() { l.Snapshot().Model("V", "M") }); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}
