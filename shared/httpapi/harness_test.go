package httpapi_test

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

	"github.com/danielgtaylor/huma/v2"

	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// sessions knows one good token, one that is to be renewed, and a store that is down.
type sessions struct{}

func (sessions) Authenticate(_ context.Context, token string) (httpapi.Caller, *httpapi.Renewal, error) {
	ada := httpapi.Caller{UserID: "usr_ada", SessionID: "ses_1"}
	switch token {
	case "good":
		return ada, nil, nil
	case "old":
		return ada, &httpapi.Renewal{Token: "fresh", Expires: noon.Add(7 * 24 * time.Hour)}, nil
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
		Any  any            `json:"any,omitempty"`
		By   map[string]int `json:"by,omitempty"`
	}
}

type echoOutput struct {
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
	Site  string `query:"site" format:"uri"`
}

type infoOutput struct{ Body httpapi.RequestInfo }

type none struct{}

// register adds one operation of every sort that the edge tells apart.
func register(h huma.API) {
	httpapi.Register(h, httpapi.Operation{ID: "signup", Method: http.MethodPost, Path: "/api/signup", Status: http.StatusCreated, Tag: httpapi.Tag{Name: "auth", Description: "Accounts."}, Errors: []*fault.Error{fault.New(fault.CodeUserExists, "Taken.")}},
		func(_ context.Context, in *signupInput) (*echoOutput, error) {
			out := &echoOutput{}
			out.Body.Email, out.Body.Size = in.Body.Email, len(in.Body.Password)
			return out, nil
		})
	httpapi.Register(h, httpapi.Operation{ID: "login", Method: http.MethodPost, Path: "/api/login"},
		func(ctx context.Context, _ *none) (*cookieOutput, error) {
			return &cookieOutput{SetCookie: httpapi.SessionCookies(ctx, "good", noon.Add(time.Hour))}, nil
		})
	httpapi.Register(h, httpapi.Operation{ID: "logout", Method: http.MethodPost, Path: "/api/logout"},
		func(ctx context.Context, _ *none) (*cookieOutput, error) {
			out := &cookieOutput{SetCookie: httpapi.ClearedCookies(ctx)}
			out.Body.Token = httpapi.SessionToken(ctx)
			return out, nil
		})
	httpapi.Register(h, httpapi.Operation{ID: "me", Method: http.MethodGet, Path: "/api/me", Session: true},
		func(ctx context.Context, _ *none) (*echoOutput, error) {
			out := &echoOutput{}
			out.Body.Email = httpapi.CallerFrom(ctx).UserID
			return out, nil
		})
	httpapi.Register(h, httpapi.Operation{ID: "list", Method: http.MethodGet, Path: "/api/list"},
		func(context.Context, *queryInput) (*echoOutput, error) { return &echoOutput{}, nil })
	httpapi.Register(h, httpapi.Operation{ID: "info", Method: http.MethodGet, Path: "/api/info"},
		func(ctx context.Context, _ *none) (*infoOutput, error) {
			return &infoOutput{Body: httpapi.RequestInfoFrom(ctx)}, nil
		})
	httpapi.Register(h, httpapi.Operation{ID: "item", Method: http.MethodDelete, Path: "/api/items/{id}"},
		func(context.Context, *struct {
			ID string `path:"id"`
		}) (*echoOutput, error) {
			return &echoOutput{}, nil
		})
	for name, err := range failures {
		httpapi.Register(h, httpapi.Operation{ID: "fail-" + name, Method: http.MethodGet, Path: "/api/fail/" + name},
			func(context.Context, *none) (*echoOutput, error) { return nil, err })
	}
	httpapi.Register(h, httpapi.Operation{ID: "panic", Method: http.MethodGet, Path: "/api/panic"},
		func(context.Context, *none) (*echoOutput, error) { panic("secret-detail") })
	huma.Register(h, huma.Operation{OperationID: "broken", Method: http.MethodGet, Path: "/api/broken"},
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

var failures = map[string]error{
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

// log collects the request log.
type log struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *log) lines(t *testing.T) []map[string]any {
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

func newRouter(edge config.Edge) (http.Handler, *log) {
	l := &log{}
	return httpapi.NewRouter(httpapi.Config{
		Name: "test", Version: "1", Edge: edge, Logger: slog.New(slog.NewJSONHandler(l, nil)),
		Auth: sessions{}, Clock: func() time.Time { return noon },
	}, register), l
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   string
}

// request is one to be sent to a router.
type request struct {
	method, target, body string
	header               map[string]string
}

func (r request) send(t *testing.T, h http.Handler) answer {
	t.Helper()
	req := httptest.NewRequest(r.method, r.target, strings.NewReader(r.body))
	for k, v := range r.header {
		req.Header.Set(k, v)
	}
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, req)
	data, err := io.ReadAll(rec.Body)
	if err != nil {
		t.Fatal(err)
	}
	a := answer{status: rec.Code, header: rec.Result().Header, body: string(data)}
	checkHeaders(t, a)
	return a
}

// checkHeaders holds what API.md §1 says of every answer.
func checkHeaders(t *testing.T, a answer) {
	t.Helper()
	for name, want := range map[string]string{
		"Cache-Control":             "no-store",
		"X-Content-Type-Options":    "nosniff",
		"Referrer-Policy":           "no-referrer",
		"Strict-Transport-Security": "max-age=31536000; includeSubDomains",
		"Content-Security-Policy":   "default-src 'none'; frame-ancestors 'none'",
	} {
		if got := a.header[name]; len(got) != 1 || got[0] != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	if a.header.Get("X-Request-Id") == "" {
		t.Error("no X-Request-Id")
	}
	if len(a.body) > 0 && a.header.Get("Content-Type") != "application/json" {
		t.Errorf("Content-Type %q of %s", a.header.Get("Content-Type"), a.body)
	}
}

// wantError holds the shape of an error answer: two fields and no more.
func wantError(t *testing.T, a answer, status int, code fault.Code) string {
	t.Helper()
	var fields map[string]string
	if err := json.Unmarshal([]byte(a.body), &fields); err != nil || len(fields) != 2 || fields["error"] == "" {
		t.Fatalf("not the shape of an error: %d %s", a.status, a.body)
	}
	if a.status != status || fields["code"] != string(code) {
		t.Errorf("got %d %s, want %d %s", a.status, a.body, status, code)
	}
	if strings.Contains(a.body, "secret-detail") {
		t.Errorf("leaks: %s", a.body)
	}
	return fields["error"]
}

var discardLog = slog.New(slog.DiscardHandler)

func edgeClock() time.Time { return noon }
