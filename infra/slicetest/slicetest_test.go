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
)

// recorder is a testing.TB that records errors instead of failing the test.
type recorder struct {
	testing.TB

	failures []string
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

// The client reports a test error if a response does not match the OpenAPI document, or if there is no response.
func TestClient(t *testing.T) {
	t.Parallel()
	const error401 = `{"error":"no","code":"AUTH_INVALID_TOKEN"}`
	log := NewLog()
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		slog.New(log).Info("request", "requestId", "r-1", "dynamodbCalls", 3, "dynamodbDepth", 2)
		out.Header().Set("Content-Type", "application/json")
		out.Header().Set("X-Request-Id", "r-1")
		if session, err := r.Cookie("session"); err != nil || session.Value != "ada" {
			t.Errorf("got session cookie %v, %v, want ada", session, err)
		}
		if r.Header.Get("X-One") != "1" || r.Header.Get("X-All") != "2" {
			t.Errorf("got request header %v, want X-One: 1 and X-All: 2", r.Header)
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
		status    int
		wantError string
	}{
		"/api/auth/me": {http.StatusUnauthorized, ""},
		"/api/more":    {http.StatusNotFound, "exactly the fields error and code"},
		"/api/unknown": {http.StatusOK, "for an operation that is not in the OpenAPI document"},
		"/api/text":    {http.StatusOK, "invalid character"},
		"/api/gone":    {0, "EOF"},
	} {
		r := &recorder{TB: t}
		c := NewClient(r, server.URL, log)
		c.SetCookie("session", "ada")
		c.Header.Set("X-All", "2")
		response := c.Do(http.MethodGet, path, nil, Header("X-One", "1"))
		if response.Status != want.status {
			t.Errorf("%s: got status %d, want %d", path, response.Status, want.status)
		}
		failures := strings.Join(r.failures, "; ")
		if (want.wantError == "") != (failures == "") || !strings.Contains(failures, want.wantError) {
			t.Errorf("%s: got test errors %q, want %q", path, failures, want.wantError)
		}
		if response.Status > 0 && (response.Calls != 3 || response.Depth != 2) {
			t.Errorf("%s: got %d calls with depth %d, want 3 and 2", path, response.Calls, response.Depth)
		}
	}
	if text := log.String(); !strings.Contains(text, "level=INFO") || !strings.Contains(text, "dynamodbCalls=3") {
		t.Errorf("got log %s, want level=INFO and dynamodbCalls=3", text)
	}
}

func TestResponse(t *testing.T) {
	t.Parallel()
	response := Response{Body: map[string]any{
		"list": []any{map[string]any{"a": "x", "n": 1.0}, map[string]any{"a": "y"}},
		"text": "z",
	}}
	if diff := cmp.Diff([]string{"x", "y"}, response.Texts("list", "a")); diff != "" {
		t.Errorf("Texts (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]any{1.0, nil}, response.Values("list", "n")); diff != "" {
		t.Errorf("Values (-want +got):\n%s", diff)
	}
	if response.Text("text") != "z" || response.Text("list") != "" || response.List("text") != nil {
		t.Error("Text or List returned the value of a field of another type")
	}
	responses := Concurrently(3, func(i int) Response { return Response{Status: 200 + i/2} })
	if diff := cmp.Diff(map[int]int{200: 2, 201: 1}, CountStatuses(responses)); diff != "" {
		t.Errorf("CountStatuses (-want +got):\n%s", diff)
	}
}

func TestUsers(t *testing.T) {
	t.Parallel()
	var users Users
	users.Add(NewCaller("usr_1", "Ada"))
	if _, caller, err := users.Authenticate(t.Context(), "ada"); err != nil || caller.UserID != "usr_1" {
		t.Errorf("Authenticate returned %+v, %v, want usr_1", caller, err)
	}
	if userID, name, err := users.FindByUsername(t.Context(), "ADA"); err != nil || userID != "usr_1" || name != "Ada" {
		t.Errorf("FindByUsername returned %s, %s, %v, want usr_1, Ada", userID, name, err)
	}
	if _, _, err := users.Authenticate(t.Context(), "eve"); !errors.Is(err, fault.New(fault.CodeInvalidToken, "")) {
		t.Errorf("got error %v for an unknown token, want %s", err, fault.CodeInvalidToken)
	}
	if _, _, err := users.FindByUsername(t.Context(), "eve"); !errors.Is(err, fault.New(fault.CodeUserNotFound, "")) {
		t.Errorf("got error %v for an unknown username, want %s", err, fault.CodeUserNotFound)
	}
}

func TestClock(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	stopped, ticking := NewClock(noon, 0), NewClock(noon, time.Second)
	stopped.Advance(time.Minute)
	if got := stopped.Now(); !got.Equal(noon.Add(time.Minute)) || !stopped.Now().Equal(got) {
		t.Errorf("the stopped clock returned %v, want 12:01 twice", got)
	}
	if got := ticking.Now(); !got.Equal(noon.Add(time.Second)) || !ticking.Now().After(got) {
		t.Errorf("the ticking clock returned %v, want 12:00:01 and then a later time", got)
	}
}
