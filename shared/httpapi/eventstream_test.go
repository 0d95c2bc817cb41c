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

// dial sends a POST request to a server of h over a connection.
func dial(t *testing.T, h http.Handler, body string) *http.Response {
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

// The client receives each part of a stream before the handler writes the next one.
func TestEventStreamIsNotBuffered(t *testing.T) {
	t.Parallel()
	next := make(chan bool)
	router, log := edgetest.StreamRouter(func(_ context.Context, s *httpapi.EventStream) error {
		_, _ = io.WriteString(s, "data: ")
		for _, piece := range []string{"1\n\n", "2\n\n", "3\n\n"} {
			edgetest.WriteChunk(t, s, piece)
			s.Header().Set("X-Late", "1")
			<-next
		}
		return nil
	})
	res := dial(t, router, `{}`)
	edgetest.CheckHeaders(t, edgetest.Response{Status: res.StatusCode, Header: res.Header})
	if got := res.Header["Set-Cookie"]; len(got) != 1 || !strings.Contains(got[0], "fresh") {
		t.Errorf("the renewed session's cookie: %q", got)
	}
	for name, want := range map[string]string{
		"Content-Type": "text/event-stream", "Access-Control-Allow-Origin": "https://app.example.com", "Content-Length": "", "X-Late": "",
	} {
		if got := res.Header.Get(name); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	for _, want := range []string{"data: 1\n\n", "2\n\n", "3\n\n"} {
		got := make([]byte, len(want))
		if _, err := io.ReadFull(res.Body, got); err != nil || string(got) != want {
			t.Fatalf("%q, %v; want %q", got, err, want)
		}
		if lines := log.Lines(t); len(lines) > 0 {
			t.Errorf("logged before the end: %v", lines)
		}
		next <- true
	}
	if rest, err := io.ReadAll(res.Body); err != nil || len(rest) > 0 {
		t.Errorf("then %q, %v", rest, err)
	}
	edgetest.WantLine(t, log, "INFO", 200, "")
}

// If the handler panics after the first flush, the client sees that the response is incomplete.
func TestEventStreamPanicAfterFlush(t *testing.T) {
	t.Parallel()
	router, log := edgetest.StreamRouter(func(_ context.Context, s *httpapi.EventStream) error {
		edgetest.WriteChunk(t, s, "data: 1\n\n")
		panic("secret-detail")
	})
	res := dial(t, router, `{}`)
	body, err := io.ReadAll(res.Body)
	if string(body) != "data: 1\n\n" || !errors.Is(err, io.ErrUnexpectedEOF) || res.StatusCode != 200 {
		t.Errorf("%d %q, %v", res.StatusCode, body, err)
	}
	if cause, _ := edgetest.WantLine(t, log, "ERROR", 200, fault.CodeInternal)["cause"].(string); !strings.Contains(cause, "secret-detail") {
		t.Errorf("the logged cause is %q", cause)
	}
}

func TestEventStreamErrorBeforeFlush(t *testing.T) {
	t.Parallel()
	busy := fault.New(fault.CodeAIUnavailable, "Busy.").WithHeader("Retry-After", "7").WithCause(errors.New("secret-detail"))
	for name, tc := range map[string]struct {
		body   string
		play   edgetest.StreamFunc
		status int
		code   fault.Code
	}{
		"returned": {`{"fail":true}`, nil, 409, fault.CodeConflict},
		"invalid":  {`{"fail":7}`, nil, 400, fault.CodeValidationFailed},
		"failed": {`{}`, func(_ context.Context, s *httpapi.EventStream) error {
			return busy
		}, 503, fault.CodeAIUnavailable},
		"failed after something was written": {`{}`, func(_ context.Context, s *httpapi.EventStream) error {
			s.WriteHeader(http.StatusTeapot)
			_, _ = io.WriteString(s, "data: 1\n\n")
			return busy
		}, 503, fault.CodeAIUnavailable},
		"panicked": {`{}`, func(_ context.Context, s *httpapi.EventStream) error {
			_, _ = io.WriteString(s, "data: 1\n\n")
			panic("secret-detail")
		}, 500, fault.CodeInternal},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			router, log := edgetest.StreamRouter(tc.play)
			res := dial(t, router, tc.body)
			body, err := io.ReadAll(res.Body)
			if err != nil {
				t.Fatal(err)
			}
			a := edgetest.Response{Status: res.StatusCode, Header: res.Header, Body: string(body)}
			edgetest.CheckHeaders(t, a)
			edgetest.WantError(t, a, tc.status, tc.code)
			if name == "failed" && (res.Header.Get("Retry-After") != "7" || len(res.Header["Set-Cookie"]) != 1 || res.Header.Get("Access-Control-Allow-Origin") == "") {
				t.Errorf("headers %v", res.Header)
			}
			level := "INFO"
			if tc.status >= 500 {
				level = "ERROR"
			}
			edgetest.WantLine(t, log, level, tc.status, tc.code)
		})
	}
}

// An error after the first flush is only logged. The handler has to report it in the stream.
func TestEventStreamErrorAfterFlush(t *testing.T) {
	t.Parallel()
	router, log := edgetest.StreamRouter(func(_ context.Context, s *httpapi.EventStream) error {
		edgetest.WriteChunk(t, s, "data: 1\n\n")
		edgetest.WriteChunk(t, s, "data: 2\n\n")
		return fault.New(fault.CodeAIUnavailable, "Busy.").WithCause(errors.New("secret-detail"))
	})
	res := dial(t, router, `{}`)
	if body, err := io.ReadAll(res.Body); err != nil || string(body) != "data: 1\n\ndata: 2\n\n" {
		t.Errorf("%q, %v", body, err)
	}
	if cause, _ := edgetest.WantLine(t, log, "ERROR", 200, fault.CodeAIUnavailable)["cause"].(string); !strings.Contains(cause, "secret-detail") {
		t.Errorf("the logged cause is %q", cause)
	}
}
