package account

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"devplatform/shared/fault"
)

// inline matches what the policy of the pages forbids.
var inline = regexp.MustCompile(`(?i)<style|<script[^>]*>[^<]|\son[a-z]+=|\sstyle=|\saction=|https?:`)

// A page needs no session, and makes no calls to storage. It has a strict policy, and no inline scripts or styles.
func TestMailPages(t *testing.T) {
	f := newFixture(t)
	for name, mediaType := range map[string]string{
		"confirm": "text/html", "reset": "text/html", "change": "text/html", "undo": "text/html", "invitation": "text/html",
		"page.js": "text/javascript", "page.css": "text/css",
	} {
		r := f.newClient().Get("/api/auth/page/"+name).Want(t, http.StatusOK)
		if got := r.Header.Get("Content-Type"); got != mediaType+"; charset=utf-8" || r.Raw == "" || r.Calls > 0 {
			t.Errorf("%s: got %s with %d bytes after %d calls", name, got, len(r.Raw), r.Calls)
		}
		for header, want := range map[string]string{
			"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff",
		} {
			if got := r.Header.Get(header); got != want {
				t.Errorf("%s: got %s: %s, want %s", name, header, got, want)
			}
		}
		policy := r.Header.Get("Content-Security-Policy")
		if !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "frame-ancestors 'none'") ||
			strings.Contains(policy, "unsafe") {
			t.Errorf("%s: got the policy %q", name, policy)
		}
		if mediaType == "text/html" && (inline.MatchString(r.Raw) || strings.Contains(r.Raw, "CONTENT") ||
			!strings.Contains(r.Raw, "<title>") || !strings.Contains(policy, "form-action 'none'")) {
			t.Errorf("%s: got the policy %q and the page %s", name, policy, r.Raw)
		}
		if head := f.newClient().Do(http.MethodHead, "/api/auth/page/"+name, nil); head.Status != http.StatusOK {
			t.Errorf("HEAD %s: got %d", name, head.Status)
		}
	}
	for _, name := range []string{"other", "layout.html", "confirm.html", "confirm/", "..%2fpage.go"} {
		f.newClient().Get("/api/auth/page/"+name).Want(t, http.StatusNotFound, fault.Code("ROUTE_NOT_FOUND"))
	}
	f.newClient().Do(http.MethodPost, "/api/auth/page/confirm", "{}").Want(t, http.StatusMethodNotAllowed)
}
