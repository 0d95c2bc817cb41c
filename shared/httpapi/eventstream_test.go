package httpapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/go-cmp/cmp"

	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
)

// streamRouter has one operation, POST /api/stream, that runs play.
func streamRouter(play func(context.Context, *httpapi.EventStream)) (http.Handler, *log) {
	l := &log{}
	register := func(h huma.API) { registerStream(h, play) }
	return httpapi.NewRouter(httpapi.Config{
		Name: "test", Version: "1", Edge: trusting, Logger: slog.New(slog.NewJSONHandler(l, nil)),
		Auth: sessions{}, Clock: func() time.Time { return noon },
	}, register), l
}

func registerStream(h huma.API, play func(context.Context, *httpapi.EventStream)) {
	op := httpapi.Operation{
		ID: "stream", Method: http.MethodPost, Path: "/api/stream", Session: true, Events: true,
		Errors: []*fault.Error{fault.New(fault.CodeAIUnavailable, "Away."), fault.New(fault.CodeConflict, "No.")},
	}
	type input struct {
		Body struct {
			Fail bool `json:"fail,omitempty"`
		}
	}
	httpapi.Register(h, op, func(_ context.Context, in *input) (*huma.StreamResponse, error) {
		if in.Body.Fail {
			return nil, fault.New(fault.CodeConflict, "No.")
		}
		return &huma.StreamResponse{Body: func(ctx huma.Context) { play(ctx.Context(), httpapi.EventStreamOf(ctx)) }}, nil
	})
}

// say writes and flushes.
func say(t *testing.T, s *httpapi.EventStream, text string) {
	t.Helper()
	if s.Header().Get("Content-Type") == "" {
		s.Header().Set("Content-Type", "text/event-stream")
	}
	if _, err := io.WriteString(s, text); err != nil {
		t.Errorf("write: %v", err)
	}
	if err := http.NewResponseController(s).Flush(); err != nil {
		t.Errorf("flush: %v", err)
	}
}

// dial posts to a server over the wire.
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

// TestAStreamPassesTheEdgeAtOnce reads each piece before the next one is written.
func TestAStreamPassesTheEdgeAtOnce(t *testing.T) {
	t.Parallel()
	next := make(chan bool)
	router, log := streamRouter(func(_ context.Context, s *httpapi.EventStream) {
		_, _ = io.WriteString(s, "data: ")
		for _, piece := range []string{"1\n\n", "2\n\n", "3\n\n"} {
			say(t, s, piece)
			s.Header().Set("X-Late", "1")
			<-next
		}
	})
	res := dial(t, router, `{}`)
	checkHeaders(t, answer{status: res.StatusCode, header: res.Header})
	if got := res.Header["Set-Cookie"]; len(got) != 1 || !strings.Contains(got[0], "fresh") {
		t.Errorf("the prolonged session: %q", got)
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
		if lines := log.lines(t); len(lines) > 0 {
			t.Errorf("logged before the end: %v", lines)
		}
		next <- true
	}
	if rest, err := io.ReadAll(res.Body); err != nil || len(rest) > 0 {
		t.Errorf("then %q, %v", rest, err)
	}
	wantLine(t, log, "INFO", 200, "")
}

// wantLine holds the request's one line.
func wantLine(t *testing.T, log *log, level string, status int, code fault.Code) map[string]any {
	t.Helper()
	lines := log.lines(t)
	if len(lines) != 1 {
		t.Fatalf("%d lines: %v", len(lines), lines)
	}
	line := lines[0]
	got, _ := line["code"].(string)
	if line["level"] != level || line["status"] != float64(status) || got != string(code) || line["operation"] != "POST /api/stream" {
		t.Errorf("logged %v, want %s %d %s", line, level, status, code)
	}
	return line
}

// TestAStreamThatBreaksIsCut holds that a reader can tell half an answer from a whole one.
func TestAStreamThatBreaksIsCut(t *testing.T) {
	t.Parallel()
	router, log := streamRouter(func(_ context.Context, s *httpapi.EventStream) {
		say(t, s, "data: 1\n\n")
		panic("secret-detail")
	})
	res := dial(t, router, `{}`)
	body, err := io.ReadAll(res.Body)
	if string(body) != "data: 1\n\n" || !errors.Is(err, io.ErrUnexpectedEOF) || res.StatusCode != 200 {
		t.Errorf("%d %q, %v", res.StatusCode, body, err)
	}
	if cause, _ := wantLine(t, log, "ERROR", 200, fault.CodeInternal)["cause"].(string); !strings.Contains(cause, "secret-detail") {
		t.Errorf("the log says %q", cause)
	}
}

func TestAStreamThatHasNotBegunIsAnOrdinaryError(t *testing.T) {
	t.Parallel()
	busy := fault.New(fault.CodeAIUnavailable, "Busy.").WithHeader("Retry-After", "7").WithCause(errors.New("secret-detail"))
	for name, tc := range map[string]struct {
		body   string
		play   func(context.Context, *httpapi.EventStream)
		status int
		code   fault.Code
	}{
		"returned": {`{"fail":true}`, nil, 409, fault.CodeConflict},
		"invalid":  {`{"fail":7}`, nil, 400, fault.CodeValidationFailed},
		"failed": {`{}`, func(_ context.Context, s *httpapi.EventStream) {
			if !s.Fail(busy) {
				t.Error("nothing was sent yet")
			}
		}, 503, fault.CodeAIUnavailable},
		"failed after something was written": {`{}`, func(_ context.Context, s *httpapi.EventStream) {
			s.WriteHeader(http.StatusTeapot)
			_, _ = io.WriteString(s, "data: 1\n\n")
			s.Fail(busy)
		}, 503, fault.CodeAIUnavailable},
		"panicked": {`{}`, func(_ context.Context, s *httpapi.EventStream) {
			_, _ = io.WriteString(s, "data: 1\n\n")
			panic("secret-detail")
		}, 500, fault.CodeInternal},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			router, log := streamRouter(tc.play)
			res := dial(t, router, tc.body)
			body, err := io.ReadAll(res.Body)
			if err != nil {
				t.Fatal(err)
			}
			a := answer{status: res.StatusCode, header: res.Header, body: string(body)}
			checkHeaders(t, a)
			wantError(t, a, tc.status, tc.code)
			if name == "failed" && (res.Header.Get("Retry-After") != "7" || len(res.Header["Set-Cookie"]) != 1 || res.Header.Get("Access-Control-Allow-Origin") == "") {
				t.Errorf("headers %v", res.Header)
			}
			level := "INFO"
			if tc.status >= 500 {
				level = "ERROR"
			}
			wantLine(t, log, level, tc.status, tc.code)
		})
	}
}

// TestAStreamThatFailsHalfWayIsLogged leaves it to the stream to tell its reader.
func TestAStreamThatFailsHalfWayIsLogged(t *testing.T) {
	t.Parallel()
	router, log := streamRouter(func(_ context.Context, s *httpapi.EventStream) {
		say(t, s, "data: 1\n\n")
		if s.Fail(fault.New(fault.CodeAIUnavailable, "Busy.").WithCause(errors.New("secret-detail"))) {
			t.Error("it has begun")
		}
		say(t, s, "data: 2\n\n")
	})
	res := dial(t, router, `{}`)
	if body, err := io.ReadAll(res.Body); err != nil || string(body) != "data: 1\n\ndata: 2\n\n" {
		t.Errorf("%q, %v", body, err)
	}
	if cause, _ := wantLine(t, log, "ERROR", 200, fault.CodeAIUnavailable)["cause"].(string); !strings.Contains(cause, "secret-detail") {
		t.Errorf("the log says %q", cause)
	}
}

func TestTheDocumentKnowsStreams(t *testing.T) {
	t.Parallel()
	data, err := httpapi.OpenAPI(httpapi.Config{Name: "test", Version: "1"}, func(h huma.API) { registerStream(h, nil) })
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Paths map[string]map[string]struct {
			Responses map[string]struct {
				Description string
				Content     map[string]any
			}
		}
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	responses := doc.Paths["/api/stream"]["post"].Responses
	want := map[string]any{"text/event-stream": map[string]any{"schema": map[string]any{"type": "string"}}}
	if diff := cmp.Diff(want, responses["200"].Content); diff != "" {
		t.Error(diff)
	}
	if _, ok := responses["503"].Content["application/json"]; !ok || responses["503"].Description != "AI_UNAVAILABLE, SERVICE_UNAVAILABLE" {
		t.Errorf("%+v", responses["503"])
	}
}
