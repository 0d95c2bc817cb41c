package httpapi_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"devplatform/shared/config"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
)

func TestWhatIsNoRoute(t *testing.T) {
	t.Parallel()
	router, _ := newRouter(edgeOf())
	for _, target := range []string{
		"/", "/api", "/api/", "/api/nothing", "/api/me/", "/api//me", "//api/me", "/api/./me", "/api/x/../me",
		"/api/%2e%2e/api/me", "/api/items//", "/api/items/", "/api/items/a/b", "/API/ME", "/api/me%2F",
		"/openapi.json", "/docs", "/schemas/Error.json",
	} {
		a := request{method: http.MethodGet, target: target}.send(t, router)
		wantError(t, a, 404, fault.CodeRouteNotFound)
		if a.header.Get("Location") != "" {
			t.Errorf("%s: redirected to %s", target, a.header.Get("Location"))
		}
	}
}

func TestMethods(t *testing.T) {
	t.Parallel()
	router, _ := newRouter(edgeOf())
	for _, tc := range []struct {
		method, target string
		status         int
		allow          string
	}{
		{http.MethodGet, "/api/signup", 405, "POST"},
		{http.MethodHead, "/api/signup", 405, "POST"},
		{http.MethodPatch, "/api/list", 405, "GET, HEAD"},
		{"PROPFIND", "/api/items/1", 405, "DELETE"},
		{http.MethodOptions, "/api/list", 204, "GET, HEAD, OPTIONS"},
		{http.MethodOptions, "/api/nothing", 404, ""},
		{http.MethodHead, "/api/list", 200, ""},
	} {
		a := request{method: tc.method, target: tc.target}.send(t, router)
		if a.status != tc.status || a.header.Get("Allow") != tc.allow {
			t.Errorf("%s %s: %d, Allow %q", tc.method, tc.target, a.status, a.header.Get("Allow"))
		}
		switch tc.status {
		case 204:
			if a.body != "" {
				t.Errorf("%s %s: a body: %s", tc.method, tc.target, a.body)
			}
		case 405:
			wantError(t, a, 405, fault.CodeMethodNotAllowed)
		}
	}
}

// TestHeadHasTheLengthOfGet goes over the wire and through a function, whose answer the gateway measures (RFC 9110 §8.6).
func TestHeadHasTheLengthOfGet(t *testing.T) {
	t.Parallel()
	router, _ := newRouter(edgeOf())
	server := httptest.NewServer(router)
	t.Cleanup(server.Close)
	for _, path := range []string{"/api/list", "/api/signup", "/api/nothing"} {
		get := request{method: http.MethodGet, target: path}.send(t, router)
		req, err := http.NewRequestWithContext(t.Context(), http.MethodHead, server.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := server.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err != nil || len(body) > 0 || res.StatusCode != get.status || res.ContentLength != int64(len(get.body)) {
			t.Errorf("%s: %d, Content-Length %d, %d bytes, %v; GET has %d and %d bytes", path, res.StatusCode, res.ContentLength, len(body), err, get.status, len(get.body))
		}
		if a, _ := invoke(t, router, event(http.MethodHead, path)); a.body != get.body {
			t.Errorf("%s: the function answers %q, and to GET %q", path, a.body, get.body)
		}
	}
}

var trusting = config.Edge{
	AppURL: "https://app.example.com", AllowedOrigins: []config.Origin{"https://tools.example.com"},
}

func TestCSRF(t *testing.T) {
	t.Parallel()
	router, _ := newRouter(trusting)
	for name, tc := range map[string]struct {
		header map[string]string
		passes bool
	}{
		"no browser":                  {nil, true},
		"the same origin":             {map[string]string{"Sec-Fetch-Site": "same-origin", "Origin": "http://example.com"}, true},
		"the same origin, old":        {map[string]string{"Origin": "http://example.com"}, true},
		"typed by the user":           {map[string]string{"Sec-Fetch-Site": "none"}, true},
		"the app":                     {map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "https://app.example.com"}, true},
		"an allowed origin":           {map[string]string{"Sec-Fetch-Site": "same-site", "Origin": "https://tools.example.com"}, true},
		"another site":                {map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"}, false},
		"another site, old":           {map[string]string{"Origin": "https://evil.example"}, false},
		"a sibling":                   {map[string]string{"Sec-Fetch-Site": "same-site", "Origin": "https://x.example.com"}, false},
		"the app without https":       {map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "http://app.example.com"}, false},
		"an origin that looks alike":  {map[string]string{"Origin": "https://app.example.com.evil.example"}, false},
		"a sandbox":                   {map[string]string{"Origin": "null"}, false},
		"a header that a page forges": {map[string]string{"Sec-Fetch-Site": "cross-site", "X-Requested-With": "XMLHttpRequest"}, false},
	} {
		r := request{method: http.MethodPost, target: "http://example.com/api/login", header: tc.header}
		a := r.send(t, router)
		if tc.passes && a.status != http.StatusOK {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
		if !tc.passes {
			wantError(t, a, 403, fault.CodeCSRFRejected)
			if a.header.Get("Set-Cookie") != "" {
				t.Errorf("%s: served all the same", name)
			}
		}
		r.method, r.target = http.MethodGet, "http://example.com/api/list"
		if a := r.send(t, router); a.status != http.StatusOK {
			t.Errorf("%s, reading: %d %s", name, a.status, a.body)
		}
	}
}

func TestCORS(t *testing.T) {
	t.Parallel()
	open, _ := newRouter(trusting)
	closed, _ := newRouter(edgeOf())
	for _, tc := range []struct {
		name    string
		router  http.Handler
		origin  string
		allowed bool
	}{
		{"the app", open, "https://app.example.com", true},
		{"an allowed origin", open, "https://tools.example.com", true},
		{"another", open, "https://evil.example", false},
		{"a sandbox", open, "null", false},
		{"anybody, where none is allowed", closed, "https://evil.example", false},
		{"a sandbox, where none is allowed", closed, "null", false},
	} {
		want, credentials := "", ""
		if tc.allowed {
			want, credentials = tc.origin, "true"
		}
		for _, r := range []request{
			{method: http.MethodGet, target: "/api/list", header: map[string]string{"Origin": tc.origin}},
			{method: http.MethodGet, target: "/api/nothing", header: map[string]string{"Origin": tc.origin}},
			{method: http.MethodOptions, target: "/api/signup", header: map[string]string{
				"Origin": tc.origin, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type",
			}},
		} {
			a := r.send(t, tc.router)
			if got := a.header.Get("Access-Control-Allow-Origin"); got != want {
				t.Errorf("%s, %s: Allow-Origin %q, want %q", tc.name, r.method, got, want)
			}
			if got := a.header.Get("Access-Control-Allow-Credentials"); got != credentials {
				t.Errorf("%s, %s: Allow-Credentials %q", tc.name, r.method, got)
			}
			if !strings.Contains(strings.Join(a.header.Values("Vary"), ","), "Origin") {
				t.Errorf("%s, %s: Vary %q", tc.name, r.method, a.header.Values("Vary"))
			}
			exposed := a.header.Get("Access-Control-Expose-Headers")
			if tc.allowed && r.method == http.MethodGet && !strings.Contains(exposed, "Ratelimit-Remaining") {
				t.Errorf("exposed: %q", exposed)
			}
			if r.method == http.MethodOptions && a.status != http.StatusNoContent {
				t.Errorf("%s: preflight %d", tc.name, a.status)
			}
		}
	}
}

func TestSessions(t *testing.T) {
	t.Parallel()
	plain := config.Edge{CookiePlainHTTP: true}
	for name, tc := range map[string]struct {
		edge   config.Edge
		target string
		cookie string
		status int
	}{
		"none":                         {edgeOf(), "https://h/api/me", "", 401},
		"good":                         {edgeOf(), "https://h/api/me", "__Host-session=good", 200},
		"among others":                 {edgeOf(), "https://h/api/me", "a=b; __Host-session=good; c=d", 200},
		"bad":                          {edgeOf(), "https://h/api/me", "__Host-session=bad", 401},
		"the store is down":            {edgeOf(), "https://h/api/me", "__Host-session=down", 503},
		"the twin over https":          {plain, "https://h/api/me", "session=good", 401},
		"the twin over http":           {plain, "http://h/api/me", "session=good", 200},
		"the twin, switched off":       {edgeOf(), "http://h/api/me", "session=good", 401},
		"both, and the real one wins":  {plain, "http://h/api/me", "session=bad; __Host-session=good", 200},
		"a planted twin does not help": {plain, "http://h/api/me", "session=good; __Host-session=bad", 401},
		"another cookie's name":        {plain, "http://h/api/me", "__host-session=good; Session=good", 401},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			router, log := newRouter(tc.edge)
			a := request{method: http.MethodGet, target: tc.target, header: map[string]string{"Cookie": tc.cookie}}.send(t, router)
			switch tc.status {
			case 401:
				wantError(t, a, 401, fault.CodeInvalidToken)
			case 503:
				wantError(t, a, 503, fault.CodeServiceUnavailable)
			default:
				if a.status != 200 || a.body != `{"email":"usr_ada","size":0}` {
					t.Errorf("%d %s", a.status, a.body)
				}
				if lines := log.lines(t); lines[0]["userId"] != "usr_ada" {
					t.Errorf("log: %v", lines)
				}
			}
		})
	}
}

const (
	setHost  = "__Host-session=good; Path=/; Expires=Fri, 20 Nov 2026 13:00:00 GMT; Max-Age=3600; HttpOnly; Secure; SameSite=Lax"
	setTwin  = "session=good; Path=/; Expires=Fri, 20 Nov 2026 13:00:00 GMT; Max-Age=3600; HttpOnly; SameSite=Lax"
	endHost  = "__Host-session=; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=0; HttpOnly; Secure; SameSite=Lax"
	endTwin  = "session=; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=0; HttpOnly; SameSite=Lax"
	newHost  = "__Host-session=fresh; Path=/; Expires=Fri, 27 Nov 2026 12:00:00 GMT; Max-Age=604800; HttpOnly; Secure; SameSite=Lax"
	newTwin  = "session=fresh; Path=/; Expires=Fri, 27 Nov 2026 12:00:00 GMT; Max-Age=604800; HttpOnly; SameSite=Lax"
	oldToken = "__Host-session=old"
)

func TestCookies(t *testing.T) {
	t.Parallel()
	plain := config.Edge{CookiePlainHTTP: true}
	for name, tc := range map[string]struct {
		edge           config.Edge
		method, target string
		cookie         string
		want           []string
	}{
		"login over https":              {plain, "POST", "https://h/api/login", "", []string{setHost}},
		"login over http":               {plain, "POST", "http://h/api/login", "", []string{setHost, setTwin}},
		"login over http, switched off": {edgeOf(), "POST", "http://h/api/login", "", []string{setHost}},
		"logout over https":             {plain, "POST", "https://h/api/logout", "", []string{endHost}},
		"logout over http":              {plain, "POST", "http://h/api/logout", "", []string{endHost, endTwin}},
		"renewal over https":            {plain, "GET", "https://h/api/me", oldToken, []string{newHost}},
		"renewal over http":             {plain, "GET", "http://h/api/me", oldToken, []string{newHost, newTwin}},
		"no renewal":                    {plain, "GET", "http://h/api/me", "__Host-session=good", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			router, _ := newRouter(tc.edge)
			a := request{method: tc.method, target: tc.target, header: map[string]string{"Cookie": tc.cookie}}.send(t, router)
			if diff := cmp.Diff(tc.want, a.header["Set-Cookie"]); diff != "" || a.status != 200 {
				t.Errorf("%d %s\n%s", a.status, a.body, diff)
			}
		})
	}
}

func TestTheLogKeepsSecretsOut(t *testing.T) {
	t.Parallel()
	router, log := newRouter(edgeOf())
	r := post(`{"email":"hunter2@example.com","password":"hunter2"}`)
	r.target += "?code=hunter2&state=hunter2"
	r.header = map[string]string{"Content-Type": "application/json", "Cookie": "__Host-session=hunter2"}
	wantError(t, r.send(t, router), 400, fault.CodeValidationFailed)
	lines := log.lines(t)
	if len(lines) != 1 {
		t.Fatalf("%d lines", len(lines))
	}
	text, err := json.Marshal(lines[0])
	if err != nil || strings.Contains(string(text), "hunter2") {
		t.Errorf("%s, %v", text, err)
	}
	for _, field := range []string{"requestId", "method", "operation", "status", "ms", "dynamodbCalls", "code"} {
		if _, ok := lines[0][field]; !ok {
			t.Errorf("no %s in %s", field, text)
		}
	}
	if lines[0]["operation"] != "POST /api/signup" {
		t.Errorf("operation %v", lines[0]["operation"])
	}
}

func TestRateKey(t *testing.T) {
	t.Parallel()
	for ip, want := range map[string]string{
		"192.0.2.7":             "192.0.2.7",
		"::ffff:192.0.2.7":      "192.0.2.7",
		"2001:db8:1:2:3:4:5:6":  "2001:db8:1:2::/64",
		"2001:DB8:1:2::":        "2001:db8:1:2::/64",
		"fe80::1%eth0":          "fe80::/64",
		"":                      "unknown",
		"192.0.2.7, 192.0.2.8":  "unknown",
		"192.0.2.7#EMAIL#x@y.z": "unknown",
	} {
		if got := httpapi.RateKey(ip); got != want {
			t.Errorf("%q: %q, want %q", ip, got, want)
		}
	}
}
