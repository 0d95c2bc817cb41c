package main

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/functiontest"
	"devplatform/shared/clock"
	"devplatform/shared/config"
)

// TestProbe checks what the probe requests, and the metrics that it reports.
func TestProbe(t *testing.T) {
	t.Parallel()
	const loggedOut = `{"error":"The e-mail address or the password is wrong.","code":"AUTH_INVALID_CREDENTIALS"}`
	for name, tc := range map[string]struct {
		apiStatus, siteStatus int
		apiBody               string
		noAPI, noSite         bool
		want                  map[string]float64
	}{
		"healthy":           {401, 200, loggedOut, false, false, map[string]float64{"ProbeApi": 1, "ProbeSite": 1}},
		"without a site":    {401, 200, loggedOut, false, true, map[string]float64{"ProbeApi": 1}},
		"storage is down":   {503, 200, loggedOut, false, false, map[string]float64{"ProbeApi": 0, "ProbeSite": 1}},
		"another 401":       {401, 200, `{"code":"ACCESS_DENIED"}`, false, true, map[string]float64{"ProbeApi": 0}},
		"a site is missing": {401, 404, loggedOut, false, false, map[string]float64{"ProbeApi": 1, "ProbeSite": 0}},
		// Otherwise a login page or a new domain that redirects would hide that the site is gone.
		"a site redirects": {401, 302, loggedOut, false, false, map[string]float64{"ProbeApi": 1, "ProbeSite": 0}},
		"no connection":    {401, 200, loggedOut, true, false, map[string]float64{"ProbeApi": 0, "ProbeSite": 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := func(status int, body string, check func(*http.Request)) string {
				server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					check(r)
					if !r.Close || r.UserAgent() != "devplatform-probe" {
						t.Errorf("the probe keeps the connection: %t, and is the client %q", !r.Close, r.UserAgent())
					}
					w.Header().Set("Location", "/elsewhere")
					w.WriteHeader(status)
					_, _ = io.WriteString(w, body)
				}))
				t.Cleanup(server.Close)
				return server.URL
			}
			urls := probeURLs{API: "http://127.0.0.1:1"} // nothing listens on this port
			if !tc.noAPI {
				urls.API = service(tc.apiStatus, tc.apiBody, func(r *http.Request) { checkLogin(t, r) })
			}
			if !tc.noSite {
				urls.Site = service(tc.siteStatus, "<html>", func(r *http.Request) {
					if r.Method != http.MethodGet || r.URL.Path != "/" {
						t.Errorf("the probe of the site sent %s %s, want GET /", r.Method, r.URL.Path)
					}
				})
			}
			got := probeOnce(t, urls)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("wrong metrics (-want +got):\n%s", diff)
			}
		})
	}
}

// checkLogin checks that a request is a login.
func checkLogin(t *testing.T, r *http.Request) {
	t.Helper()
	var login map[string]string
	if err := json.NewDecoder(r.Body).Decode(&login); err != nil || login["email"] == "" || login["password"] == "" ||
		r.Method+" "+r.URL.Path != "POST /api/auth/login" || r.Header.Get("Content-Type") != "application/json" {
		t.Errorf("the probe of the API sent %s %s with %v (%v), want a login", r.Method, r.URL.Path, login, err)
	}
}

// probeOnce sends the function the event of the schedule, and returns the metrics that it logs.
func probeOnce(t *testing.T, urls probeURLs) map[string]float64 {
	t.Helper()
	var logs bytes.Buffer
	cfg := settings{
		Versions: map[string]string{"DocsFunction": docsVersion}, Metrics: config.Metrics{Namespace: "stack"},
	}
	run := functiontest.Must(newHandler(cfg, clock.System, slog.New(slog.NewJSONHandler(&logs, nil))))
	var e event // as the schedule sends it
	if err := json.Unmarshal([]byte(`{"probe":{"api":"`+urls.API+`","site":"`+urls.Site+`"}}`), &e); err != nil {
		t.Fatal(err)
	}
	if r, err := run(t.Context(), e); err != nil || r.Status != "" {
		t.Errorf("got %+v, error %v, want no checks and no error", r, err)
	}
	metrics := map[string]float64{}
	for line := range strings.Lines(logs.String()) {
		var fields map[string]any
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"ProbeApi", "ProbeSite"} {
			if values, ok := fields[name].([]any); ok && len(values) == 1 && fields["_aws"] != nil {
				metrics[name], _ = values[0].(float64)
			}
		}
	}
	return metrics
}
