package httpapi_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/edgetest"
	"devplatform/shared/config"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
)

func TestUnknownRoutes(t *testing.T) {
	t.Parallel()
	router, _ := edgetest.NewRouter(config.Edge{})
	for _, target := range []string{
		"/", "/api", "/api/", "/api/nothing", "/api/me/", "/api//me", "//api/me", "/api/./me", "/api/x/../me",
		"/api/%2e%2e/api/me", "/api/items//", "/api/items/", "/api/items/a/b", "/API/ME", "/api/me%2F",
		"/openapi.json", "/docs", "/schemas/Error.json",
	} {
		a := edgetest.Request{Method: http.MethodGet, Target: target}.Send(t, router)
		edgetest.WantError(t, a, 404, fault.CodeRouteNotFound)
		if a.Header.Get("Location") != "" {
			t.Errorf("%s: redirected to %s", target, a.Header.Get("Location"))
		}
	}
}

func TestMethods(t *testing.T) {
	t.Parallel()
	router, _ := edgetest.NewRouter(config.Edge{})
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
		a := edgetest.Request{Method: tc.method, Target: tc.target}.Send(t, router)
		if a.Status != tc.status || a.Header.Get("Allow") != tc.allow {
			t.Errorf("%s %s: %d, Allow %q", tc.method, tc.target, a.Status, a.Header.Get("Allow"))
		}
		switch tc.status {
		case 204:
			if a.Body != "" {
				t.Errorf("%s %s: a body: %s", tc.method, tc.target, a.Body)
			}
		case 405:
			edgetest.WantError(t, a, 405, fault.CodeMethodNotAllowed)
		}
	}
}

// The response to HEAD has the Content-Length of the response to GET (RFC 9110 §8.6), both from an HTTP server and from
// a function, for which the gateway determines the length.
func TestHeadContentLength(t *testing.T) {
	t.Parallel()
	router, _ := edgetest.NewRouter(config.Edge{})
	server := httptest.NewServer(router)
	t.Cleanup(server.Close)
	for _, path := range []string{"/api/list", "/api/signup", "/api/nothing"} {
		get := edgetest.Request{Method: http.MethodGet, Target: path}.Send(t, router)
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
		if err != nil || len(body) > 0 || res.StatusCode != get.Status || res.ContentLength != int64(len(get.Body)) {
			t.Errorf("%s: %d, Content-Length %d, %d bytes, %v; GET has %d and %d bytes", path, res.StatusCode, res.ContentLength, len(body), err, get.Status, len(get.Body))
		}
		if a, _ := edgetest.Invoke(t, router, edgetest.Event(http.MethodHead, path)); a.Body != get.Body {
			t.Errorf("%s: the function's response has the body %q, that to GET has %q", path, a.Body, get.Body)
		}
	}
}

func TestCSRF(t *testing.T) {
	t.Parallel()
	router, _ := edgetest.NewRouter(edgetest.EdgeConfig)
	for name, tc := range map[string]struct {
		header map[string]string
		passes bool
	}{
		"not a browser":                {nil, true},
		"the same origin":              {map[string]string{"Sec-Fetch-Site": "same-origin", "Origin": "http://example.com"}, true},
		"the same origin, old":         {map[string]string{"Origin": "http://example.com"}, true},
		"typed by the user":            {map[string]string{"Sec-Fetch-Site": "none"}, true},
		"the app":                      {map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "https://app.example.com"}, true},
		"an allowed origin":            {map[string]string{"Sec-Fetch-Site": "same-site", "Origin": "https://tools.example.com"}, true},
		"another site":                 {map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"}, false},
		"another site, old":            {map[string]string{"Origin": "https://evil.example"}, false},
		"a sibling":                    {map[string]string{"Sec-Fetch-Site": "same-site", "Origin": "https://x.example.com"}, false},
		"the app without https":        {map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "http://app.example.com"}, false},
		"an origin that looks alike":   {map[string]string{"Origin": "https://app.example.com.evil.example"}, false},
		"a sandbox":                    {map[string]string{"Origin": "null"}, false},
		"a header that a page can set": {map[string]string{"Sec-Fetch-Site": "cross-site", "X-Requested-With": "XMLHttpRequest"}, false},
	} {
		r := edgetest.Request{Method: http.MethodPost, Target: "http://example.com/api/login", Header: tc.header}
		a := r.Send(t, router)
		if tc.passes && a.Status != http.StatusOK {
			t.Errorf("%s: %d %s", name, a.Status, a.Body)
		}
		if !tc.passes {
			edgetest.WantError(t, a, 403, fault.CodeCSRFRejected)
			if a.Header.Get("Set-Cookie") != "" {
				t.Errorf("%s: the rejected request was served", name)
			}
		}
		r.Method, r.Target = http.MethodGet, "http://example.com/api/list"
		if a := r.Send(t, router); a.Status != http.StatusOK {
			t.Errorf("%s, reading: %d %s", name, a.Status, a.Body)
		}
	}
}

func TestCORS(t *testing.T) {
	t.Parallel()
	open, _ := edgetest.NewRouter(edgetest.EdgeConfig)
	closed, _ := edgetest.NewRouter(config.Edge{})
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
		{"another site, no origin allowed", closed, "https://evil.example", false},
		{"a sandbox, no origin allowed", closed, "null", false},
	} {
		want, credentials := "", ""
		if tc.allowed {
			want, credentials = tc.origin, "true"
		}
		for _, r := range []edgetest.Request{
			{Method: http.MethodGet, Target: "/api/list", Header: map[string]string{"Origin": tc.origin}},
			{Method: http.MethodGet, Target: "/api/nothing", Header: map[string]string{"Origin": tc.origin}},
			{Method: http.MethodOptions, Target: "/api/signup", Header: map[string]string{
				"Origin": tc.origin, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type",
			}},
		} {
			a := r.Send(t, tc.router)
			if got := a.Header.Get("Access-Control-Allow-Origin"); got != want {
				t.Errorf("%s, %s: Allow-Origin %q, want %q", tc.name, r.Method, got, want)
			}
			if got := a.Header.Get("Access-Control-Allow-Credentials"); got != credentials {
				t.Errorf("%s, %s: Allow-Credentials %q", tc.name, r.Method, got)
			}
			if !strings.Contains(strings.Join(a.Header.Values("Vary"), ","), "Origin") {
				t.Errorf("%s, %s: Vary %q", tc.name, r.Method, a.Header.Values("Vary"))
			}
			exposed := a.Header.Get("Access-Control-Expose-Headers")
			if tc.allowed && r.Method == http.MethodGet && !strings.Contains(exposed, "Ratelimit-Remaining") {
				t.Errorf("exposed: %q", exposed)
			}
			if r.Method == http.MethodOptions && a.Status != http.StatusNoContent {
				t.Errorf("%s: preflight %d", tc.name, a.Status)
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
		"none":                          {config.Edge{}, "https://h/api/me", "", 401},
		"good":                          {config.Edge{}, "https://h/api/me", "__Host-session=good", 200},
		"among others":                  {config.Edge{}, "https://h/api/me", "a=b; __Host-session=good; c=d", 200},
		"bad":                           {config.Edge{}, "https://h/api/me", "__Host-session=bad", 401},
		"the store is down":             {config.Edge{}, "https://h/api/me", "__Host-session=down", 503},
		"the plain cookie over https":   {plain, "https://h/api/me", "session=good", 401},
		"the plain cookie over http":    {plain, "http://h/api/me", "session=good", 200},
		"the plain cookie, disabled":    {config.Edge{}, "http://h/api/me", "session=good", 401},
		"both cookies":                  {plain, "http://h/api/me", "session=bad; __Host-session=good", 200},
		"both cookies, plain one valid": {plain, "http://h/api/me", "session=good; __Host-session=bad", 401},
		"names in another case":         {plain, "http://h/api/me", "__host-session=good; Session=good", 401},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			router, log := edgetest.NewRouter(tc.edge)
			a := edgetest.Request{Method: http.MethodGet, Target: tc.target, Header: map[string]string{"Cookie": tc.cookie}}.Send(t, router)
			switch tc.status {
			case 401:
				edgetest.WantError(t, a, 401, fault.CodeInvalidToken)
			case 503:
				edgetest.WantError(t, a, 503, fault.CodeServiceUnavailable)
			default:
				if a.Status != 200 || a.Body != `{"email":"usr_ada","size":0}` {
					t.Errorf("%d %s", a.Status, a.Body)
				}
				if lines := log.Lines(t); lines[0]["userId"] != "usr_ada" {
					t.Errorf("log: %v", lines)
				}
			}
		})
	}
}

const (
	endHost  = "__Host-session=; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=0; HttpOnly; Secure; SameSite=Lax"
	endPlain = "session=; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=0; HttpOnly; SameSite=Lax"
	newHost  = "__Host-session=fresh; Path=/; Expires=Fri, 27 Nov 2026 12:00:00 GMT; Max-Age=604800; HttpOnly; Secure; SameSite=Lax"
	newPlain = "session=fresh; Path=/; Expires=Fri, 27 Nov 2026 12:00:00 GMT; Max-Age=604800; HttpOnly; SameSite=Lax"
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
		"login over https":          {plain, "POST", "https://h/api/login", "", []string{edgetest.SetSecure}},
		"login over http":           {plain, "POST", "http://h/api/login", "", []string{edgetest.SetSecure, edgetest.SetPlain}},
		"login over http, disabled": {config.Edge{}, "POST", "http://h/api/login", "", []string{edgetest.SetSecure}},
		"logout over https":         {plain, "POST", "https://h/api/logout", "", []string{endHost}},
		"logout over http":          {plain, "POST", "http://h/api/logout", "", []string{endHost, endPlain}},
		"renewal over https":        {plain, "GET", "https://h/api/me", oldToken, []string{newHost}},
		"renewal over http":         {plain, "GET", "http://h/api/me", oldToken, []string{newHost, newPlain}},
		"no renewal":                {plain, "GET", "http://h/api/me", "__Host-session=good", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			router, _ := edgetest.NewRouter(tc.edge)
			a := edgetest.Request{Method: tc.method, Target: tc.target, Header: map[string]string{"Cookie": tc.cookie}}.Send(t, router)
			if diff := cmp.Diff(tc.want, a.Header["Set-Cookie"]); diff != "" || a.Status != 200 {
				t.Errorf("%d %s\n%s", a.Status, a.Body, diff)
			}
		})
	}
}

func TestLogContainsNoSecrets(t *testing.T) {
	t.Parallel()
	router, log := edgetest.NewRouter(config.Edge{})
	r := post(`{"email":"hunter2@example.com","password":"hunter2"}`)
	r.Target += "?code=hunter2&state=hunter2"
	r.Header = map[string]string{"Content-Type": "application/json", "Cookie": "__Host-session=hunter2"}
	edgetest.WantError(t, r.Send(t, router), 400, fault.CodeValidationFailed)
	lines := log.Lines(t)
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
