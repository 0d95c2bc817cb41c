package e2e

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	"devplatform/infra/platformtest"
	"devplatform/shared/account/page"
	"devplatform/shared/clock"
	"devplatform/shared/httpapi"
)

// mailPage is a page of a link in a mail, in a browser.
type mailPage struct {
	docsPage
}

// openMailPage starts a browser that records the problems of the pages that it opens.
func openMailPage(t *testing.T, chromium, base string) *mailPage {
	t.Helper()
	p := &mailPage{docsPage{t: t, ctx: browser(t, chromium), base: base}}
	if err := chromedp.Listen(p.ctx, p.record); err != nil {
		t.Fatal(err)
	}
	return p
}

// open opens a link. The page then has no token in its address.
func (p *mailPage) open(link string) {
	p.t.Helper()
	if err := chromedp.Do(p.ctx, chromedp.Navigate("about:blank"), chromedp.Navigate(link)); err != nil {
		p.t.Fatal(err)
	}
	p.eventually(`location.href`, strings.SplitN(link, "#", 2)[0])
}

// press clicks the visible button with a text.
func (p *mailPage) press(text string) {
	p.t.Helper()
	p.eventually(fmt.Sprintf(`(() => {
		const b = [...document.querySelectorAll("button")].find(b => b.textContent === %q && b.checkVisibility() && !b.disabled);
		b?.click();
		return b ? "clicked" : "absent";
	})()`, text), "clicked")
}

// fill types a text into the field with a label.
func (p *mailPage) fill(label, text string) {
	p.t.Helper()
	p.eventually(fmt.Sprintf(`(() => {
		const l = [...document.querySelectorAll("label")].find(l => l.textContent === %q);
		if (!l) return "absent";
		l.control.value = %q;
		l.control.dispatchEvent(new Event("input", { bubbles: true }));
		return "filled";
	})()`, label, text), "filled")
}

// wantStatus waits for the message of the page.
func (p *mailPage) wantStatus(want string) {
	p.t.Helper()
	p.eventually(`document.querySelector("#status").textContent`, want)
}

// buttons returns the texts of the visible buttons, separated by commas.
const buttons = `[...document.querySelectorAll("button")].filter(b => b.checkVisibility()).map(b => b.textContent).join()`

// stubs records requests to the endpoints of mails, and responds to them.
type stubs struct {
	mu       sync.Mutex
	received []string // method, path and body
	response string   // status and body of the next responses
}

func (s *stubs) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.received = append(s.received, r.Method+" "+r.URL.Path+" "+string(body))
	var status int
	_, _ = fmt.Sscan(s.response, &status)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, s.response[4:])
}

// set sets the response, and returns the requests since the last call.
func (s *stubs) set(response string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	received := s.received
	s.received, s.response = nil, response
	return received
}

// TestMailPagesInBrowser opens the pages of links in Chromium, with stubs of the endpoints. Only a click sends the
// token.
func TestMailPagesInBrowser(t *testing.T) {
	t.Parallel()
	chromium := platformtest.Required(t, "chromium")
	endpoints := &stubs{}
	mux := http.NewServeMux()
	mux.Handle("/prod/api/", http.StripPrefix("/prod", endpoints))
	mux.HandleFunc("/prod/api/docs/icon.svg", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "image/svg+xml")
		_, _ = io.WriteString(w, `<svg xmlns="http://www.w3.org/2000/svg"/>`)
	})
	pages := httpapi.NewRouter(httpapi.Config{Logger: slog.New(slog.DiscardHandler), Clock: clock.System},
		func(r *httpapi.Routes) { page.Register(r, httpapi.Tag{Name: "Pages"}) })
	mux.Handle("/prod/api/auth/page/", http.StripPrefix("/prod", pages))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	p := openMailPage(t, chromium, server.URL)
	at := server.URL + "/prod/api/auth/page/"
	const done = `200 {"success":true,"message":"All is well."}`

	for _, tc := range []struct{ page, buttons, press, want string }{
		{"confirm", "Confirm,This was not me", "Confirm", `email/confirm {"token":"a_-b"}`},
		{"confirm", "Confirm,This was not me", "This was not me", `email/confirm {"token":"a_-b","reject":true}`},
		{"change", "Change the address,Do not change it", "Change the address", `email/change {"token":"a_-b"}`},
		{"change", "Change the address,Do not change it", "Do not change it", `email/change {"token":"a_-b","reject":true}`},
		{"undo", "Restore the address", "Restore the address", `email/undo {"token":"a_-b"}`},
	} {
		endpoints.set(done)
		p.open(at + tc.page + "#token=a_-b")
		p.eventually(buttons, tc.buttons)
		p.eventually(`document.activeElement.id + document.querySelector("#status").textContent`, "")
		if received := endpoints.set(done); len(received) > 0 {
			t.Errorf("%s: got the requests %v before a click", tc.page, received)
		}
		p.press(tc.press)
		p.wantStatus("All is well.")
		p.eventually(buttons, "")
		if received := endpoints.set(done); !slices.Equal(received, []string{"POST /api/auth/" + tc.want}) {
			t.Errorf("%s: got the requests %q, want %s", tc.page, received, tc.want)
		}
	}

	p.open(at + "reset#token=t")
	p.fill("New password", "correct horse")
	p.fill("New password again", "correct hors")
	p.press("Set the password")
	p.eventually(`document.querySelector("#repeated").validationMessage`, "The two passwords differ.")
	p.fill("New password again", "correct horse")
	p.press("Set the password")
	p.wantStatus("All is well.")
	want := []string{`POST /api/auth/password/reset {"token":"t","password":"correct horse"}`}
	if received := endpoints.set(done); !slices.Equal(received, want) {
		t.Errorf("got the requests %q, want %q", received, want)
	}

	p.open(at + "confirm")
	p.wantStatus("The link is not complete. Open the link in the mail again, or copy all of it.")
	p.eventually(buttons, "")
	p.checkProblems()

	// The browser reports error responses in its console, so the problems are checked before.
	endpoints.set(`400 {"error":"The <b>link</b> has expired.","code":"AUTH_CODE_INVALID"}`)
	p.open(at + "undo#token=t")
	p.press("Restore the address")
	p.wantStatus("The <b>link</b> has expired.")
	endpoints.set(`502 <html>`)
	p.press("Restore the address")
	p.wantStatus("The service did not respond. Check your connection, and try again.")
	endpoints.set(done)
	p.press("Restore the address")
	p.wantStatus("All is well.")

	endpoints.set(`401 {"error":"No session.","code":"AUTH_INVALID_TOKEN"}`)
	p.open(at + "invitation#token=i")
	p.press("Show the invitation")
	p.wantStatus("Log in to the service in another tab of this browser first. Then press the button again.")
	endpoints.set(`200 {"workspace":{"name":"<i>Team"},"invitedBy":{"username":"grace"},"role":"member"}`)
	p.press("Show the invitation")
	p.eventually(`[...document.querySelectorAll("dd")].map(d => d.textContent).join()`, "<i>Team,grace,member")
	p.eventually(buttons, "Accept")
	endpoints.set(`200 {"userId":"usr_1"}`)
	p.press("Accept")
	p.wantStatus("You are now a member of the workspace.")
	want = []string{`POST /api/invitations/accept {"token":"i"}`}
	if received := endpoints.set(done); !slices.Equal(received, want) {
		t.Errorf("got the requests %q, want %q", received, want)
	}
}
