package oauth

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
)

// checkError checks that err is an *Error with these properties, and contains no secret and no text of the provider.
// The responses in the tests mark such text with "leak".
func checkError(t *testing.T, err, kind error, step, code string, status int) {
	t.Helper()
	e, ok := errors.AsType[*Error](err)
	if !ok || !errors.Is(err, kind) || e.Step != step || e.Code != code || e.Status != status {
		t.Fatalf("got the error %v, want %v in step %s with code %q and status %d", err, kind, step, code, status)
	}
	for _, other := range []error{ErrDenied, ErrRefused, ErrUnavailable} {
		if !errors.Is(kind, other) && errors.Is(err, other) {
			t.Errorf("the error %v is also %v", err, other)
		}
	}
	for _, secret := range []string{testCode, testVerifier, testSecret, testToken, "leak"} {
		if strings.Contains(err.Error(), secret) {
			t.Errorf("the error contains %q: %v", secret, err)
		}
	}
}

// TestFailedResponses checks the error of each kind of invalid response. A redirect is not followed, because it could
// send the secret or the token to another address.
func TestFailedResponses(t *testing.T) {
	t.Parallel()
	const invalidGrant, tooLarge = `{"error":"invalid_grant"}`, `too large` // tooLarge stands for a larger body
	form, redirect := "Content-Type: application/x-www-form-urlencoded", "Location: /elsewhere"
	for _, c := range []struct {
		step   string
		status int // of the response
		header string
		body   string
		kind   error
		code   string // of the error
		inErr  int    // the status of the error: 0 if the response was read, but is not valid
	}{
		// As from GitHub, which rejects with status 200, and from Gitea.
		{stepToken, 200, "", `{"error":"bad_code","error_description":"leak"}`, ErrRefused, "bad_code", 200},
		{stepToken, 200, form, "error=bad_verification_code", ErrRefused, "bad_verification_code", 200},
		{stepToken, 400, "", `{"error":"used_code","error_description":"leak"}`, ErrRefused, "used_code", 400},
		{stepToken, 400, "", invalidGrant, ErrRefused, "invalid_grant", 400},
		{stepToken, 403, "", `<html>leak`, ErrRefused, "", 403},
		{stepToken, 400, "", `{"error":"leak \n` + testCode + `"}`, ErrRefused, "unknown", 400},
		{stepToken, 400, "", `{"error":"temporarily_unavailable"}`, ErrUnavailable, "temporarily_unavailable", 400},
		{stepToken, 500, "", `leak ` + testToken, ErrUnavailable, "", 500},
		{stepToken, 502, "", invalidGrant, ErrUnavailable, "invalid_grant", 502},
		{stepToken, 429, "", `slow down`, ErrUnavailable, "", 429},
		{stepToken, 404, "", `not here`, ErrUnavailable, "", 404},
		{stepToken, 302, redirect, "", ErrUnavailable, "", 302},
		{stepToken, 307, redirect, "", ErrUnavailable, "", 307}, // would repeat the POST
		{stepToken, 200, "", `leak`, ErrUnavailable, "", 0},
		{stepToken, 200, "", `{"token_type":"bearer"}`, ErrUnavailable, "", 0},
		{stepToken, 200, "", ``, ErrUnavailable, "", 0},
		{stepToken, 200, "", `["leak"]`, ErrUnavailable, "", 0},
		{stepToken, 200, "", tooLarge, ErrUnavailable, "", 0},
		{stepUser, 401, "", "", ErrRefused, "", 401},
		{stepUser, 403, "", `{"message":"leak"}`, ErrRefused, "", 403},
		{stepUser, 503, "", "", ErrUnavailable, "", 503},
		{stepUser, 301, redirect, "", ErrUnavailable, "", 301},
		{stepUser, 200, "", `<html>leak`, ErrUnavailable, "", 200},
		{stepUser, 200, "", tooLarge, ErrUnavailable, "", 200},
		{stepUser, 200, "", `[]`, ErrUnavailable, "", 200},
		{stepUser, 200, "", `{"id":1,"id":2}`, ErrUnavailable, "", 200},
		{stepUser, 200, "", `{"id":1}{"id":1}`, ErrUnavailable, "", 200},
		{stepUser, 200, "", `{"login":"x"}`, ErrUnavailable, "", 0},
		{stepUser, 200, "", `{"id":1.5}`, ErrUnavailable, "", 0},
		{stepUser, 200, "", `{"id":1e3}`, ErrUnavailable, "", 0},
		{stepUser, 200, "", `{"id":0}`, ErrUnavailable, "", 0},
		{stepUser, 200, "", `{"id":-1}`, ErrUnavailable, "", 0},
		{stepUser, 200, "", `{"id":null}`, ErrUnavailable, "", 0},
		{stepUser, 200, "", `{"id":""}`, ErrUnavailable, "", 0},
		{stepUser, 200, "", `{"id":"a\u0000b"}`, ErrUnavailable, "", 0},
		{stepUser, 200, "", `{"id":"` + strings.Repeat("a", maxSubject+1) + `"}`, ErrUnavailable, "", 0},
		{stepEmails, 403, "", "", ErrRefused, "", 403},
		{stepEmails, 404, "", "", ErrUnavailable, "", 404},
		{stepEmails, 204, "", "", ErrUnavailable, "", 204},
		{stepEmails, 200, "", `{"message":"leak"}`, ErrUnavailable, "", 200},
		{stepEmails, 200, "", `[1]`, ErrUnavailable, "", 200},
	} {
		t.Run(fmt.Sprintf("%s %d %.60s", c.step, c.status, c.body), func(t *testing.T) {
			t.Parallel()
			failed := response{status: c.status, header: http.Header{}, body: c.body}
			if name, value, ok := strings.Cut(c.header, ": "); ok {
				failed.header.Set(name, value)
			}
			if c.body == tooLarge {
				failed.body = `{"id":1,"access_token":"` + strings.Repeat("a", maxResponse) + `"}`
			}
			responses := map[string]response{"/token": tokenResponse, "/user": {body: `{"id":1}`}, "/elsewhere": tokenResponse}
			responses["/"+c.step] = failed
			f := newFakeProvider(t, responses)
			_, err := identify(t.Context(), f.provider(t))
			checkError(t, err, c.kind, c.step, c.code, c.inErr)
			if len(f.received["/elsewhere"]) != 0 {
				t.Error("the client followed the redirect")
			}
			if n := len(f.received["/token"]); n != 1 {
				t.Errorf("the client sent the code %d times, want once", n)
			}
		})
	}
}

// A list with as many entries as fit into a response is the most expensive response. This test is not parallel, because
// it measures the memory of the process.
func TestLargestEmailListIsCheap(t *testing.T) {
	const maxAllocated = 16 << 20
	data := []byte("[" + strings.Repeat("{},", maxResponse/3-1) + "{}]")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var list emailList
	err := json.Unmarshal(data, &list)
	runtime.ReadMemStats(&after)
	if allocated := after.TotalAlloc - before.TotalAlloc; err != nil || allocated > maxAllocated {
		t.Errorf("got error %v and %d allocated bytes for %d, want at most %d", err, allocated, len(data), maxAllocated)
	}
}

func TestCompressedResponseIsBounded(t *testing.T) {
	t.Parallel()
	var compressed bytes.Buffer
	writer := gzip.NewWriter(&compressed)
	_, _ = writer.Write([]byte(`{"id":1,"x":"` + strings.Repeat("a", 8<<20) + `"}`))
	_ = writer.Close()
	f := newFakeProvider(t, map[string]response{
		"/token": tokenResponse,
		"/user":  {header: http.Header{"Content-Encoding": {"gzip"}}, body: compressed.String()},
	})
	_, err := identify(t.Context(), f.provider(t))
	checkError(t, err, ErrUnavailable, stepUser, "", http.StatusOK)
}

// The connections use no proxy, and not HTTP/2, over which a server can send frames without end.
func TestConnectionsUseHTTP1(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.Proto)
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	pool := x509.NewCertPool()
	pool.AddCert(server.Certificate())
	limited, _ := newClient().Transport.(transport)
	plain, _ := limited.next.(*http.Transport)
	if plain.Proxy != nil {
		t.Error("the client uses the proxy of the environment, which could read plain HTTP requests")
	}
	plain.TLSClientConfig = &tls.Config{RootCAs: pool}
	res, err := (&http.Client{Transport: limited}).Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if body, err := io.ReadAll(res.Body); err != nil || string(body) != "HTTP/1.1" {
		t.Errorf("got a request over %s, %v, want HTTP/1.1", body, err)
	}
}

func TestSlowProviderTimesOut(t *testing.T) {
	t.Parallel()
	bodies := map[string]string{"/token": tokenResponse.body, "/user": `{"id":1}`, "/emails": `[]`}
	// In the case "body", the provider sends only the beginning of the response body of /user.
	for _, slow := range []string{"/token", "/user", "/emails", "body"} {
		t.Run(slow, func(t *testing.T) {
			t.Parallel()
			release := make(chan struct{})
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if slow == "body" && r.URL.Path == "/user" {
					_, _ = w.Write([]byte(`{"id":`))
					w.(http.Flusher).Flush()
					<-release
				}
				if slow == r.URL.Path {
					<-release
				}
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write([]byte(bodies[r.URL.Path]))
			}))
			t.Cleanup(server.Close)
			t.Cleanup(func() { close(release) })
			p := (&fakeProvider{Server: server}).provider(t)
			if p.timeout != 5*time.Second {
				t.Errorf("got the timeout %s, want 5s", p.timeout)
			}
			p.timeout = 50 * time.Millisecond
			_, err := identify(t.Context(), p)
			if !errors.Is(err, ErrUnavailable) || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got the error %v, want %v and %v", err, ErrUnavailable, context.DeadlineExceeded)
			}
		})
	}
}

func TestCancelledIdentify(t *testing.T) {
	t.Parallel()
	f := newFakeProvider(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := identify(ctx, f.provider(t))
	if !errors.Is(err, ErrUnavailable) || !errors.Is(err, context.Canceled) {
		t.Errorf("got the error %v, want %v and %v", err, ErrUnavailable, context.Canceled)
	}
}

func TestUnreachableProvider(t *testing.T) {
	t.Parallel()
	f := newFakeProvider(t, map[string]response{"/token": tokenResponse})
	p := f.provider(t)
	closed := httptest.NewServer(nil)
	closed.Close()
	p.urls.user = closed.URL + "/user?key=leak"
	_, err := identify(t.Context(), p)
	checkError(t, err, ErrUnavailable, stepUser, "", 0)
	f.Close()
	_, err = identify(t.Context(), p)
	checkError(t, err, ErrUnavailable, stepToken, "", 0)
}

func TestUnreadableSecret(t *testing.T) {
	t.Parallel()
	p, err := New(Config{Provider: "github", ClientID: "app", Secret: func(context.Context) (string, error) {
		return "", errors.New("leak")
	}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = identify(t.Context(), p)
	checkError(t, err, ErrUnavailable, stepToken, "", 0)
}

func TestCallbackError(t *testing.T) {
	t.Parallel()
	if err := CallbackError(""); err != nil {
		t.Errorf("CallbackError without a code: got %v, want nil", err)
	}
	cases := map[string]struct { // by the error code in the query
		kind error
		code string // of the error
	}{
		"access_denied":           {ErrDenied, "access_denied"},
		"invalid_scope":           {ErrDenied, "invalid_scope"},
		"server_error":            {ErrUnavailable, "server_error"},
		"temporarily_unavailable": {ErrUnavailable, "temporarily_unavailable"},
		"leak\r\nforged line":     {ErrDenied, "unknown"},
		strings.Repeat("x", 65):   {ErrDenied, "unknown"},
	}
	for code, c := range cases {
		err := CallbackError(code)
		checkError(t, err, c.kind, stepAuthorize, c.code, 0)
	}
}
