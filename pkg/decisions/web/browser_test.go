package web_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	cdpruntime "github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	"github.com/vicinity-scheduler/vicinity/pkg/decisions/api"
	"github.com/vicinity-scheduler/vicinity/pkg/decisions/store"
	"github.com/vicinity-scheduler/vicinity/pkg/decisions/web"
	"github.com/vicinity-scheduler/vicinity/pkg/localcluster"
)

// screenshots, if set, is a folder for pictures of each view: people have to look at a page.
const screenshots = "VICINITY_SCREENSHOTS"

// patience is for a machine that does much else.
const patience = 30 * time.Second

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// access starts an API server, which knows a reader of all pods and nodes, and returns the reader's token.
func access(tb testing.TB) (a *api.Access, token string) {
	tb.Helper()
	binaries, err := localcluster.Build(tb.Context(), tb.Output())
	must(tb, err)
	cluster, err := localcluster.Start(tb.Context(), localcluster.Options{Name: "page", Binaries: binaries, Progress: tb.Output()})
	must(tb, err)
	tb.Cleanup(func() {
		if err := cluster.Stop(context.WithoutCancel(tb.Context())); err != nil {
			tb.Error(err)
		}
	})
	admin := kubernetes.NewForConfigOrDie(cluster.AdminConfig())
	ctx := tb.Context()
	_, err = admin.CoreV1().ServiceAccounts("default").Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "reader"}}, metav1.CreateOptions{})
	must(tb, err)
	_, err = admin.RbacV1().ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "reader"}, RoleRef: rbacv1.RoleRef{Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: "default", Name: "reader"}},
	}, metav1.CreateOptions{})
	must(tb, err)
	answer, err := admin.CoreV1().ServiceAccounts("default").CreateToken(ctx, "reader", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	must(tb, err)
	a, err = api.NewAccess(admin)
	must(tb, err)
	return a, answer.Status.Token
}

// reports are what agents of a cluster of some nodes would say.
type reports struct{ nodes int }

func (r reports) Delays(context.Context) (out []api.Delay, present bool, err error) {
	for a := range r.nodes {
		for b := range r.nodes {
			if a == b {
				continue
			}
			us := int64(150 + 37*((a*7+b*3)%11))
			if a%3 != b%3 {
				us = int64(1200 + 311*((a+b)%13))
			}
			out = append(out, api.Delay{From: nodeName(a), To: nodeName(b), P50Us: us, P99Us: 2 * us})
		}
	}
	return out, true, nil
}

func (r reports) Disks(context.Context) (out []api.Disk, present bool, err error) {
	for n := range r.nodes {
		total := int64(2<<30 + n<<25)
		free := total * int64(n*29%100) / 100
		out = append(out, api.Disk{
			Node: nodeName(n), Device: "nvme0n1", Total: total, TotalRead: total, TotalWrite: total / 2, Free: free, FreeRead: free, FreeWrite: free / 2, Known: n%7 != 3,
		})
	}
	return out, true, nil
}

// serve runs the page over a store of decisions on the nodes.
func serve(tb testing.TB, a *api.Access, nodes, decisions int) string {
	tb.Helper()
	s, err := store.Open(tb.Context(), filepath.Join(tb.TempDir(), "db"))
	must(tb, err)
	tb.Cleanup(func() { _ = s.Close() })
	fill(tb, s, time.Now(), nodes, decisions)
	mux := http.NewServeMux()
	must(tb, api.Register(mux, api.Options{Store: s, Access: a, Cluster: reports{min(nodes, 30)}, Clock: clock.RealClock{}}))
	must(tb, web.Register(mux))
	server := httptest.NewServer(mux)
	tb.Cleanup(server.Close)
	return server.URL
}

// browser is a Chromium with one tab, and what went wrong in it.
type browser struct {
	//nolint:containedctx // it is the tab, which chromedp keeps in a context
	tab    context.Context
	tb     testing.TB
	faults chan string
	hosts  chan string
}

func newBrowser(tb testing.TB) *browser {
	tb.Helper()
	if testing.Short() {
		tb.Skip("starts a browser and a control plane: not with -short")
	}
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		tb.Skip("no Chromium here (on Debian: apt-get install chromium)")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.WindowSize(1440, 900))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // Chromium refuses its sandbox to root; the page is our own
	}
	allocator, cancel := chromedp.NewExecAllocator(tb.Context(), options...)
	tb.Cleanup(cancel)
	ctx, cancel := chromedp.NewContext(allocator)
	tb.Cleanup(cancel)
	b := &browser{ctx, tb, make(chan string, 100), make(chan string, 10000)}
	chromedp.ListenTarget(ctx, func(event any) {
		switch e := event.(type) {
		case *cdpruntime.EventExceptionThrown:
			b.faults <- e.ExceptionDetails.Error()
		case *log.EventEntryAdded:
			if e.Entry.Level == log.LevelError {
				b.faults <- e.Entry.Text + " " + e.Entry.URL
			}
		case *network.EventRequestWillBeSent:
			b.hosts <- e.Request.URL
		}
	})
	// The browser lives as long as the context of its first actions, so these have no time limit.
	must(tb, chromedp.Run(ctx, log.Enable(), network.Enable()))
	return b
}

// do runs actions, within patience.
func (b *browser) do(actions ...chromedp.Action) {
	b.tb.Helper()
	ctx, cancel := context.WithTimeout(b.tab, patience)
	defer cancel()
	if err := chromedp.Run(ctx, actions...); err != nil {
		var page string
		_ = chromedp.Run(b.tab, chromedp.Text("body", &page, chromedp.ByQuery))
		b.tb.Fatalf("%v; the page says:\n%.2000s", err, page)
	}
}

// text is what an element says.
func (b *browser) text(selector string) string {
	b.tb.Helper()
	var out string
	b.do(chromedp.Text(selector, &out, chromedp.ByQuery))
	return out
}

// picture takes a screenshot if pictures are wanted.
func (b *browser) picture(name string) {
	b.tb.Helper()
	folder := os.Getenv(screenshots)
	if folder == "" {
		return
	}
	var image []byte
	b.do(chromedp.Sleep(700*time.Millisecond), chromedp.CaptureScreenshot(&image))
	must(b.tb, os.WriteFile(filepath.Join(folder, name+".png"), image, 0o600))
}

// settled checks that nothing went wrong, and that nobody but the service was asked for anything.
func (b *browser) settled(url string) {
	b.tb.Helper()
	for len(b.faults) > 0 {
		b.tb.Errorf("the browser reports: %s", <-b.faults)
	}
	for len(b.hosts) > 0 {
		if asked := <-b.hosts; !strings.HasPrefix(asked, url+"/") && !strings.HasPrefix(asked, "data:") {
			b.tb.Errorf("the page asked for %s", asked)
		}
	}
}

// TestIntegrationFromTheListToAnExplanation is what a reader does: sign in, filter, open, read, ask about another node.
func TestIntegrationFromTheListToAnExplanation(t *testing.T) {
	b := newBrowser(t)
	a, token := access(t)
	url := serve(t, a, 24, 3000)

	b.do(chromedp.Navigate(url), chromedp.WaitVisible("#login", chromedp.ByQuery))
	b.picture("login")
	b.do(chromedp.SendKeys("#token", token+kb.Enter, chromedp.ByQuery), chromedp.WaitVisible("tr.link", chromedp.ByQuery))
	b.picture("list")

	b.do(
		chromedp.SendKeys(`input[placeholder="Plugin"]`, "EdgeDelay", chromedp.ByQuery),
		chromedp.Poll(`[...document.querySelectorAll("tr.link")].every((row) => row.textContent.includes("EdgeDelay"))`, nil),
		chromedp.Click("tr.link a", chromedp.ByQuery), chromedp.WaitVisible("#headline", chromedp.ByQuery),
	)
	if got := b.text("#headline"); !strings.HasPrefix(got, "The pod has no node: none of 24 nodes took it.") {
		t.Errorf("the headline is %q", got)
	}
	if got := b.text(".advice"); !strings.Contains(got, "Raise the bound in label delay_") {
		t.Errorf("the advice is %q", got)
	}
	b.picture("unschedulable")

	b.do(
		chromedp.Navigate(url+"/#/decisions?outcome=Bound"), chromedp.WaitVisible("tr.link .badge.Bound", chromedp.ByQuery),
		chromedp.Click("tr.link a", chromedp.ByQuery), chromedp.WaitVisible("tr.winner", chromedp.ByQuery),
	)
	if got := b.text("#headline"); !strings.HasPrefix(got, "The pod is on node-") {
		t.Errorf("the headline is %q", got)
	}
	if got := b.text("#matrix thead"); !strings.Contains(got, "CacheAware ×10") {
		t.Errorf("the table's head is %q, want the plugins and their weights", got)
	}
	if got := b.text("#matrix tr.winner"); !strings.Contains(got, "Chosen") {
		t.Errorf("the winner's row is %q", got)
	}
	b.picture("decision")
	b.do(
		chromedp.SendKeys("#why-not-node", "node-elsewhere", chromedp.ByQuery),
		chromedp.Poll(`document.querySelector("#why-not").textContent !== ""`, nil),
	)
	if got := b.text("#why-not"); !strings.HasPrefix(got, "The record does not name node-elsewhere.") {
		t.Errorf("why not: %q", got)
	}
	b.settled(url)
}

func TestIntegrationViews(t *testing.T) {
	b := newBrowser(t)
	a, token := access(t)
	url := serve(t, a, 24, 3000)
	b.do(chromedp.Navigate(url+"/#token="+token), chromedp.WaitVisible("tr.link", chromedp.ByQuery))
	var address string
	if b.do(chromedp.Location(&address)); strings.Contains(address, "token") {
		t.Errorf("the token is still in the address: %s", address)
	}
	for _, theme := range []string{"light", "dark"} {
		b.do(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}}), chromedp.Reload())
		for view, there := range map[string]string{
			"decisions": "tr.link", "pending": ".group .size", "occupancy": "#occupancy canvas", "timeline": "#timeline canvas", "rates": ".chart canvas", "nodes": ".map canvas",
		} {
			b.do(chromedp.Evaluate(fmt.Sprintf("location.hash = %q", "#/"+view), nil), chromedp.WaitVisible(there, chromedp.ByQuery))
			b.picture(view + "-" + theme)
		}
	}
	b.do(chromedp.EmulateViewport(420, 800), chromedp.Evaluate(`location.hash = "#/decisions"`, nil), chromedp.WaitVisible("tr.link", chromedp.ByQuery))
	b.picture("narrow")
	b.settled(url)
}

// TestIntegrationKeys: the whole way without a mouse.
func TestIntegrationKeys(t *testing.T) {
	b := newBrowser(t)
	a, token := access(t)
	url := serve(t, a, 24, 500)
	b.do(chromedp.Navigate(url+"/#token="+token), chromedp.WaitVisible("tr.link", chromedp.ByQuery))
	b.do(chromedp.KeyEvent("p"), chromedp.Poll(`document.querySelector(".live").textContent === "paused"`, nil))
	b.do(chromedp.KeyEvent("j"), chromedp.KeyEvent("j"), chromedp.KeyEvent("k"), chromedp.KeyEvent("j"))
	var at int
	b.do(chromedp.Evaluate(`[...document.querySelectorAll("tr.link")].indexOf(document.activeElement)`, &at))
	if at != 1 {
		t.Errorf("the focus is on row %d, want 1", at)
	}
	b.do(chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible("#headline", chromedp.ByQuery))
	b.do(chromedp.KeyEvent(kb.Escape), chromedp.WaitVisible("tr.link", chromedp.ByQuery))
	b.do(chromedp.KeyEvent("2"), chromedp.WaitVisible(".group", chromedp.ByQuery))
	b.do(chromedp.KeyEvent("?"), chromedp.WaitVisible("#keys", chromedp.ByQuery), chromedp.KeyEvent(kb.Enter), chromedp.WaitNotVisible("#keys", chromedp.ByQuery))
	b.do(chromedp.KeyEvent("3"), chromedp.WaitVisible("#occupancy canvas", chromedp.ByQuery), chromedp.KeyEvent("/"))
	var tag string
	if b.do(chromedp.Evaluate(`document.activeElement.tagName`, &tag)); tag != "INPUT" {
		t.Errorf("after / the focus is on %s, want the filter", tag)
	}
	b.settled(url)
}

// TestIntegrationFiveThousandNodes: heat map and table of a large cluster.
func TestIntegrationFiveThousandNodes(t *testing.T) {
	b := newBrowser(t)
	a, token := access(t)
	url := serve(t, a, 5000, 20000)
	b.do(chromedp.Navigate(url+"/#token="+token), chromedp.WaitVisible("tr.link", chromedp.ByQuery))
	b.do(chromedp.Evaluate(`location.hash = "#/occupancy?span=3600"`, nil), chromedp.WaitVisible("#occupancy canvas", chromedp.ByQuery))
	b.picture("occupancy-5000")
	var height int
	b.do(chromedp.Evaluate(`document.querySelector("#occupancy canvas:not(.axis)").height`, &height))
	if height < 5000 || height > 32000 {
		t.Errorf("the heat map is %d pixels high, want at least one a node and what canvases can have", height)
	}
	b.do(chromedp.SendKeys(`input[placeholder="Node"]`, "node-499", chromedp.ByQuery), chromedp.Poll(`document.querySelector(".lead").textContent.includes("11 shown")`, nil))
	b.picture("occupancy-5000-filtered")
	b.do(chromedp.Evaluate(`location.hash = "#/decisions?pod=full"`, nil), chromedp.WaitVisible("tr.link", chromedp.ByQuery),
		chromedp.Click("tr.link a", chromedp.ByQuery), chromedp.WaitVisible("#matrix tr.winner", chromedp.ByQuery))
	b.picture("decision-5000")
	var rows int
	if b.do(chromedp.Evaluate(`document.querySelectorAll("#matrix tbody tr").length`, &rows)); rows != 200 {
		t.Errorf("the table has %d rows, want 200 of 5000", rows)
	}
	b.do(chromedp.SendKeys("#why-not-node", "node-4321", chromedp.ByQuery), chromedp.Poll(`document.querySelectorAll("#matrix tbody tr").length === 1`, nil))
	b.settled(url)
}

// TestIntegrationHostileNames: markup in names and reasons is text.
func TestIntegrationHostileNames(t *testing.T) {
	b := newBrowser(t)
	a, token := access(t)
	url := serve(t, a, 24, 500)
	b.do(chromedp.Navigate(url+"/#token="+token), chromedp.WaitVisible("tr.link", chromedp.ByQuery))
	for _, view := range []string{"decisions?pod=" + hostileQuery(), "pending", "timeline", "occupancy"} {
		b.do(chromedp.Evaluate(fmt.Sprintf("location.hash = %q", "#/"+view), nil), chromedp.WaitVisible("#main h1", chromedp.ByQuery))
	}
	b.do(chromedp.Evaluate(fmt.Sprintf("location.hash = %q", "#/decisions?pod="+hostileQuery()), nil), chromedp.WaitVisible("tr.link", chromedp.ByQuery),
		chromedp.Click("tr.link a", chromedp.ByQuery), chromedp.WaitVisible("#headline", chromedp.ByQuery))
	b.picture("hostile")
	var injected int
	b.do(chromedp.Evaluate(`document.querySelectorAll("#main img, #main script").length + (window.injected ? 1 : 0)`, &injected))
	if injected != 0 {
		t.Errorf("%d elements came from names", injected)
	}
	if got := b.text("h1"); got != hostileName {
		t.Errorf("the title is %q, want %q", got, hostileName)
	}
	b.settled(url)
}

// BenchmarkFirstPaint opens the page anew over 100,000 decisions. Budget: rows are on the screen within a second.
func BenchmarkFirstPaint(b *testing.B) {
	page := newBrowser(b)
	a, token := access(b)
	url := serve(b, a, 200, 100_000)
	page.do(chromedp.Navigate(url+"/#token="+token), chromedp.WaitVisible("tr.link", chromedp.ByQuery))
	var contentful, rows float64
	for b.Loop() {
		page.do(chromedp.Navigate("about:blank"), chromedp.Navigate(url), chromedp.WaitVisible("tr.link", chromedp.ByQuery))
		var paint, filled float64
		page.do(
			chromedp.Evaluate(`performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0`, &paint),
			chromedp.Evaluate(`performance.getEntriesByType("resource").filter((e) => e.name.includes("/decisions"))[0].responseEnd`, &filled),
		)
		contentful, rows = max(contentful, paint), max(rows, filled)
	}
	b.ReportMetric(contentful, "first-paint-ms-max")
	b.ReportMetric(rows, "rows-there-ms-max")
}
