package httpapi_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"devplatform/infra/edgetest"
	"devplatform/shared/config"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
)

func TestUnknownRoutes(t *testing.T) {
	t.Parallel()
	router, _ := edgetest.NewRouter(config.Edge{})
	for _, target := range []string{
		"/", "/api", "/api/", "/api/unknown", "/api/me/", "/api//me", "//api/me", "/api/./me", "/api/x/../me",
		"/api/%2e%2e/api/me", "/api/items//", "/api/items/", "/api/items/a/b", "/API/ME", "/api/me%2F",
		"/openapi.json", "/docs", "/schemas/Error.json",
	} {
		response := edgetest.Request{Method: http.MethodGet, Target: target}.Send(t, router)
		edgetest.WantError(t, response, 404, fault.CodeRouteNotFound)
		if response.Header.Get("Location") != "" {
			t.Errorf("%s: the response redirects to %s", target, response.Header.Get("Location"))
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
		{http.MethodOptions, "/api/unknown", 404, ""},
		{http.MethodHead, "/api/list", 200, ""},
	} {
		response := edgetest.Request{Method: tc.method, Target: tc.target}.Send(t, router)
		if response.Status != tc.status || response.Header.Get("Allow") != tc.allow {
			t.Errorf("%s %s: got %d with Allow %q, want %d with %q",
				tc.method, tc.target, response.Status, response.Header.Get("Allow"), tc.status, tc.allow)
		}
		switch tc.status {
		case 204:
			if response.Body != "" {
				t.Errorf("%s %s: got the body %s, want no body", tc.method, tc.target, response.Body)
			}
		case 405:
			edgetest.WantError(t, response, 405, fault.CodeMethodNotAllowed)
		}
	}
}

// TestHeadContentLength checks that the response to HEAD has the Content-Length of the response to GET (RFC 9110 §8.6).
// A function returns the same body for both, because the gateway computes the length.
func TestHeadContentLength(t *testing.T) {
	t.Parallel()
	router, _ := edgetest.NewRouter(config.Edge{})
	server := httptest.NewServer(router)
	t.Cleanup(server.Close)
	for _, path := range []string{"/api/list", "/api/signup", "/api/unknown"} {
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
		if err != nil || len(body) > 0 {
			t.Errorf("HEAD %s: got a body of %d bytes and the error %v, want no body", path, len(body), err)
		}
		if res.StatusCode != get.Status || res.ContentLength != int64(len(get.Body)) {
			t.Errorf("HEAD %s: got %d with Content-Length %d, want %d with %d as for GET",
				path, res.StatusCode, res.ContentLength, get.Status, len(get.Body))
		}
		head, _ := edgetest.Invoke(t, router, edgetest.Event(http.MethodHead, path))
		if head.Body != get.Body {
			t.Errorf("HEAD %s: the function returned the body %q, want %q as for GET", path, head.Body, get.Body)
		}
	}
}

func TestCSRF(t *testing.T) {
	t.Parallel()
	router, _ := edgetest.NewRouter(edgetest.EdgeConfig)
	for name, tc := range map[string]struct {
		header  map[string]string
		allowed bool
	}{
		"no browser headers": {allowed: true},
		"same origin": {
			header:  map[string]string{"Sec-Fetch-Site": "same-origin", "Origin": "http://example.com"},
			allowed: true,
		},
		"same origin, older browser": {header: map[string]string{"Origin": "http://example.com"}, allowed: true},
		"address typed by the user":  {header: map[string]string{"Sec-Fetch-Site": "none"}, allowed: true},
		"app origin": {
			header:  map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "https://app.example.com"},
			allowed: true,
		},
		"allowed origin": {
			header:  map[string]string{"Sec-Fetch-Site": "same-site", "Origin": "https://tools.example.com"},
			allowed: true,
		},
		"another site": {
			header: map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"},
		},
		"another site, older browser": {header: map[string]string{"Origin": "https://evil.example"}},
		"another subdomain": {
			header: map[string]string{"Sec-Fetch-Site": "same-site", "Origin": "https://x.example.com"},
		},
		"app origin over plain HTTP": {
			header: map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "http://app.example.com"},
		},
		"origin with the app origin as prefix": {
			header: map[string]string{"Origin": "https://app.example.com.evil.example"},
		},
		"opaque origin": {header: map[string]string{"Origin": "null"}},
		"custom header of a script": {
			header: map[string]string{"Sec-Fetch-Site": "cross-site", "X-Requested-With": "XMLHttpRequest"},
		},
	} {
		r := edgetest.Request{Method: http.MethodPost, Target: "http://example.com/api/login", Header: tc.header}
		response := r.Send(t, router)
		if tc.allowed && response.Status != http.StatusOK {
			t.Errorf("%s: got %d %s, want 200", name, response.Status, response.Body)
		}
		if !tc.allowed {
			edgetest.WantError(t, response, 403, fault.CodeCSRFRejected)
			if response.Header.Get("Set-Cookie") != "" {
				t.Errorf("%s: the response to a rejected request sets cookies", name)
			}
		}
		r.Method, r.Target = http.MethodGet, "http://example.com/api/list"
		if response := r.Send(t, router); response.Status != http.StatusOK {
			t.Errorf("%s, GET request: got %d %s, want 200", name, response.Status, response.Body)
		}
	}
}

func TestCORS(t *testing.T) {
	t.Parallel()
	withOrigins, _ := edgetest.NewRouter(edgetest.EdgeConfig)
	withoutOrigins, _ := edgetest.NewRouter(config.Edge{})
	for _, tc := range []struct {
		name    string
		router  http.Handler
		origin  string
		allowed bool
	}{
		{name: "app origin", router: withOrigins, origin: "https://app.example.com", allowed: true},
		{name: "allowed origin", router: withOrigins, origin: "https://tools.example.com", allowed: true},
		{name: "another site", router: withOrigins, origin: "https://evil.example"},
		{name: "opaque origin", router: withOrigins, origin: "null"},
		{name: "another site, no allowed origins", router: withoutOrigins, origin: "https://evil.example"},
		{name: "opaque origin, no allowed origins", router: withoutOrigins, origin: "null"},
	} {
		want, credentials := "", ""
		if tc.allowed {
			want, credentials = tc.origin, "true"
		}
		for _, r := range []edgetest.Request{
			{Method: http.MethodGet, Target: "/api/list", Header: map[string]string{"Origin": tc.origin}},
			{Method: http.MethodGet, Target: "/api/unknown", Header: map[string]string{"Origin": tc.origin}},
			{Method: http.MethodOptions, Target: "/api/signup", Header: map[string]string{
				"Origin": tc.origin, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type",
			}},
		} {
			response := r.Send(t, tc.router)
			if got := response.Header.Get("Access-Control-Allow-Origin"); got != want {
				t.Errorf("%s, %s: got Access-Control-Allow-Origin %q, want %q", tc.name, r.Method, got, want)
			}
			if got := response.Header.Get("Access-Control-Allow-Credentials"); got != credentials {
				t.Errorf("%s, %s: got Access-Control-Allow-Credentials %q, want %q", tc.name, r.Method, got, credentials)
			}
			if !strings.Contains(strings.Join(response.Header.Values("Vary"), ","), "Origin") {
				t.Errorf("%s, %s: got Vary %q, want Origin in it", tc.name, r.Method, response.Header.Values("Vary"))
			}
			exposed := response.Header.Get("Access-Control-Expose-Headers")
			if tc.allowed && r.Method == http.MethodGet && !strings.Contains(exposed, "Ratelimit-Remaining") {
				t.Errorf("%s: got Access-Control-Expose-Headers %q, want Ratelimit-Remaining in it", tc.name, exposed)
			}
			if r.Method == http.MethodOptions && response.Status != http.StatusNoContent {
				t.Errorf("%s: got status %d for the preflight request, want 204", tc.name, response.Status)
			}
		}
	}
}

func TestSessions(t *testing.T) {
	t.Parallel()
	const https, http = "https://h/api/me", "http://h/api/me"
	plain := config.Edge{CookiePlainHTTP: true}
	for name, tc := range map[string]struct {
		edge           config.Edge
		target, cookie string
		status         int
		code           fault.Code
	}{
		"no cookie":                           {plain, https, "", 401, fault.CodeInvalidToken},
		"valid session":                       {plain, https, "__Host-session=good", 200, ""},
		"several cookies":                     {plain, https, "a=b; __Host-session=good; c=d", 200, ""},
		"invalid session":                     {plain, https, "__Host-session=bad", 401, fault.CodeInvalidToken},
		"storage unavailable":                 {plain, https, "__Host-session=down", 503, fault.CodeServiceUnavailable},
		"plain cookie over HTTPS":             {plain, https, "session=good", 401, fault.CodeInvalidToken},
		"plain cookie over HTTP":              {plain, http, "session=good", 200, ""},
		"plain cookie, disabled":              {config.Edge{}, http, "session=good", 401, fault.CodeInvalidToken},
		"both cookies, only secure one valid": {plain, http, "session=bad; __Host-session=good", 200, ""},
		"both cookies, only plain one valid":  {plain, http, "session=good; __Host-session=bad", 401, fault.CodeInvalidToken},
		"cookie names in another case":        {plain, http, "__host-session=good; Session=good", 401, fault.CodeInvalidToken},
	} {
		router, log := edgetest.NewRouter(tc.edge)
		request := edgetest.Request{Method: "GET", Target: tc.target, Header: map[string]string{"Cookie": tc.cookie}}
		response := request.Send(t, router)
		if tc.code != "" {
			edgetest.WantError(t, response, tc.status, tc.code)
			continue
		}
		user := log.Lines(t)[0]["userId"]
		if response.Status != 200 || response.Body != `{"email":"usr_ada","size":0}` || user != "usr_ada" {
			t.Errorf("%s: got %d %s and logged %v, want 200 and the user usr_ada", name, response.Status, response.Body, user)
		}
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
		t.Fatalf("got %d log lines, want 1", len(lines))
	}
	text, err := json.Marshal(lines[0])
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "hunter2") {
		t.Errorf("the log line contains a secret: %s", text)
	}
	for _, field := range []string{
		"requestId", "method", "operation", "status", "ms", "dynamodbCalls", "dynamodbMs", "code",
	} {
		if _, ok := lines[0][field]; !ok {
			t.Errorf("the log line has no field %s: %s", field, text)
		}
	}
	if lines[0]["operation"] != "POST /api/signup" {
		t.Errorf("got the operation %v, want POST /api/signup", lines[0]["operation"])
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
			t.Errorf("%q: got the key %q, want %q", ip, got, want)
		}
	}
}
