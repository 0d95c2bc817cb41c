package httpapi_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"devplatform/infra/edgetest"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
)

// postStream starts an HTTP server with the handler, and sends a request to its stream endpoint.
func postStream(t *testing.T, h http.Handler, body string) *http.Response {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/api/stream", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Cookie", "__Host-session=old")
	r.Header.Set("Origin", "https://app.example.com")
	res, err := server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = res.Body.Close() })
	return res
}

// TestEventStreamIsNotBuffered checks that the client receives each part of a stream before the handler writes the next
// one.
func TestEventStreamIsNotBuffered(t *testing.T) {
	t.Parallel()
	received := make(chan bool)
	router, log := edgetest.StreamRouter(func(_ context.Context, s *httpapi.EventStream) error {
		_, _ = io.WriteString(s, "data: ")
		for _, chunk := range []string{"1\n\n", "2\n\n", "3\n\n"} {
			edgetest.WriteChunk(t, s, chunk)
			s.Header().Set("X-Late", "1")
			<-received
		}
		return nil
	})
	res := postStream(t, router, `{}`)
	edgetest.CheckHeaders(t, edgetest.Response{Status: res.StatusCode, Header: res.Header})
	if got := res.Header["Set-Cookie"]; len(got) != 1 || !strings.Contains(got[0], "fresh") {
		t.Errorf("got Set-Cookie %q, want the cookie of the renewed session", got)
	}
	for name, want := range map[string]string{
		"Content-Type":                "text/event-stream",
		"Access-Control-Allow-Origin": "https://app.example.com",
		"Content-Length":              "",
		"X-Late":                      "",
	} {
		if got := res.Header.Get(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	for _, want := range []string{"data: 1\n\n", "2\n\n", "3\n\n"} {
		got := make([]byte, len(want))
		if _, err := io.ReadFull(res.Body, got); err != nil || string(got) != want {
			t.Fatalf("received %q, error %v, want %q", got, err, want)
		}
		if lines := log.Lines(t); len(lines) > 0 {
			t.Errorf("the request was logged before the stream ended: %v", lines)
		}
		received <- true
	}
	if rest, err := io.ReadAll(res.Body); err != nil || len(rest) > 0 {
		t.Errorf("received %q, error %v, want the end of the stream", rest, err)
	}
	edgetest.WantLine(t, log, "INFO", 200, "")
}

// TestEventStreamPanicAfterFlush checks that the client detects an incomplete response if the handler panics after the
// first flush.
func TestEventStreamPanicAfterFlush(t *testing.T) {
	t.Parallel()
	router, log := edgetest.StreamRouter(func(_ context.Context, s *httpapi.EventStream) error {
		edgetest.WriteChunk(t, s, "data: 1\n\n")
		panic("secret-detail")
	})
	res := postStream(t, router, `{}`)
	body, err := io.ReadAll(res.Body)
	if string(body) != "data: 1\n\n" || !errors.Is(err, io.ErrUnexpectedEOF) || res.StatusCode != 200 {
		t.Errorf("received %d %q, error %v, want 200, the first event and an unexpected EOF", res.StatusCode, body, err)
	}
	line := edgetest.WantLine(t, log, "ERROR", 200, fault.CodeInternal)
	if cause, _ := line["cause"].(string); !strings.Contains(cause, "secret-detail") {
		t.Errorf("logged the cause %q, want secret-detail in it", cause)
	}
}

func TestEventStreamErrorBeforeFlush(t *testing.T) {
	t.Parallel()
	unavailable := fault.New(fault.CodeAIUnavailable, "The model is unavailable.").
		WithHeader("Retry-After", "7").WithCause(errors.New("secret-detail"))
	for name, tc := range map[string]struct {
		body   string
		write  edgetest.StreamFunc
		status int
		code   fault.Code
	}{
		"error before the stream": {body: `{"fail":true}`, status: 409, code: fault.CodeConflict},
		"invalid body":            {body: `{"fail":7}`, status: 400, code: fault.CodeValidationFailed},
		"error of the handler": {
			body: `{}`,
			write: func(_ context.Context, s *httpapi.EventStream) error {
				return unavailable
			},
			status: 503,
			code:   fault.CodeAIUnavailable,
		},
		"error after a write": {
			body: `{}`,
			write: func(_ context.Context, s *httpapi.EventStream) error {
				s.WriteHeader(http.StatusTeapot)
				_, _ = io.WriteString(s, "data: 1\n\n")
				return unavailable
			},
			status: 503,
			code:   fault.CodeAIUnavailable,
		},
		"panic after a write": {
			body: `{}`,
			write: func(_ context.Context, s *httpapi.EventStream) error {
				_, _ = io.WriteString(s, "data: 1\n\n")
				panic("secret-detail")
			},
			status: 500,
			code:   fault.CodeInternal,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			router, log := edgetest.StreamRouter(tc.write)
			res := postStream(t, router, tc.body)
			body, err := io.ReadAll(res.Body)
			if err != nil {
				t.Fatal(err)
			}
			response := edgetest.Response{Status: res.StatusCode, Header: res.Header, Body: string(body)}
			edgetest.CheckHeaders(t, response)
			edgetest.WantError(t, response, tc.status, tc.code)
			if name == "error of the handler" && (res.Header.Get("Retry-After") != "7" ||
				len(res.Header["Set-Cookie"]) != 1 || res.Header.Get("Access-Control-Allow-Origin") == "") {
				t.Errorf("got the headers %v, want Retry-After, Set-Cookie and Access-Control-Allow-Origin", res.Header)
			}
			level := "INFO"
			if tc.status >= 500 {
				level = "ERROR"
			}
			edgetest.WantLine(t, log, level, tc.status, tc.code)
		})
	}
}

// TestEventStreamErrorAfterFlush checks that an error after the first flush is logged and not sent. The handler must
// report it in the stream.
func TestEventStreamErrorAfterFlush(t *testing.T) {
	t.Parallel()
	router, log := edgetest.StreamRouter(func(_ context.Context, s *httpapi.EventStream) error {
		edgetest.WriteChunk(t, s, "data: 1\n\n")
		edgetest.WriteChunk(t, s, "data: 2\n\n")
		return fault.New(fault.CodeAIUnavailable, "The model is unavailable.").WithCause(errors.New("secret-detail"))
	})
	res := postStream(t, router, `{}`)
	if body, err := io.ReadAll(res.Body); err != nil || string(body) != "data: 1\n\ndata: 2\n\n" {
		t.Errorf("received %q, error %v, want both events", body, err)
	}
	line := edgetest.WantLine(t, log, "ERROR", 200, fault.CodeAIUnavailable)
	if cause, _ := line["cause"].(string); !strings.Contains(cause, "secret-detail") {
		t.Errorf("logged the cause %q, want secret-detail in it", cause)
	}
}
