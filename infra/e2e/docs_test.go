package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"devplatform/infra/platformtest"
	"devplatform/shared/docs"
)

// docsPage is the documentation in a browser of its own.
type docsPage struct {
	t    testing.TB
	ctx  context.Context
	base string

	mu         sync.Mutex
	complaints []string // errors and warnings on the console, policy violations among them
	foreign    []string // requests to other origins
	received   float64  // bytes on the wire
}

// openDocs opens the page with something behind its address, such as "#/Accounts/login".
func openDocs(t *testing.T, chromium, base, behind string) *docsPage {
	t.Helper()
	d := &docsPage{t: t, ctx: browser(t, chromium), base: base}
	if err := chromedp.Listen(d.ctx, d.note); err != nil {
		t.Fatal(err)
	}
	if err := chromedp.Do(d.ctx, chromedp.Navigate(base+"/api/docs"+behind)); err != nil {
		t.Fatal(err)
	}
	return d
}

// note keeps what the page must not do.
func (d *docsPage) note(event any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch e := event.(type) {
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
			d.complaints = append(d.complaints, fmt.Sprintf("%s: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL))
		}
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
			for _, arg := range e.Args {
				d.complaints = append(d.complaints, fmt.Sprintf("console: %s %s", arg.Value, arg.Description))
			}
		}
	case *runtime.EventExceptionThrown:
		d.complaints = append(d.complaints, e.ExceptionDetails.Text)
	case *network.EventRequestWillBeSent:
		if at := e.Request.URL; !strings.HasPrefix(at, d.base+"/") && !strings.HasPrefix(at, "data:") {
			d.foreign = append(d.foreign, at)
		}
	case *network.EventLoadingFinished:
		d.received += e.EncodedDataLength
	}
}

// evaluate is what a script in the page says. (The browser's own waiting functions can't be used: they need eval, which the page's
// policy forbids.)
func (d *docsPage) evaluate(script string) string {
	d.t.Helper()
	said, err := chromedp.Run(d.ctx, chromedp.Evaluate[string](script))
	if err != nil {
		d.t.Fatalf("%s: %v", script, err)
	}
	return said
}

// eventually waits until a script says what it should.
func (d *docsPage) eventually(script, want string) {
	d.t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for said := d.evaluate(script); said != want; said = d.evaluate(script) {
		select {
		case <-d.ctx.Done():
			d.t.Fatalf("%s: is %q, want %q", script, said, want)
		case <-tick.C:
		}
	}
}

// press clicks what is at a selector, once it is there.
func (d *docsPage) press(selector string) {
	d.t.Helper()
	d.eventually(fmt.Sprintf(`(() => { const e = document.querySelector(%q); if (e) e.click(); return e ? "pressed" : "absent"; })()`, selector), "pressed")
}

// try executes an operation as a reader does, with a body if it is not "", and answers with what the page shows of its response.
func (d *docsPage) try(operation, body string) (status, response string) {
	d.t.Helper()
	block := `.opblock[id$="-` + operation + `"] `
	d.press(block + ".opblock-summary-control")
	d.press(block + ".try-out__btn")
	if body != "" { // through the setter of the element's class: React hides it behind one of its own
		d.eventually(fmt.Sprintf(`(() => {
			const area = document.querySelector(%q);
			if (!area) return "absent";
			Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value").set.call(area, %q);
			area.dispatchEvent(new Event("input", {bubbles: true}));
			return area.value;
		})()`, block+"textarea.body-param__text", body), body)
	}
	d.press(block + ".execute")
	shown := block + ".live-responses-table tr.response "
	d.eventually(fmt.Sprintf(`document.querySelector(%q) ? "shown" : "waiting"`, shown+".response-col_status"), "shown")
	return d.evaluate(fmt.Sprintf(`document.querySelector(%q).firstChild.textContent.trim()`, shown+".response-col_status")),
		d.evaluate(fmt.Sprintf(`document.querySelector(%q).textContent`, shown+".response-col_description"))
}

// well fails the test if the page did what it must not.
func (d *docsPage) well() {
	d.t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.complaints) > 0 {
		d.t.Errorf("the browser complains:\n%s", strings.Join(d.complaints, "\n"))
	}
	if len(d.foreign) > 0 {
		d.t.Errorf("requests left the origin: %v", d.foreign)
	}
}

// operationIDs are those of the document, by "GET /path", and those of what it sends, by "POST file.created".
func operationIDs(t testing.TB) map[string]string {
	t.Helper()
	var document struct {
		Paths, Webhooks map[string]map[string]struct{ OperationID string }
	}
	if err := json.Unmarshal(docs.OpenAPI, &document); err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	maps.Copy(document.Paths, document.Webhooks) // no path begins like an event's type
	for path, operations := range document.Paths {
		for method, operation := range operations {
			all[strings.ToUpper(method)+" "+path] = operation.OperationID
		}
	}
	return all
}

// shown are the ids of the operations that a selector finds, in their order: the page's own names for them have the tag before it.
func shown(selector string) string {
	return fmt.Sprintf(`[...document.querySelectorAll(%q)].map(e => e.id.replace(/^operations-[^-]*-/, "")).sort().join(" ")`, selector)
}

// behindStage is the service as API Gateway's own address has it, with a stage before every path, and as something in front of it
// might change that: the function knows nothing of this stage, and names a server that does not have it.
func behindStage(t testing.TB, to string) string {
	t.Helper()
	target, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.StripPrefix("/prod", httputil.NewSingleHostReverseProxy(target)))
	t.Cleanup(server.Close)
	return server.URL + "/prod"
}

// TestDocsPage reads the documentation in a real browser: on plain http, on https and behind a stage, every operation is there, and what
// is tried is done by the service that the page came from, with the session of the page's own login. Nothing comes from or goes to
// elsewhere, and the page keeps its own policy.
func TestDocsPage(t *testing.T) {
	t.Parallel()
	chromium := platformtest.Required(t, "chromium")
	p := platformtest.Start(t)
	ids := operationIDs(t)
	want := strings.Join(slices.Sorted(maps.Values(ids)), " ")
	for name, base := range map[string]string{"plain": p.URL, "secure": p.HTTPS, "stage": behindStage(t, p.URL)} {
		t.Run(name, func(t *testing.T) {
			d := openDocs(t, chromium, base, "")
			d.eventually(shown(".opblock"), want)
			if size := d.size(); size > 600_000 {
				t.Errorf("%.0f bytes for a page", size)
			}
			if server := d.evaluate(`document.querySelector(".servers select").value`); server != base {
				t.Errorf("requests go to %q", server)
			}
			marked := strings.Fields(d.evaluate(shown(".opblock:has(.needs-session)")))
			if !slices.Contains(marked, ids["GET /api/auth/me"]) || slices.Contains(marked, ids["POST /api/auth/login"]) {
				t.Errorf("marked as in need of a session: %v", marked)
			}
			for _, step := range []struct{ operation, body, status, holds string }{
				{"POST /api/auth/signup", `{"email":"docs-` + name + `@example.com","username":"docs-` + name + `","password":"correct horse battery"}`, "201", `"success": true`},
				{"POST /api/auth/login", `{"email":"docs-` + name + `@example.com","password":"correct horse battery"}`, "200", `"userId": "usr_`},
				{"GET /api/auth/me", "", "200", `"username": "docs-` + name + `"`},
				{"POST /api/projects", `{"name":"From the page"}`, "201", `"slug": "from-the-page"`},
				{"POST /api/auth/logout", "", "200", `"success": true`},
			} {
				if status, response := d.try(ids[step.operation], step.body); status != step.status || !strings.Contains(response, step.holds) {
					t.Fatalf("%s: %s %s, want %s %s", step.operation, status, response, step.status, step.holds)
				}
			}
			d.well()
		})
	}
}

// size is how many bytes the page has received.
func (d *docsPage) size() float64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.received
}

// TestDocsLinks opens the page at an operation, by the address that the page itself gives it.
func TestDocsLinks(t *testing.T) {
	t.Parallel()
	chromium := platformtest.Required(t, "chromium")
	p := platformtest.Start(t)
	me := operationIDs(t)["GET /api/auth/me"]
	d := openDocs(t, chromium, p.URL, "/") // whose slash the page loses
	d.press(`.opblock[id$="-` + me + `"] .opblock-summary-control`)
	d.eventually(`location.pathname`, "/api/docs")
	d.eventually(`location.hash.split("/").pop()`, me)
	linked := openDocs(t, chromium, p.URL, d.evaluate(`location.hash`))
	linked.eventually(shown(".opblock.is-open"), me)
	d.well()
	linked.well()
}
