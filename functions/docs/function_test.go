package main

import (
	"bytes"
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
	"devplatform/shared/lambdafn/apigateway"
)

// answer is a complete response of the function.
type answer struct {
	status int
	header http.Header
	body   string
}

// ask sends an event to the function, built from its environment. The form of header is "Name: value".
func ask(t *testing.T, method, path string, header ...string) answer {
	t.Helper()
	cfg, err := config.Load[settings]()
	if err != nil {
		t.Fatal(err)
	}
	handler, err := newHandler(cfg, clock.System, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	event := events.APIGatewayProxyRequest{HTTPMethod: method, Path: path, MultiValueHeaders: map[string][]string{}}
	event.RequestContext.RequestID, event.RequestContext.Identity.SourceIP = "r-1", "203.0.113.5"
	event.RequestContext.DomainName, event.RequestContext.Path = "a1b2c3.execute-api.eu-central-1.amazonaws.com", "/prod"+path
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		event.MultiValueHeaders[name] = append(event.MultiValueHeaders[name], value)
	}
	payload, err := json.Marshal(event)
	if err != nil {
		t.Fatal(err)
	}
	response, err := apigateway.NewStream(handler)(t.Context(), payload)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	a := answer{status: response.StatusCode, header: http.Header{}, body: string(body)}
	for name, values := range response.MultiValueHeaders {
		a.header[name] = values
	}
	if a.header.Get("Content-Encoding") == "gzip" {
		unpacked, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if body, err = io.ReadAll(unpacked); err != nil {
			t.Fatal(err)
		}
	}
	if a.status < 300 || a.status >= 400 {
		contract.Check(t, method, path, a.status, a.header, body)
	}
	return a
}

const (
	everyPolicy = "default-src 'none'; frame-ancestors 'none'"
	zipped      = "Accept-Encoding: gzip, deflate, br, zstd"
)

func TestResponses(t *testing.T) {
	for name, tc := range map[string]struct {
		method, path string
		header       []string
		status       int
		kind         string // Content-Type
		coding       string
		policy       string // "" for the default policy
		holds        string // in the body as sent
	}{
		"document":               {"GET", "/api/openapi.json", nil, 200, "application/json", "", "", `"openapi": "3.1`},
		"document, zipped":       {"GET", "/api/openapi.json", []string{zipped}, 200, "application/json", "gzip", "", "\x1f\x8b"},
		"page":                   {"GET", "/api/docs", []string{zipped}, 200, "text/html; charset=utf-8", "", "script-src 'self'; style-src 'self';", "<title>"},
		"viewer":                 {"GET", "/api/docs/swagger-ui-bundle.js", nil, 200, "text/javascript; charset=utf-8", "", "", "SwaggerUIBundle"},
		"viewer, zipped":         {"GET", "/api/docs/swagger-ui-bundle.js", []string{zipped}, 200, "text/javascript; charset=utf-8", "gzip", "", "\x1f\x8b"},
		"style":                  {"GET", "/api/docs/swagger-ui.css", []string{zipped}, 200, "text/css; charset=utf-8", "gzip", "", "\x1f\x8b"},
		"own script":             {"GET", "/api/docs/docs.js", []string{zipped}, 200, "text/javascript; charset=utf-8", "", "", "SwaggerUIBundle("},
		"kept by a client":       {"GET", "/api/docs/docs.js", []string{`If-None-Match: *`}, 200, "text/javascript; charset=utf-8", "", "", "SwaggerUIBundle("},
		"head":                   {"HEAD", "/api/docs", nil, 200, "text/html; charset=utf-8", "", "script-src 'self'", ""},
		"no such file":           {"GET", "/api/docs/swagger-ui.js", nil, 404, "application/json", "", "", `"ROUTE_NOT_FOUND"`},
		"file of the source":     {"GET", "/api/docs/index.html", nil, 404, "application/json", "", "", `"ROUTE_NOT_FOUND"`},
		"out of the folder":      {"GET", "/api/docs/..%2fdocs.js", nil, 404, "application/json", "", "", `"ROUTE_NOT_FOUND"`},
		"below":                  {"GET", "/api/docs/a/docs.js", nil, 404, "application/json", "", "", `"ROUTE_NOT_FOUND"`},
		"slash at the end":       {"GET", "/api/docs/", nil, 308, "", "", "", ""},
		"document, slash at end": {"GET", "/api/openapi.json/", nil, 404, "application/json", "", "", `"ROUTE_NOT_FOUND"`},
		"method":                 {"POST", "/api/docs", nil, 405, "application/json", "", "", `"METHOD_NOT_ALLOWED"`},
		"method of the document": {"PUT", "/api/openapi.json", nil, 405, "application/json", "", "", `"METHOD_NOT_ALLOWED"`},
	} {
		t.Run(name, func(t *testing.T) {
			a := ask(t, tc.method, tc.path, tc.header...)
			if a.status != tc.status || a.header.Get("Content-Type") != tc.kind || a.header.Get("Content-Encoding") != tc.coding || !strings.Contains(a.body, tc.holds) {
				t.Errorf("%d %v %.200s", a.status, a.header, a.body)
			}
			for header, want := range map[string]string{
				"X-Request-Id": "r-1", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
				"Strict-Transport-Security": "max-age=31536000; includeSubDomains",
			} {
				if got := a.header.Values(header); len(got) != 1 || got[0] != want {
					t.Errorf("%s: %q", header, got)
				}
			}
			policies := a.header.Values("Content-Security-Policy")
			if len(policies) != 1 || tc.policy == "" && policies[0] != everyPolicy || !strings.Contains(policies[0], tc.policy) || strings.Contains(policies[0], "unsafe") {
				t.Errorf("policies %q", policies)
			}
			if allow := a.header.Get("Allow"); (tc.status == 405) != (allow == "GET, HEAD") {
				t.Errorf("Allow: %q", allow)
			}
			if tc.method == "HEAD" && a.body != "" {
				t.Errorf("HEAD has a body of %d bytes", len(a.body))
			}
			if to := a.header.Get("Location"); (tc.status == 308) != (to == "../docs") {
				t.Errorf("Location: %q", to)
			}
		})
	}
}

// The document is the committed one, except for its server: APP_URL if it is set, otherwise the server that received the
// request.
func TestDocumentNamesTheServer(t *testing.T) {
	for app, want := range map[string]string{
		"":                        "https://a1b2c3.execute-api.eu-central-1.amazonaws.com/prod",
		"https://app.example.com": "https://app.example.com",
	} {
		t.Setenv("APP_URL", app)
		var got, committed map[string]any
		if err := json.Unmarshal([]byte(ask(t, "GET", "/api/openapi.json").body), &got); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(docs.OpenAPI, &committed); err != nil {
			t.Fatal(err)
		}
		committed["servers"] = []any{map[string]any{"url": want}}
		if diff := cmp.Diff(committed, got); diff != "" {
			t.Errorf("APP_URL=%s (-committed +served):\n%s", app, diff)
		}
	}
}

// All files that the page's HTML loads exist, their URLs are relative so that they also work behind a stage, and no
// script or style is inline.
func TestPageLinks(t *testing.T) {
	page := ask(t, "GET", "/api/docs").body
	for _, tag := range regexp.MustCompile(`(?s)<script.*?</script>|<style|\s(on\w+|style)=`).FindAllString(page, -1) {
		if !regexp.MustCompile(`^<script src="[^"]+" defer></script>$`).MatchString(tag) {
			t.Errorf("inline: %s", tag)
		}
	}
	links := regexp.MustCompile(`(?:src|href)="([^"]*)"`).FindAllStringSubmatch(page, -1)
	if len(links) < 5 {
		t.Fatalf("links: %q", links)
	}
	for _, link := range links {
		if strings.HasPrefix(link[1], "/") || strings.Contains(link[1], ":") {
			t.Errorf("%s is not relative", link[1])
		}
		if a := ask(t, "GET", "/api/"+link[1]); a.status != http.StatusOK {
			t.Errorf("%s: %d", link[1], a.status)
		}
	}
}
