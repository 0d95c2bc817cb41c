package docs_test

import (
	"bytes"
	stdcmp "cmp"
	"compress/gzip"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"devplatform/infra/openapi/contract"
	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/docs"
	"devplatform/shared/httpapi"
	"devplatform/shared/lambdafn/apigateway"
)

// response is a complete response of the function.
type response struct {
	status int
	header http.Header
	body   string
}

// send serves a request to the service with these settings. Each header line has the form "Name: value". send checks
// that the response conforms to the OpenAPI document, except for redirects.
func send(t *testing.T, edge config.Edge, method, path string, headerLines ...string) response {
	t.Helper()
	service, err := docs.New(docs.OpenAPI)
	if err != nil {
		t.Fatal(err)
	}
	handler := httpapi.NewRouter(httpapi.Config{
		Edge: edge, Logger: slog.New(slog.DiscardHandler), Clock: clock.System,
	}, service.Register)
	event := events.APIGatewayProxyRequest{HTTPMethod: method, Path: path, MultiValueHeaders: map[string][]string{}}
	event.RequestContext.RequestID, event.RequestContext.Identity.SourceIP = "r-1", "203.0.113.5"
	event.RequestContext.DomainName = "a1b2c3.execute-api.eu-central-1.amazonaws.com"
	event.RequestContext.Path = "/prod" + path
	for _, line := range headerLines {
		if name, value, ok := strings.Cut(line, ": "); ok {
			event.MultiValueHeaders[name] = append(event.MultiValueHeaders[name], value)
		}
	}
	payload, err := json.Marshal(event)
	if err != nil {
		t.Fatal(err)
	}
	streamed, err := apigateway.NewStream(handler, apigateway.Unbounded)(t.Context(), payload)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(streamed.Body)
	if err != nil {
		t.Fatal(err)
	}
	got := response{status: streamed.StatusCode, header: http.Header{}, body: string(body)}
	for name, values := range streamed.MultiValueHeaders {
		got.header[name] = values
	}
	if got.header.Get("Content-Encoding") == "gzip" {
		decompressed, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if body, err = io.ReadAll(decompressed); err != nil {
			t.Fatal(err)
		}
	}
	if got.status < 300 || got.status >= 400 {
		contract.Check(t, method, path, got.status, got.header, body)
	}
	return got
}

const (
	// defaultPolicy is the Content-Security-Policy of all responses except for the page.
	defaultPolicy = "default-src 'none'; frame-ancestors 'none'"
	// acceptGzip is the header line of a client that accepts gzip.
	acceptGzip = "Accept-Encoding: gzip, deflate, br, zstd"
)

func TestResponses(t *testing.T) {
	t.Parallel()
	const html, script, plainJSON = "text/html; charset=utf-8", "text/javascript; charset=utf-8", "application/json"
	const style, own = "text/css; charset=utf-8", "script-src 'self'"
	const noRoute, notAllowed = `"ROUTE_NOT_FOUND"`, `"METHOD_NOT_ALLOWED"`
	for name, tc := range map[string]struct {
		method, path, headerLine string
		status                   int
		contentType, encoding    string
		policy                   string // a part of the policy, or "" for the default policy
		contains                 string // a part of the body before decompression
	}{
		"document":         {"GET", "/api/openapi.json", "", 200, plainJSON, "", "", `"openapi": "3.1`},
		"document, gzip":   {"GET", "/api/openapi.json", acceptGzip, 200, plainJSON, "gzip", "", "\x1f\x8b"},
		"page":             {"GET", "/api/docs", acceptGzip, 200, html, "", own + "; style-src 'self';", "<title>"},
		"Swagger UI":       {"GET", "/api/docs/swagger-ui-bundle.js", "", 200, script, "", "", "SwaggerUIBundle"},
		"Swagger UI, gzip": {"GET", "/api/docs/swagger-ui-bundle.js", acceptGzip, 200, script, "gzip", "", "\x1f\x8b"},
		"style sheet":      {"GET", "/api/docs/swagger-ui.css", acceptGzip, 200, style, "gzip", "", "\x1f\x8b"},
		"script":           {"GET", "/api/docs/docs.js", acceptGzip, 200, script, "", "", "SwaggerUIBundle("},
		"If-None-Match":    {"GET", "/api/docs/docs.js", "If-None-Match: *", 200, script, "", "", "SwaggerUIBundle("},
		"HEAD":             {"HEAD", "/api/docs", "", 200, html, "", own, ""},
		"no such file":     {"GET", "/api/docs/swagger-ui.js", "", 404, plainJSON, "", "", noRoute},
		"page by its name": {"GET", "/api/docs/index.html", "", 404, plainJSON, "", "", noRoute},
		"above the folder": {"GET", "/api/docs/..%2fdocs.js", "", 404, plainJSON, "", "", noRoute},
		"below a folder":   {"GET", "/api/docs/a/docs.js", "", 404, plainJSON, "", "", noRoute},
		"page, slash":      {"GET", "/api/docs/", "", 308, "", "", "", ""},
		"document, slash":  {"GET", "/api/openapi.json/", "", 404, plainJSON, "", "", noRoute},
		"POST":             {"POST", "/api/docs", "", 405, plainJSON, "", "", notAllowed},
		"PUT":              {"PUT", "/api/openapi.json", "", 405, plainJSON, "", "", notAllowed},
	} {
		t.Run(name, func(t *testing.T) {
			got := send(t, config.Edge{}, tc.method, tc.path, tc.headerLine)
			if got.status != tc.status || !strings.Contains(got.body, tc.contains) {
				t.Errorf("got %d %.200s, want %d with %q in the body", got.status, got.body, tc.status, tc.contains)
			}
			for name, want := range map[string]string{
				"Content-Type":              tc.contentType,
				"Content-Encoding":          tc.encoding,
				"X-Request-Id":              "r-1",
				"Cache-Control":             "no-store",
				"X-Content-Type-Options":    "nosniff",
				"Referrer-Policy":           "no-referrer",
				"Strict-Transport-Security": "max-age=31536000; includeSubDomains",
			} {
				if values := got.header.Values(name); strings.Join(values, ", ") != want {
					t.Errorf("got %s: %q, want %q", name, values, want)
				}
			}
			wantPolicy := stdcmp.Or(tc.policy, defaultPolicy)
			policies := got.header.Values("Content-Security-Policy")
			if len(policies) != 1 || tc.policy == "" && policies[0] != defaultPolicy ||
				!strings.Contains(policies[0], wantPolicy) || strings.Contains(policies[0], "unsafe") {
				t.Errorf("got the policies %q, want one with %q and without unsafe sources", policies, wantPolicy)
			}
			if allow := got.header.Get("Allow"); (tc.status == 405) != (allow == "GET, HEAD") {
				t.Errorf("got %d with Allow: %q, want \"GET, HEAD\" if and only if the status is 405", got.status, allow)
			}
			if tc.method == "HEAD" && got.body != "" {
				t.Errorf("the response to HEAD has a body of %d bytes", len(got.body))
			}
			if location := got.header.Get("Location"); (tc.status == 308) != (location == "../docs") {
				t.Errorf("got %d with Location: %q, want ../docs only with 308", got.status, location)
			}
		})
	}
}

// TestDocumentServer checks that the served document is the committed one, except for its server. The server is
// APP_URL, or else the host and stage of the request.
func TestDocumentServer(t *testing.T) {
	t.Parallel()
	for app, want := range map[config.Origin]string{
		"":                        "https://a1b2c3.execute-api.eu-central-1.amazonaws.com/prod",
		"https://app.example.com": "https://app.example.com",
	} {
		var got, committed map[string]any
		served := send(t, config.Edge{AppURL: app}, "GET", "/api/openapi.json").body
		if err := json.Unmarshal([]byte(served), &got); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(docs.OpenAPI, &committed); err != nil {
			t.Fatal(err)
		}
		committed["servers"] = []any{map[string]any{"url": want}}
		if diff := cmp.Diff(committed, got); diff != "" {
			t.Errorf("APP_URL=%s: the documents differ (-committed +served):\n%s", app, diff)
		}
	}
}

// TestPageLinks checks that all files that the page loads exist, and that no script or style is inline. The URLs of the
// files must be relative, so that they also work with a stage in the path.
func TestPageLinks(t *testing.T) {
	t.Parallel()
	page := send(t, config.Edge{}, "GET", "/api/docs").body
	scriptOrStyle := regexp.MustCompile(`(?s)<script.*?</script>|<style|\s(on\w+|style)=`)
	externalScript := regexp.MustCompile(`^<script src="[^"]+" defer></script>$`)
	for _, text := range scriptOrStyle.FindAllString(page, -1) {
		if !externalScript.MatchString(text) {
			t.Errorf("the page has an inline script or style: %s", text)
		}
	}
	links := regexp.MustCompile(`(?:src|href)="([^"]*)"`).FindAllStringSubmatch(page, -1)
	if len(links) < 5 {
		t.Fatalf("got the links %q, want at least 5", links)
	}
	for _, link := range links {
		if strings.HasPrefix(link[1], "/") || strings.Contains(link[1], ":") {
			t.Errorf("the link %s is not relative", link[1])
		}
		if got := send(t, config.Edge{}, "GET", "/api/"+link[1]); got.status != http.StatusOK {
			t.Errorf("the link %s: got status %d, want 200", link[1], got.status)
		}
	}
}
