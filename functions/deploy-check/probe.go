package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"devplatform/shared/lambdafn"
	"devplatform/shared/metric"
)

// probeTimeout is the time for one request of the probe. A run ends before the next one starts.
const probeTimeout = 20 * time.Second

// The metrics of the probe: 1 if the URL responds as expected, 0 if it does not.
const (
	metricProbeAPI  = "ProbeApi"
	metricProbeSite = "ProbeSite"
)

// probeURLs are the URLs to probe. A URL that is empty is not requested.
type probeURLs struct {
	API  string `json:"api"`
	Site string `json:"site"`
}

// probe requests public URLs as clients do: with DNS, TLS and the gateway. The alarms use its metrics, so a URL that
// does not respond is not an error of the function.
func (h *handler) probe(ctx context.Context, urls probeURLs) {
	probes := []struct {
		metric, url string
		request     func(context.Context, string) error
	}{{metricProbeAPI, urls.API, h.probeAPI}, {metricProbeSite, urls.Site, h.probeSite}}
	lambdafn.Parallel(len(probes), len(probes), func(i int) error {
		p, value := probes[i], 1.0
		if p.url == "" {
			return nil
		}
		if err := p.request(ctx, p.url); err != nil {
			value = 0
			h.logger.ErrorContext(ctx, "probe failed", "probe", p.metric, "cause", err.Error())
		}
		h.metrics.Put(ctx, metric.Value{Name: p.metric, Unit: metric.Count, Values: []float64{value}})
		return nil
	})
}

// probeAPI sends the login of the check of auth, which needs the gateway, a function, its tables and CPU time.
func (h *handler) probeAPI(ctx context.Context, url string) error {
	return h.request(ctx, loginMethod, url+loginPath, unknownLogin(), http.StatusUnauthorized, codeUnknownLogin)
}

// probeSite requests the start page of a site.
func (h *handler) probeSite(ctx context.Context, url string) error {
	return h.request(ctx, http.MethodGet, url+"/", "", http.StatusOK, "")
}

// request sends a request and checks the status of the response, and that the beginning of its body contains a text.
func (h *handler) request(ctx context.Context, method, url, body string, status int, contains string) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return fmt.Errorf("probe: %w", err)
	}
	r.Header.Set("User-Agent", "devplatform-probe")
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	response, err := h.publicClient.Do(r)
	if err != nil {
		return fmt.Errorf("probe: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	beginning, err := io.ReadAll(io.LimitReader(response.Body, maxLogged))
	if err != nil {
		return fmt.Errorf("probe: reading the response: %w", err)
	}
	if response.StatusCode != status || !bytes.Contains(beginning, []byte(contains)) {
		return fmt.Errorf("probe: got %s, want the status %d and %q: %s", response.Status, status, contains, beginning)
	}
	return nil
}

// newPublicClient returns a client that opens a new connection for each request, so that each one needs DNS and TLS. It
// follows no redirects.
func newPublicClient() *http.Client {
	return &http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true, ForceAttemptHTTP2: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
