package slicetest

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
)

// recorder is a test that notes its failures.
type recorder struct {
	testing.TB

	failures []string
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

// A client's test fails when an answer is not as the API promises, or does not come.
func TestClient(t *testing.T) {
	t.Parallel()
	const error401 = `{"error":"no","code":"AUTH_INVALID_TOKEN"}`
	log := NewLog()
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		slog.New(log).Info("request", "requestId", "r-1", "dynamodbCalls", 3)
		out.Header().Set("Content-Type", "application/json")
		out.Header().Set("X-Request-Id", "r-1")
		if session, err := r.Cookie("session"); err != nil || session.Value != "ada" || r.Header.Get("X-One") != "1" || r.Header.Get("X-All") != "2" {
			t.Errorf("sent %v", r.Header)
		}
		switch r.URL.Path {
		case "/api/auth/me":
			out.WriteHeader(http.StatusUnauthorized)
			_, _ = out.Write([]byte(error401))
		case "/api/more":
			out.WriteHeader(http.StatusNotFound)
			_, _ = out.Write([]byte(`{"error":"no","code":"ROUTE_NOT_FOUND","more":1}`))
		case "/api/unknown":
			_, _ = out.Write([]byte("{}"))
		case "/api/text":
			_, _ = out.Write([]byte("text"))
		default:
			panic(http.ErrAbortHandler)
		}
	}))
	t.Cleanup(server.Close)
	for path, want := range map[string]struct {
		status int
		fails  string
	}{
		"/api/auth/me": {http.StatusUnauthorized, ""},
		"/api/more":    {http.StatusNotFound, "exactly two fields"},
		"/api/unknown": {http.StatusOK, "of an operation that is not in the OpenAPI document"},
		"/api/text":    {http.StatusOK, "invalid character"},
		"/api/gone":    {0, "EOF"},
	} {
		r := &recorder{TB: t}
		c := NewClient(r, server.URL, log)
		c.SessionCalls = 1
		c.SetCookie("session", "ada")
		c.Header.Set("X-All", "2")
		a := c.Do(http.MethodGet, path, nil, Header("X-One", "1"))
		said := strings.Join(r.failures, "; ")
		if a.Status != want.status || (want.fails == "") != (said == "") || !strings.Contains(said, want.fails) {
			t.Errorf("%s: %d, said %q, want %q", path, a.Status, said, want.fails)
		}
		if a.Status > 0 && a.Calls != 4 {
			t.Errorf("%s: %d calls", path, a.Calls)
		}
	}
	if text := log.String(); !strings.Contains(text, "level=INFO") || !strings.Contains(text, "dynamodbCalls=3") {
		t.Errorf("the log says %s", text)
	}
}

func TestAnswer(t *testing.T) {
	t.Parallel()
	a := Response{Body: map[string]any{"list": []any{map[string]any{"a": "x", "n": 1.0}, map[string]any{"a": "y"}}, "text": "z"}}
	if diff := cmp.Diff([]string{"x", "y"}, a.Texts("list", "a")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]any{1.0, nil}, a.Values("list", "n")); diff != "" {
		t.Error(diff)
	}
	if a.Text("text") != "z" || a.Text("list") != "" || a.List("text") != nil {
		t.Error("a field is taken for what it is not")
	}
	answers := Concurrently(3, func(i int) Response { return Response{Status: 200 + i/2} })
	if diff := cmp.Diff(map[int]int{200: 2, 201: 1}, CountStatuses(answers)); diff != "" {
		t.Error(diff)
	}
}

func TestCrowd(t *testing.T) {
	t.Parallel()
	var crowd Users
	crowd.Add(httpapi.Caller{UserID: "usr_1", Username: "Ada"})
	if caller, _, err := crowd.Authenticate(t.Context(), "ada"); err != nil || caller.UserID != "usr_1" {
		t.Errorf("%+v, %v", caller, err)
	}
	if userID, name, err := crowd.FindByUsername(t.Context(), "ADA"); err != nil || userID != "usr_1" || name != "Ada" {
		t.Errorf("%s %s, %v", userID, name, err)
	}
	if _, _, err := crowd.Authenticate(t.Context(), "eve"); !errors.Is(err, fault.New(fault.CodeInvalidToken, "")) {
		t.Errorf("%v", err)
	}
	if _, _, err := crowd.FindByUsername(t.Context(), "eve"); !errors.Is(err, fault.New(fault.CodeUserNotFound, "")) {
		t.Errorf("%v", err)
	}
}

func TestClock(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	stands, ticks := NewClock(noon, 0), NewClock(noon, time.Second)
	stands.Advance(time.Minute)
	if got := stands.Now(); !got.Equal(noon.Add(time.Minute)) || !stands.Now().Equal(got) {
		t.Errorf("%v", got)
	}
	if got := ticks.Now(); !got.Equal(noon.Add(time.Second)) || !ticks.Now().After(got) {
		t.Errorf("%v", got)
	}
}
