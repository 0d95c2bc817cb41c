// Package edgetest contains the code that the tests of the HTTP edge and of its Lambda adapters share: a router with
// one endpoint of each kind, requests, and checks of the properties that every response must have.
package edgetest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
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

// Sessions is an Authenticator with three tokens: "good" is valid, "old" is valid and renewed, and for "down" the store
// is unavailable.
type Sessions struct{}

// Authenticate implements httpapi.Authenticator.
func (Sessions) Authenticate(_ context.Context, token string) (httpapi.Caller, *httpapi.Renewal, error) {
	ada := httpapi.Caller{UserID: "usr_ada", SessionID: "ses_1"}
	switch token {
	case "good":
		return ada, nil, nil
	case "old":
		return ada, &httpapi.Renewal{Token: "fresh", Expires: Noon.Add(7 * 24 * time.Hour)}, nil
	case "down":
		return httpapi.Caller{}, nil, errors.Join(db.ErrUnavailable)
	default:
		return httpapi.Caller{}, nil, fault.New(fault.CodeInvalidToken, "The session is missing or has ended.")
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
		} `json:"tags,omitempty"`
		Nick *string        `json:"nick,omitempty" nullable:"true"`
		By   map[string]int `json:"by,omitempty"`
	}
}

// EchoOutput is the output of most endpoints. It contains some values of the input.
type EchoOutput struct {
	Body struct {
		Email string `json:"email"`
		Size  int    `json:"size"`
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

type none struct{}

// Register registers one endpoint of each kind that the edge distinguishes.
func Register(r *httpapi.Routes) {
	httpapi.Public(r, httpapi.Operation{ID: "signup", Method: http.MethodPost, Path: "/api/signup", Status: http.StatusCreated, Tag: httpapi.Tag{Name: "auth", Description: "Accounts."}, Errors: []*fault.Error{fault.New(fault.CodeUserExists, "Taken.")}},
		func(_ context.Context, in *signupInput) (*EchoOutput, error) {
			out := &EchoOutput{}
			out.Body.Email, out.Body.Size = in.Body.Email, len(in.Body.Password)
			return out, nil
		})
	httpapi.Public(r, httpapi.Operation{ID: "login", Method: http.MethodPost, Path: "/api/login"},
		func(ctx context.Context, _ *none) (*cookieOutput, error) {
			return &cookieOutput{SetCookie: httpapi.SessionCookies(ctx, "good", Noon.Add(time.Hour))}, nil
		})
	httpapi.Public(r, httpapi.Operation{ID: "logout", Method: http.MethodPost, Path: "/api/logout"},
		func(ctx context.Context, _ *none) (*cookieOutput, error) {
			out := &cookieOutput{SetCookie: httpapi.ClearedCookies(ctx)}
			out.Body.Token = httpapi.SessionToken(ctx)
			return out, nil
		})
	httpapi.Private(r, httpapi.Operation{ID: "me", Method: http.MethodGet, Path: "/api/me"},
		func(_ context.Context, caller httpapi.Caller, _ *none) (*EchoOutput, error) {
			out := &EchoOutput{}
			out.Body.Email = caller.UserID
			return out, nil
		})
	httpapi.Public(r, httpapi.Operation{ID: "list", Method: http.MethodGet, Path: "/api/list"},
		func(context.Context, *queryInput) (*EchoOutput, error) { return &EchoOutput{}, nil })
	httpapi.Public(r, httpapi.Operation{ID: "info", Method: http.MethodGet, Path: "/api/info"},
		func(ctx context.Context, _ *none) (*infoOutput, error) {
			return &infoOutput{Body: httpapi.RequestInfoFrom(ctx)}, nil
		})
	httpapi.Public(r, httpapi.Operation{ID: "item", Method: http.MethodDelete, Path: "/api/items/{id}"},
		func(context.Context, *struct {
			ID string `path:"id"`
		}) (*EchoOutput, error) {
			return &EchoOutput{}, nil
		})
	for name, err := range Failures {
		httpapi.Public(r, httpapi.Operation{ID: "fail-" + name, Method: http.MethodGet, Path: "/api/fail/" + name},
			func(context.Context, *none) (*EchoOutput, error) { return nil, err })
	}
	httpapi.Public(r, httpapi.Operation{ID: "panic", Method: http.MethodGet, Path: "/api/panic"},
		func(context.Context, *none) (*EchoOutput, error) { panic("secret-detail") })
	httpapi.Public(r, httpapi.Operation{ID: "broken", Method: http.MethodGet, Path: "/api/broken"},
		func(context.Context, *none) (*struct {
			Body any
			Leak string `header:"X-Leak"`
		}, error) {
			return &struct {
				Body any
				Leak string `header:"X-Leak"`
			}{Body: func() {}, Leak: "x"}, nil
		})
}

// Failures are the errors of the endpoints /api/fail/<name>.
var Failures = map[string]error{
	"known":       fault.New(fault.CodeUserExists, "Taken.").WithCause(errors.New("secret-detail")),
	"wrapped":     errors.Join(errors.New("secret-detail"), fault.New(fault.CodeSessionNotFound, "No such session.")),
	"headers":     fault.New(fault.CodeAuthRateLimited, "Slow down.").WithHeader("Retry-After", "7"),
	"conflict":    errors.Join(db.ErrConflict, errors.New("secret-detail")),
	"storage":     errors.Join(db.ErrUnavailable, errors.New("secret-detail")),
	"keys":        errors.Join(config.ErrUnavailable, errors.New("secret-detail")),
	"not-found":   db.ErrNotFound,
	"unknown":     errors.New("secret-detail"),
	"unavailable": context.DeadlineExceeded,
}

// Log collects the request log.
type Log struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

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
	var all []map[string]any
	for line := range strings.Lines(l.buf.String()) {
		var fields map[string]any
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		all = append(all, fields)
	}
	return all
}

// NewRouter returns a router with all endpoints, and its request log.
func NewRouter(edge config.Edge) (http.Handler, *Log) {
	l := &Log{}
	return httpapi.NewRouter(httpapi.Config{
		Edge: edge, Logger: slog.New(slog.NewJSONHandler(l, nil)),
		Auth: Sessions{}, Clock: func() time.Time { return Noon },
	}, Register), l
}

// Response is a response.
type Response struct {
	Status int
	Header http.Header
	Body   string
}

// Request is a request that Send sends to a router.
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
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, req)
	data, err := io.ReadAll(rec.Body)
	if err != nil {
		t.Fatal(err)
	}
	a := Response{Status: rec.Code, Header: rec.Result().Header, Body: string(data)}
	CheckHeaders(t, a)
	return a
}

// CheckHeaders checks the headers that every response has.
func CheckHeaders(t *testing.T, a Response) {
	t.Helper()
	for name, want := range map[string]string{
		"Cache-Control":             "no-store",
		"X-Content-Type-Options":    "nosniff",
		"Referrer-Policy":           "no-referrer",
		"Strict-Transport-Security": "max-age=31536000; includeSubDomains",
		"Content-Security-Policy":   "default-src 'none'; frame-ancestors 'none'",
	} {
		if got := a.Header[name]; len(got) != 1 || got[0] != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if a.Header.Get("X-Request-Id") == "" {
		t.Error("no X-Request-Id")
	}
	if len(a.Body) > 0 && a.Header.Get("Content-Type") != "application/json" {
		t.Errorf("Content-Type %q of %s", a.Header.Get("Content-Type"), a.Body)
	}
}

// WantError checks that a response is an error with exactly two fields. It returns the message.
func WantError(t *testing.T, a Response, status int, code fault.Code) string {
	t.Helper()
	var fields map[string]string
	if err := json.Unmarshal([]byte(a.Body), &fields); err != nil || len(fields) != 2 || fields["error"] == "" {
		t.Fatalf("not in the format of an error: %d %s", a.Status, a.Body)
	}
	if a.Status != status || fields["code"] != string(code) {
		t.Errorf("got %d %s, want %d %s", a.Status, a.Body, status, code)
	}
	if strings.Contains(a.Body, "secret-detail") {
		t.Errorf("the response reveals an internal detail: %s", a.Body)
	}
	return fields["error"]
}

// DiscardLog is a logger that writes nothing.
var DiscardLog = slog.New(slog.DiscardHandler)

// Clock returns Noon.
func Clock() time.Time { return Noon }
