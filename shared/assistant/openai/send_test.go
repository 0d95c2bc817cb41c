package openai_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"devplatform/shared/assistant/model"
	"devplatform/shared/assistant/openai"
)

func TestRetries(t *testing.T) {
	t.Parallel()
	drop := func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	busy := refuse(503, "busy")
	good := stream(hello, stop)
	for name, tc := range map[string]struct {
		handlers []http.HandlerFunc
		tries    int
		after    time.Duration
		fails    bool
	}{
		"busy twice":                  {handlers: []http.HandlerFunc{busy, busy, good}, tries: 3},
		"busy three times":            {handlers: []http.HandlerFunc{busy, busy, busy, good}, tries: 3, fails: true},
		"connection lost":             {handlers: []http.HandlerFunc{drop, drop, good}, tries: 3},
		"connection lost thrice":      {handlers: []http.HandlerFunc{drop}, tries: 3, fails: true},
		"asked to wait a moment":      {handlers: []http.HandlerFunc{refuse(429, "", "Retry-After-Ms", "2.5"), good}, tries: 2},
		"asked to wait long":          {handlers: []http.HandlerFunc{refuse(429, "", "Retry-After", "30"), good}, tries: 1, after: 30 * time.Second, fails: true},
		"asked to wait longer by 503": {handlers: []http.HandlerFunc{refuse(503, "", "Retry-After", "3600"), good}, tries: 1, after: time.Hour, fails: true},
		"a date":                      {handlers: []http.HandlerFunc{refuse(429, "", "Retry-After", "Sun, 22 Nov 2026 03:01:30 GMT", "Date", "Sun, 22 Nov 2026 03:00:00 GMT"), good}, tries: 1, after: 90 * time.Second, fails: true},
		"header forbids a retry":      {handlers: []http.HandlerFunc{refuse(503, "", "X-Should-Retry", "false"), good}, tries: 1, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := serve(t, tc.handlers...)
			got, _, err := ask(t, u, question)
			if tc.fails {
				if failed := wantFault(t, err, model.Unavailable); failed.RetryAfter != tc.after {
					t.Errorf("after %v, want %v", failed.RetryAfter, tc.after)
				}
			} else if err != nil || got.text != "Hello" {
				t.Errorf("%q, %v", got.text, err)
			}
			if n := len(u.requests()); n != tc.tries {
				t.Errorf("tried %d times, want %d", n, tc.tries)
			}
			for _, r := range u.requests() {
				if r.body != u.requests()[0].body || r.body == "" {
					t.Errorf("a retry has another body: %s", r.body)
				}
			}
		})
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	const date = "Sun, 22 Nov 2026 03:00:00 GMT"
	for _, tc := range []struct {
		ms, after, date string
		want            time.Duration
	}{
		{"", "", date, 0}, {"", "7", date, 7 * time.Second}, {"", "0.5", "", 0}, {"1500", "7", date, 1500 * time.Millisecond},
		{"x", "7", date, 7 * time.Second}, {"", "-7", date, 0}, {"", "NaN", date, 0}, {"", "1e300", date, 0}, {"", "soon", date, 0},
		{"", "Sun, 22 Nov 2026 03:00:10 GMT", date, 10 * time.Second}, {"", "Sunday, 22-Nov-26 03:00:10 GMT", date, 10 * time.Second},
		{"", "Sun, 22 Nov 2026 02:00:00 GMT", date, 0}, {"", "Tue, 22 Nov 2050 03:00:00 GMT", date, 24 * time.Hour},
		{"", "Sun, 22 Nov 2026 03:00:10 GMT", "", 0},
	} {
		h := http.Header{}
		h.Set("Retry-After-Ms", tc.ms)
		h.Set("Retry-After", tc.after)
		h.Set("Date", tc.date)
		if got := openai.RetryAfter(h); got != tc.want {
			t.Errorf("%+v: %v", tc, got)
		}
	}
}

// TestSwitchToOtherLimitName has a model that accepts only max_completion_tokens, on a host that is not known for it.
func TestSwitchToOtherLimitName(t *testing.T) {
	t.Parallel()
	picky := func(w http.ResponseWriter, r *http.Request) {
		refuse(400, `{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","type":"invalid_request_error","param":"max_tokens","code":"unsupported_parameter"}}`)(w, r)
	}
	u := serve(t, picky, stream(hello, stop))
	p := openai.NewQuick(openai.Options{BaseURL: u.URL, Model: "m"})
	r := question
	r.MaxOutput = 7
	for range 2 {
		if _, err := p.Generate(t.Context(), r, new(collected).take); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{`"max_tokens":7`, `"max_completion_tokens":7`, `"max_completion_tokens":7`}
	if len(u.requests()) != len(want) {
		t.Fatalf("%d requests", len(u.requests()))
	}
	for i, got := range u.requests() {
		if !strings.Contains(got.body, want[i]) || strings.Count(got.body, "_tokens") != 1 {
			t.Errorf("request %d: %s", i, got.body)
		}
	}
	pickier := serve(t, picky)
	_, _, err := ask(t, pickier, r)
	if wantFault(t, err, model.Misconfigured); len(pickier.requests()) != 2 {
		t.Errorf("%d requests", len(pickier.requests()))
	}
}

func TestConnectionRefused(t *testing.T) {
	t.Parallel()
	u := serve(t, stream(hello, stop))
	u.Close()
	_, _, err := ask(t, u, question)
	wantFault(t, err, model.Unavailable)
}

func TestHTMLResponse(t *testing.T) {
	t.Parallel()
	_, _, err := ask(t, serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<html>Welcome")
	}), question)
	wantFault(t, err, model.Misconfigured)
}

// TestNewDoesNotReadKeyOrConnect checks that New neither reads the key nor connects.
func TestNewDoesNotReadKeyOrConnect(t *testing.T) {
	t.Parallel()
	asked := 0
	u := serve(t, stream(hello, stop))
	p := openai.New(openai.Options{BaseURL: u.URL, Model: "m", Key: func(context.Context) (string, error) {
		asked++
		return fmt.Sprintf(" key-%d\n", asked), nil
	}})
	if asked != 0 {
		t.Error("New read the key")
	}
	for range 2 {
		if _, err := p.Generate(t.Context(), question, new(collected).take); err != nil {
			t.Fatal(err)
		}
	}
	for i, r := range u.requests() {
		if got, want := r.header.Get("Authorization"), fmt.Sprintf("Bearer key-%d", i+1); got != want {
			t.Errorf("Authorization %q, want %q: the key must be read for each call", got, want)
		}
	}
}

func TestNoKey(t *testing.T) {
	t.Parallel()
	u := serve(t, stream(hello, stop))
	for _, key := range []func(context.Context) (string, error){nil, func(context.Context) (string, error) { return "", nil }} {
		p := openai.New(openai.Options{BaseURL: u.URL, Model: "m", Key: key})
		if _, err := p.Generate(t.Context(), question, new(collected).take); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range u.requests() {
		if _, ok := r.header["Authorization"]; ok {
			t.Errorf("Authorization %q", r.header["Authorization"])
		}
	}
}

func TestKeyError(t *testing.T) {
	t.Parallel()
	u := serve(t, stream(hello, stop))
	lost := errors.New("no secrets today")
	p := openai.New(openai.Options{BaseURL: u.URL, Key: func(context.Context) (string, error) { return "", lost }})
	_, err := p.Generate(t.Context(), question, new(collected).take)
	if wantFault(t, err, model.Unavailable); !errors.Is(err, lost) || len(u.requests()) != 0 {
		t.Errorf("%v after %d requests", err, len(u.requests()))
	}
}

// TestEnvironmentIsNotRead checks variables from which the SDK's client reads key, URL, organization and headers, and
// Go's client a proxy.
func TestEnvironmentIsNotRead(t *testing.T) {
	elsewhere := serve(t, stream(hello, stop))
	for name, value := range map[string]string{
		"OPENAI_API_KEY": "sk-environment", "OPENAI_ADMIN_KEY": "sk-environment", "OPENAI_BASE_URL": elsewhere.URL, "OPENAI_ORG_ID": "org-environment",
		"OPENAI_PROJECT_ID": "proj-environment", "OPENAI_CUSTOM_HEADERS": "X-Environment: yes", "HTTP_PROXY": elsewhere.URL, "http_proxy": elsewhere.URL,
	} {
		t.Setenv(name, value)
	}
	u := serve(t, stream(hello, stop))
	p := openai.New(openai.Options{BaseURL: u.URL, Model: "m"})
	if _, err := p.Generate(t.Context(), question, new(collected).take); err != nil {
		t.Fatal(err)
	}
	if len(u.requests()) != 1 || len(elsewhere.requests()) != 0 {
		t.Fatalf("%d requests, %d elsewhere", len(u.requests()), len(elsewhere.requests()))
	}
	for name, values := range u.requests()[0].header {
		if strings.Contains(strings.Join(values, ""), "environment") || name == "Authorization" || name == "X-Environment" {
			t.Errorf("%s: %q", name, values)
		}
	}
}

// TestRedirectsAreNotFollowed checks that neither the prompt nor the key is sent to another host.
func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	other := serve(t, stream(hello, stop))
	for _, status := range []int{301, 302, 303, 307, 308} {
		u := serve(t, refuse(status, "", "Location", other.URL+"/v1/chat/completions"))
		_, _, err := ask(t, u, question)
		wantFault(t, err, model.Misconfigured)
		if !strings.Contains(err.Error(), other.URL) {
			t.Errorf("%v does not have the location", err)
		}
	}
	if n := len(other.requests()); n != 0 {
		t.Errorf("%d requests followed the redirect", n)
	}
}

// TestAnswerDoesNotWaitForEndOfStream checks that a complete answer does not wait for the end of the stream.
func TestAnswerDoesNotWaitForEndOfStream(t *testing.T) {
	t.Parallel()
	gone := make(chan struct{})
	u := serve(t, func(w http.ResponseWriter, r *http.Request) {
		stream(hello, stop)(w, r)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		close(gone)
	})
	got, outcome, err := ask(t, u, question)
	if err != nil || got.text != "Hello" || outcome.Stop != model.StopEnd {
		t.Errorf("%q, %+v, %v", got.text, outcome, err)
	}
	<-gone
}

// TestPartsAreEmittedAtOnce checks that each part is emitted before the server sends the next one.
func TestPartsAreEmittedAtOnce(t *testing.T) {
	t.Parallel()
	heard := make(chan struct{})
	chunks := []string{
		hello, say(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f"}}]}`), say(`{"tool_calls":[{"index":0,"function":{"arguments":"{"}}]}`),
		say(`{"tool_calls":[{"index":0,"function":{"arguments":"}"}}]}`), say(`{"tool_calls":[{"index":1,"id":"b","function":{"name":"f"}}]}`),
	}
	u := serve(t, func(w http.ResponseWriter, r *http.Request) {
		for _, chunk := range chunks {
			stream(chunk)(w, r)
			_ = http.NewResponseController(w).Flush()
			<-heard
		}
		stream(stop)(w, r)
	})
	p := openai.NewQuick(openai.Options{BaseURL: u.URL, Model: "m"})
	n := 0
	_, err := p.Generate(t.Context(), question, func(part model.Part) error {
		n++
		if part.Kind != model.CallEnd { // an end is emitted with the next part
			heard <- struct{}{}
		}
		return nil
	})
	if err != nil || n != len(chunks)+2 {
		t.Errorf("%d parts, %v", n, err)
	}
}

func TestConcurrentCalls(t *testing.T) {
	t.Parallel()
	u := serve(t, func(w http.ResponseWriter, r *http.Request) { stream(hello, stop, someUsage, done)(w, r) })
	p := openai.New(openai.Options{BaseURL: u.URL, Model: "m", Key: key})
	var group sync.WaitGroup
	for range 16 {
		group.Go(func() {
			var got collected
			if outcome, err := p.Generate(t.Context(), conversation, got.take); err != nil || got.text != "Hello" || outcome.Usage.Input != 11 {
				t.Errorf("%q, %+v, %v", got.text, outcome, err)
			}
		})
	}
	group.Wait()
}

// TestConnectionIsReused checks that a connection is reused although the end of the stream follows [DONE].
func TestConnectionIsReused(t *testing.T) {
	t.Parallel()
	u := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		stream(hello, stop, done)(w, r)
		_ = http.NewResponseController(w).Flush()
	}))
	var connections atomic.Int32
	u.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			connections.Add(1)
		}
	}
	u.Start()
	defer u.Close()
	p := openai.New(openai.Options{BaseURL: u.URL, Model: "m"})
	for range 20 {
		if _, err := p.Generate(t.Context(), question, new(collected).take); err != nil {
			t.Fatal(err)
		}
	}
	// On a busy machine, the end of a stream may sometimes be late.
	if n := connections.Load(); n > 10 {
		t.Errorf("%d connections", n)
	}
}
