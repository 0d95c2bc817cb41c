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
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"devplatform/infra/platformtest"
	"devplatform/infra/testmode"
	"devplatform/shared/docs"
)

// docsPage is the documentation page in a browser.
type docsPage struct {
	t    testing.TB
	ctx  context.Context
	base string

	console

	crossOrigin []string // requests to other origins
	received    float64  // bytes, as transferred
}

// openDocs opens the page. suffix is appended to its URL, such as "#/Accounts/login".
func openDocs(t *testing.T, chromium, base, suffix string) *docsPage {
	t.Helper()
	d := &docsPage{t: t, ctx: browser(t, chromium), base: base}
	if err := chromedp.Listen(d.ctx, d.record); err != nil {
		t.Fatal(err)
	}
	if err := chromedp.Do(d.ctx, chromedp.Navigate(base+"/api/docs"+suffix)); err != nil {
		t.Fatal(err)
	}
	return d
}

// record records the problems, the requests and the size of the page from the browser's events.
func (d *docsPage) record(event any) {
	d.console.record(event)
	d.mu.Lock()
	defer d.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if to := e.Request.URL; !strings.HasPrefix(to, d.base+"/") && !strings.HasPrefix(to, "data:") {
			d.crossOrigin = append(d.crossOrigin, to)
		}
	case *network.EventLoadingFinished:
		d.received += e.EncodedDataLength
	}
}

// evaluate runs a script in the page and returns its result. The waiting functions of chromedp cannot be used: they
// need eval, which the page's security policy forbids.
func (d *docsPage) evaluate(script string) string {
	d.t.Helper()
	result, err := chromedp.Run(d.ctx, chromedp.Evaluate[string](script))
	if err != nil {
		d.t.Fatalf("%s: %v", script, err)
	}
	return result
}

// eventually waits until the result of a script is want.
func (d *docsPage) eventually(script, want string) {
	d.t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for got := d.evaluate(script); got != want; got = d.evaluate(script) {
		select {
		case <-d.ctx.Done():
			d.t.Fatalf("%s: got %q, want %q", script, got, want)
		case <-tick.C:
		}
	}
}

// click waits until an element exists and clicks it.
func (d *docsPage) click(selector string) {
	d.t.Helper()
	d.eventually(fmt.Sprintf(`(() => {
		const e = document.querySelector(%q);
		if (e) e.click();
		return e ? "clicked" : "absent";
	})()`, selector), "clicked")
}

// try executes an operation with the buttons of the page, and returns the response that the page shows. If body is not
// "", it replaces the example body.
func (d *docsPage) try(operation, body string) (status, response string) {
	d.t.Helper()
	block := `.opblock[id$="-` + operation + `"] `
	d.click(block + ".opblock-summary-control")
	d.click(block + ".try-out__btn")
	if body != "" { // with the setter of the class, because React replaces the setter of the element
		d.eventually(fmt.Sprintf(`(() => {
			const area = document.querySelector(%q);
			if (!area) return "absent";
			Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value").set.call(area, %q);
			area.dispatchEvent(new Event("input", {bubbles: true}));
			return area.value;
		})()`, block+"textarea.body-param__text", body), body)
	}
	d.click(block + ".execute")
	shown := block + ".live-responses-table tr.response "
	d.eventually(fmt.Sprintf(`document.querySelector(%q) ? "shown" : "waiting"`, shown+".response-col_status"), "shown")
	return d.evaluate(fmt.Sprintf(`document.querySelector(%q).firstChild.textContent.trim()`, shown+".response-col_status")),
		d.evaluate(fmt.Sprintf(`document.querySelector(%q).textContent`, shown+".response-col_description"))
}

// checkProblems checks that the browser reported no problems and that no request was sent to another origin.
func (d *docsPage) checkProblems() {
	d.t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.problems) > 0 {
		d.t.Errorf("the browser reported problems:\n%s", strings.Join(d.problems, "\n"))
	}
	if len(d.crossOrigin) > 0 {
		d.t.Errorf("the page sent requests to other origins: %v", d.crossOrigin)
	}
}

// operationIDs returns the IDs of the operations by "GET /path", and the IDs of the webhooks by "POST file.created".
func operationIDs(t testing.TB) map[string]string {
	t.Helper()
	var document struct {
		Paths, Webhooks map[string]map[string]struct{ OperationID string }
	}
	if err := json.Unmarshal(docs.OpenAPI, &document); err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	maps.Copy(document.Paths, document.Webhooks) // paths begin with a slash, types of events do not
	for path, operations := range document.Paths {
		for method, operation := range operations {
			all[strings.ToUpper(method)+" "+path] = operation.OperationID
		}
	}
	return all
}

// operationsAt returns a script that returns the IDs of the operations that a selector finds, sorted. The IDs of the
// elements in the page have the tag of the operation before its ID.
func operationsAt(selector string) string {
	return fmt.Sprintf(`[...document.querySelectorAll(%q)].
		map(e => e.id.replace(/^operations-[^-]*-/, "")).sort().join(" ")`, selector)
}

// withStage starts a proxy and returns its URL, which has a stage before every path, as the URLs of API Gateway do. The
// function does not know the stage, so the server URL that it writes into the document does not contain it.
func withStage(t testing.TB, endpoint string) string {
	t.Helper()
	target, err := url.Parse(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.StripPrefix("/prod", httputil.NewSingleHostReverseProxy(target)))
	t.Cleanup(server.Close)
	return server.URL + "/prod"
}

// TestDocsPage opens the documentation in Chromium: over http, over https and with a stage. The page shows every
// operation. "Try it out" sends requests to the origin of the page, and over https also with the session of a login in
// the page. There are no requests to other origins and no violations of the security policy.
func TestDocsPage(t *testing.T) {
	t.Parallel()
	chromium := platformtest.Required(t, "chromium")
	p := platformtest.Start(t)
	ids := operationIDs(t)
	want := strings.Join(slices.Sorted(maps.Values(ids)), " ")
	for name, base := range map[string]string{"http": p.URL, "https": p.HTTPS, "stage": withStage(t, p.URL)} {
		t.Run(name, func(t *testing.T) {
			if name != "https" {
				testmode.SkipIfNotNightly(t)
			}
			d := openDocs(t, chromium, base, "")
			d.eventually(operationsAt(".opblock"), want)
			if size := d.size(); size > 600_000 {
				t.Errorf("the page has %.0f bytes, want at most 600,000", size)
			}
			if server := d.evaluate(`document.querySelector(".servers select").value`); server != base {
				t.Errorf("got server %q, want %q", server, base)
			}
			marked := strings.Fields(d.evaluate(operationsAt(".opblock:has(.needs-session)")))
			if !slices.Contains(marked, ids["GET /api/auth/me"]) || slices.Contains(marked, ids["POST /api/auth/login"]) {
				t.Errorf("operations that need a session: got %v, want GET /api/auth/me but not the login", marked)
			}
			email, username := `"email":"docs-`+name+`@example.com"`, `"username":"docs-`+name+`"`
			const password = `"password":"correct horse battery"`
			steps := []struct{ operation, body, status, response string }{
				{"POST /api/auth/signup", `{` + email + `,` + username + `,` + password + `}`, "201", `"success": true`},
				{"POST /api/auth/login", `{` + email + `,` + password + `}`, "200", `"userId": "usr_`},
				{"GET /api/auth/me", "", "200", `"username": "docs-` + name + `"`},
				{"POST /api/projects", `{"name":"From the page"}`, "201", `"slug": "from-the-page"`},
				{"POST /api/auth/logout", "", "200", `"success": true`},
			}
			if name != "https" {
				steps = steps[:1]
			}
			for _, step := range steps {
				status, response := d.try(ids[step.operation], step.body)
				if status != step.status || !strings.Contains(response, step.response) {
					t.Fatalf("%s: got status %s with response %s, want %s with %s",
						step.operation, status, response, step.status, step.response)
				}
			}
			d.checkProblems()
		})
	}
}

// size returns the number of bytes that the page received.
func (d *docsPage) size() float64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.received
}

// TestDocsLinks opens the page with the link of an operation. The page shows the details of that operation.
func TestDocsLinks(t *testing.T) {
	t.Parallel()
	testmode.SkipIfNotNightly(t)
	chromium := platformtest.Required(t, "chromium")
	p := platformtest.Start(t)
	me := operationIDs(t)["GET /api/auth/me"]
	d := openDocs(t, chromium, p.URL, "/") // the page removes the slash
	d.click(`.opblock[id$="-` + me + `"] .opblock-summary-control`)
	d.eventually(`location.pathname`, "/api/docs")
	d.eventually(`location.hash.split("/").pop()`, me)
	linked := openDocs(t, chromium, p.URL, d.evaluate(`location.hash`))
	linked.eventually(operationsAt(".opblock.is-open"), me)
	d.checkProblems()
	linked.checkProblems()
}
