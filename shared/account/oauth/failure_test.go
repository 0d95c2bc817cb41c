package oauth

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
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

func TestTokenEndpointFailures(t *testing.T) {
	t.Parallel()
	const invalidGrant = `{"error":"invalid_grant"}`
	formHeader := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}
	redirectHeader := http.Header{"Location": {"/elsewhere"}}
	for name, c := range map[string]struct {
		response response
		kind     error
		code     string
	}{
		"error with status 200, as from GitHub": {
			response{body: `{"error":"bad_verification_code","error_description":"leak"}`},
			ErrRefused, "bad_verification_code",
		},
		"error in a form": {
			response{header: formHeader, body: "error=bad_verification_code"},
			ErrRefused, "bad_verification_code",
		},
		"used code, as from Gitea": {
			response{status: 400, body: `{"error":"unauthorized_client","error_description":"leak"}`},
			ErrRefused, "unauthorized_client",
		},
		"invalid grant": {
			response{status: 400, body: invalidGrant},
			ErrRefused, "invalid_grant",
		},
		"403 with HTML": {
			response{status: 403, body: `<html>leak`},
			ErrRefused, "",
		},
		"invalid error code": {
			response{status: 400, body: `{"error":"leak \n` + testCode + `"}`},
			ErrRefused, "unknown",
		},
		"transient error code": {
			response{status: 400, body: `{"error":"temporarily_unavailable"}`},
			ErrUnavailable, "temporarily_unavailable",
		},
		"500":                       {response{status: 500, body: `leak ` + testToken}, ErrUnavailable, ""},
		"502 with an OAuth error":   {response{status: 502, body: invalidGrant}, ErrUnavailable, "invalid_grant"},
		"429":                       {response{status: 429, body: `slow down`}, ErrUnavailable, ""},
		"404":                       {response{status: 404, body: `not here`}, ErrUnavailable, ""},
		"302":                       {response{status: 302, header: redirectHeader}, ErrUnavailable, ""},
		"307, which repeats a POST": {response{status: 307, header: redirectHeader}, ErrUnavailable, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFakeProvider(t, map[string]response{
				"/login/oauth/access_token": c.response,
				"/elsewhere":                tokenResponse,
			})
			_, err := identify(t.Context(), newProvider(t, Config{Provider: "gitea", BaseURL: f.URL}))
			checkError(t, err, c.kind, stepToken, c.code, max(c.response.status, http.StatusOK))
			if len(f.received["/elsewhere"]) != 0 {
				t.Error("the client followed the redirect and sent the secret")
			}
			if n := len(f.received["/login/oauth/access_token"]); n != 1 {
				t.Errorf("the client sent the code %d times, want once", n)
			}
		})
	}
}

func TestInvalidTokenResponses(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"not JSON":  `leak`,
		"no token":  `{"token_type":"bearer"}`,
		"empty":     ``,
		"array":     `["leak"]`,
		"too large": `{"access_token":"` + strings.Repeat("a", maxResponse) + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFakeProvider(t, map[string]response{"/token": {body: body}})
			_, err := identify(t.Context(), f.provider(t))
			checkError(t, err, ErrUnavailable, stepToken, "", 0)
		})
	}
}

// The list of the most entries is the most expensive response. This test is not parallel, because it measures the
// memory of the process.
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

func TestUserResponseFailures(t *testing.T) {
	t.Parallel()
	redirectHeader := http.Header{"Location": {"/elsewhere"}}
	longID := strings.Repeat("a", maxSubject+1)
	largeUser := `{"id":1,"x":"` + strings.Repeat("a", maxResponse) + `"}`
	for name, c := range map[string]struct {
		response response
		kind     error
		status   int // of the error: 0 if the response was read, but has no valid ID
	}{
		"401":                    {response{status: 401}, ErrRefused, 401},
		"403":                    {response{status: 403, body: `{"message":"leak"}`}, ErrRefused, 403},
		"503":                    {response{status: 503}, ErrUnavailable, 503},
		"redirect":               {response{status: 301, header: redirectHeader}, ErrUnavailable, 301},
		"HTML":                   {response{body: `<html>leak`}, ErrUnavailable, 200},
		"too large":              {response{body: largeUser}, ErrUnavailable, 200},
		"array":                  {response{body: `[]`}, ErrUnavailable, 200},
		"duplicate ID":           {response{body: `{"id":1,"id":2}`}, ErrUnavailable, 200},
		"two objects":            {response{body: `{"id":1}{"id":1}`}, ErrUnavailable, 200},
		"no ID":                  {response{body: `{"login":"x"}`}, ErrUnavailable, 0},
		"ID is a fraction":       {response{body: `{"id":1.5}`}, ErrUnavailable, 0},
		"ID has an exponent":     {response{body: `{"id":1e3}`}, ErrUnavailable, 0},
		"ID is zero":             {response{body: `{"id":0}`}, ErrUnavailable, 0},
		"ID is negative":         {response{body: `{"id":-1}`}, ErrUnavailable, 0},
		"ID is null":             {response{body: `{"id":null}`}, ErrUnavailable, 0},
		"ID is empty":            {response{body: `{"id":""}`}, ErrUnavailable, 0},
		"ID with a control code": {response{body: `{"id":"a\u0000b"}`}, ErrUnavailable, 0},
		"ID is too long":         {response{body: `{"id":"` + longID + `"}`}, ErrUnavailable, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFakeProvider(t, map[string]response{
				"/token":     tokenResponse,
				"/user":      c.response,
				"/elsewhere": {body: `{"id":1}`},
			})
			_, err := identify(t.Context(), f.provider(t))
			checkError(t, err, c.kind, stepUser, "", c.status)
			if len(f.received["/elsewhere"]) != 0 {
				t.Error("the client followed the redirect and sent the token")
			}
		})
	}
}

func TestEmailsResponseFailures(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		response response
		kind     error
		status   int
	}{
		"403":            {response{status: 403}, ErrRefused, 403},
		"404":            {response{status: 404}, ErrUnavailable, 404},
		"204":            {response{status: 204}, ErrUnavailable, 204},
		"another object": {response{body: `{"message":"leak"}`}, ErrUnavailable, 200},
		"not objects":    {response{body: `[1]`}, ErrUnavailable, 200},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFakeProvider(t, map[string]response{
				"/token":  tokenResponse,
				"/user":   {body: `{"id":1}`},
				"/emails": c.response,
			})
			_, err := identify(t.Context(), f.provider(t))
			checkError(t, err, c.kind, stepEmails, "", c.status)
		})
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

// The connections do not use HTTP/2, over which a server can send frames without end.
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

func TestProxyOfTheEnvironmentIsNotUsed(t *testing.T) {
	t.Parallel()
	transport, ok := newClient().Transport.(transport).next.(*http.Transport)
	if !ok || transport.Proxy != nil {
		t.Error("the client uses the proxy of the environment, which could read plain HTTP requests")
	}
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
