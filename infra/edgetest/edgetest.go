// Package edgetest contains the code that the tests of the HTTP edge and of its Lambda adapters share: a router with
// one endpoint of each kind, requests, and checks of the properties that every response must have.
package edgetest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
)

// Noon is the time of every request.
var Noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// Sessions is an Authenticator that knows three tokens. "good" is valid. "old" is valid and is renewed. "down" fails,
// because storage is unavailable.
type Sessions struct{}

// Authenticate implements httpapi.Authenticator.
func (Sessions) Authenticate(ctx context.Context, token string) (context.Context, httpapi.Caller, error) {
	ada := httpapi.NewCaller("usr_ada", "ses_1")
	switch token {
	case "good":
		return ctx, ada.Complete(httpapi.Account{}, nil), nil
	case "old":
		renewal := &httpapi.Renewal{Token: "fresh", Expires: Noon.Add(7 * 24 * time.Hour)}
		return ctx, ada.Complete(httpapi.Account{}, renewal), nil
	case "down":
		return ctx, httpapi.Caller{}, db.ErrUnavailable
	default:
		return ctx, httpapi.Caller{}, httpapi.ErrNoSession
	}
}

type signupInput struct {
	Body struct {
		Email    string `json:"email" maxLength:"254"`
		Password string `json:"password" minLength:"8" maxLength:"128"`
		Age      int    `json:"age,omitempty" minimum:"1"`
		Tags     []struct {
			Name string `json:"name"`
			Note string `json:"note,omitempty"`
		} `json:"tags,omitempty" maxItems:"50"`
		Nick *string `json:"nick,omitempty" nullable:"true"`
	}
}

// EchoOutput is the output of most endpoints.
type EchoOutput struct {
	Body struct {
		Email string `json:"email"` // of the input, or the ID of the caller
		Size  int    `json:"size"`  // of the password of the input, in bytes
	}
}

type cookieOutput struct {
	SetCookie []string `header:"Set-Cookie"`
	Body      struct {
		Token string `json:"token"`
	}
}

type queryInput struct {
	Limit int    `query:"limit" minimum:"1" maximum:"100"`
	Name  string `query:"name"`
}

type infoOutput struct{ Body httpapi.RequestInfo }

type emptyInput struct{}

// Register registers one endpoint of each kind that the edge distinguishes.
func Register(r *httpapi.Routes) {
	signup := httpapi.Operation{
		ID: "signup", Method: http.MethodPost, Path: "/api/signup", Status: http.StatusCreated,
		Tag:    httpapi.Tag{Name: "auth", Description: "Accounts."},
		Errors: []*fault.Error{fault.New(fault.CodeUserExists, "The user already exists.")},
	}
	httpapi.Public(r, signup,
		func(_ context.Context, in *signupInput) (*EchoOutput, error) {
			out := &EchoOutput{}
			out.Body.Email, out.Body.Size = in.Body.Email, len(in.Body.Password)
			return out, nil
		})
	httpapi.Public(r, httpapi.Operation{ID: "login", Method: http.MethodPost, Path: "/api/login"},
		func(ctx context.Context, _ *emptyInput) (*cookieOutput, error) {
			return &cookieOutput{SetCookie: httpapi.SessionCookies(ctx, "good", Noon.Add(time.Hour))}, nil
		})
	httpapi.Public(r, httpapi.Operation{ID: "logout", Method: http.MethodPost, Path: "/api/logout"},
		func(ctx context.Context, _ *emptyInput) (*cookieOutput, error) {
			out := &cookieOutput{SetCookie: httpapi.ClearedCookies(ctx)}
			out.Body.Token = httpapi.SessionToken(ctx)
			return out, nil
		})
	httpapi.Private(r, httpapi.Operation{ID: "me", Method: http.MethodGet, Path: "/api/me"},
		func(_ context.Context, caller httpapi.Caller, _ *emptyInput) (*EchoOutput, error) {
			out := &EchoOutput{}
			out.Body.Email = caller.UserID
			return out, nil
		})
	httpapi.Public(r, httpapi.Operation{ID: "list", Method: http.MethodGet, Path: "/api/list"},
		func(context.Context, *queryInput) (*EchoOutput, error) { return &EchoOutput{}, nil })
	httpapi.Public(r, httpapi.Operation{ID: "info", Method: http.MethodGet, Path: "/api/info"},
		func(ctx context.Context, _ *emptyInput) (*infoOutput, error) {
			return &infoOutput{Body: httpapi.RequestInfoFrom(ctx)}, nil
		})
	httpapi.Public(r, httpapi.Operation{ID: "item", Method: http.MethodDelete, Path: "/api/items/{id}"},
		func(context.Context, *struct {
			ID string `path:"id"`
		}) (*EchoOutput, error) {
			return &EchoOutput{}, nil
		})
	for name, err := range failures {
		httpapi.Public(r, httpapi.Operation{ID: "fail-" + name, Method: http.MethodGet, Path: "/api/fail/" + name},
			func(context.Context, *emptyInput) (*EchoOutput, error) { return nil, err })
	}
	httpapi.Public(r, httpapi.Operation{ID: "panic", Method: http.MethodGet, Path: "/api/panic"},
		func(context.Context, *emptyInput) (*EchoOutput, error) { panic("secret-detail") })
	httpapi.Public(r, httpapi.Operation{ID: "broken", Method: http.MethodGet, Path: "/api/broken"},
		func(context.Context, *emptyInput) (*struct {
			Body any
			Leak string `header:"X-Leak"`
		}, error) {
			return &struct {
				Body any
				Leak string `header:"X-Leak"`
			}{Body: func() {}, Leak: "x"}, nil
		})
}

// failures are the errors of the endpoints /api/fail/<name>.
var failures = map[string]error{
	"known": fault.New(fault.CodeUserExists, "The user already exists.").WithCause(errors.New("secret-detail")),
	"wrapped": errors.Join(
		errors.New("secret-detail"), fault.New(fault.CodeSessionNotFound, "The session does not exist.")),
	"headers":   fault.New(fault.CodeAuthRateLimited, "Too many attempts.").WithHeader("Retry-After", "7"),
	"conflict":  errors.Join(db.ErrConflict, errors.New("secret-detail")),
	"storage":   errors.Join(db.ErrUnavailable, errors.New("secret-detail")),
	"keys":      errors.Join(config.ErrUnavailable, errors.New("secret-detail")),
	"not-found": db.ErrNotFound,
	"unknown":   errors.New("secret-detail"),
	"deadline":  context.DeadlineExceeded,
}

// Log records the request log.
type Log struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write implements io.Writer.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.buf.Write(p)
	return len(p), nil
}

// Lines returns the lines of the log.
func (l *Log) Lines(t *testing.T) []map[string]any {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	var lines []map[string]any
	for line := range strings.Lines(l.buf.String()) {
		var fields map[string]any
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Fatalf("the log line %s is not valid JSON: %v", line, err)
		}
		lines = append(lines, fields)
	}
	return lines
}

// NewRouter returns a router with all endpoints, and its request log.
func NewRouter(edge config.Edge) (http.Handler, *Log) {
	l := &Log{}
	return httpapi.NewRouter(httpapi.Config{
		Edge: edge, Logger: slog.New(slog.NewJSONHandler(l, nil)),
		Auth: Sessions{}, Clock: Clock,
	}, Register), l
}

// Response is a complete HTTP response.
type Response struct {
	Status int
	Header http.Header
	Body   string
}

// Request is an HTTP request for a router.
type Request struct {
	Method, Target, Body string
	Header               map[string]string
}

// Send sends the request to a router, and checks the headers of the response.
func (r Request) Send(t *testing.T, h http.Handler) Response {
	t.Helper()
	req := httptest.NewRequestWithContext(t.Context(), r.Method, r.Target, strings.NewReader(r.Body))
	for k, v := range r.Header {
		req.Header.Set(k, v)
	}
	recorder := httptest.NewRecorder()
	h.ServeHTTP(recorder, req)
	response := Response{Status: recorder.Code, Header: recorder.Result().Header, Body: recorder.Body.String()}
	CheckHeaders(t, response)
	return response
}

// CheckHeaders checks the headers that every response has.
func CheckHeaders(t *testing.T, response Response) {
	t.Helper()
	for name, want := range map[string]string{
		"Cache-Control":             "no-store",
		"X-Content-Type-Options":    "nosniff",
		"Referrer-Policy":           "no-referrer",
		"Strict-Transport-Security": "max-age=31536000; includeSubDomains",
		"Content-Security-Policy":   "default-src 'none'; frame-ancestors 'none'",
	} {
		if got := response.Header[name]; len(got) != 1 || got[0] != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	if response.Header.Get("X-Request-Id") == "" {
		t.Error("the response has no X-Request-Id")
	}
	if len(response.Body) > 0 && response.Header.Get("Content-Type") != "application/json" {
		t.Errorf("got Content-Type %q for the body %s, want application/json",
			response.Header.Get("Content-Type"), response.Body)
	}
}

// WantError checks that a response is an error in the API's format, with this status and code. It returns the message.
func WantError(t *testing.T, response Response, status int, code fault.Code) string {
	t.Helper()
	var fields map[string]string
	if err := json.Unmarshal([]byte(response.Body), &fields); err != nil || len(fields) != 2 || fields["error"] == "" {
		t.Fatalf("got %d %s, want an error response with the fields error and code", response.Status, response.Body)
	}
	if response.Status != status || fields["code"] != string(code) {
		t.Errorf("got %d %s, want %d %s", response.Status, response.Body, status, code)
	}
	if strings.Contains(response.Body, "secret-detail") {
		t.Errorf("the response reveals an internal detail: %s", response.Body)
	}
	return fields["error"]
}

// DiscardLog is a logger that writes nothing.
var DiscardLog = slog.New(slog.DiscardHandler)

// Clock returns Noon.
func Clock() time.Time { return Noon }
