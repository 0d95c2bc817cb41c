package oauth

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

func checkError(t *testing.T, err, kind error, step, code string, status int) {
	t.Helper()
	e, ok := errors.AsType[*Error](err)
	if !ok || !errors.Is(err, kind) || e.Step != step || e.Code != code || e.Status != status {
		t.Fatalf("error %v, want %v in step %s, code %q, HTTP %d", err, kind, step, code, status)
	}
	for _, other := range []error{ErrDenied, ErrRefused, ErrUnavailable} {
		if !errors.Is(kind, other) && errors.Is(err, other) {
			t.Errorf("%v is also %v", err, other)
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
	cases := map[string]struct {
		page page
		kind error
		code string
	}{
		"GitHub's 200 with an error":       {page{body: `{"error":"bad_verification_code","error_description":"leak"}`}, ErrRefused, "bad_verification_code"},
		"a form with an error":             {page{header: http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}, body: "error=bad_verification_code"}, ErrRefused, "bad_verification_code"},
		"Gitea's replay":                   {page{status: 400, body: `{"error":"unauthorized_client","error_description":"leak"}`}, ErrRefused, "unauthorized_client"},
		"invalid grant":                    {page{status: 400, body: `{"error":"invalid_grant"}`}, ErrRefused, "invalid_grant"},
		"a 403 page":                       {page{status: 403, body: `<html>leak`}, ErrRefused, ""},
		"an invalid error code":            {page{status: 400, body: `{"error":"leak \n` + testCode + `"}`}, ErrRefused, "unknown"},
		"a transient error code":           {page{status: 400, body: `{"error":"temporarily_unavailable"}`}, ErrUnavailable, "temporarily_unavailable"},
		"500 with a body":                  {page{status: 500, body: `leak ` + testToken}, ErrUnavailable, ""},
		"502 with an OAuth error":          {page{status: 502, body: `{"error":"invalid_grant"}`}, ErrUnavailable, "invalid_grant"},
		"a throttle":                       {page{status: 429, body: `slow down`}, ErrUnavailable, ""},
		"a 404":                            {page{status: 404, body: `not here`}, ErrUnavailable, ""},
		"a redirect":                       {page{status: 302, header: http.Header{"Location": {"/elsewhere"}}}, ErrUnavailable, ""},
		"a redirect that keeps the method": {page{status: 307, header: http.Header{"Location": {"/elsewhere"}}}, ErrUnavailable, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t, map[string]page{"/login/oauth/access_token": c.page, "/elsewhere": tokenPage})
			_, err := identify(t.Context(), newProvider(t, Config{Provider: "gitea", BaseURL: f.URL}))
			checkError(t, err, c.kind, stepToken, c.code, max(c.page.status, http.StatusOK))
			if len(f.asked["/elsewhere"]) != 0 {
				t.Error("the redirect was followed, with the secret")
			}
			if len(f.asked["/login/oauth/access_token"]) != 1 {
				t.Error("the code was sent again")
			}
		})
	}
}

func TestInvalidTokenResponses(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"no JSON": `leak`, "no token": `{"token_type":"bearer"}`, "empty": ``, "an array": `["leak"]`,
		"huge": `{"access_token":"` + strings.Repeat("a", maxResponse) + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t, map[string]page{"/token": {body: body}})
			_, err := identify(t.Context(), f.custom(t))
			checkError(t, err, ErrUnavailable, stepToken, "", 0)
		})
	}
}

func TestUserAndEmailsFailures(t *testing.T) {
	t.Parallel()
	good := `{"id":1}`
	cases := map[string]struct {
		user, emails page
		kind         error
		step         string
		status       int
	}{
		"user refused":       {page{status: 401}, page{}, ErrRefused, stepUser, 401},
		"user forbidden":     {page{status: 403, body: `{"message":"leak"}`}, page{}, ErrRefused, stepUser, 403},
		"user down":          {page{status: 503}, page{}, ErrUnavailable, stepUser, 503},
		"user redirected":    {page{status: 301, header: http.Header{"Location": {"/elsewhere"}}}, page{}, ErrUnavailable, stepUser, 301},
		"user garbled":       {page{body: `<html>leak`}, page{}, ErrUnavailable, stepUser, 200},
		"user huge":          {page{body: `{"id":1,"x":"` + strings.Repeat("a", maxResponse) + `"}`}, page{}, ErrUnavailable, stepUser, 200},
		"user a list":        {page{body: `[]`}, page{}, ErrUnavailable, stepUser, 200},
		"user with two ids":  {page{body: `{"id":1,"id":2}`}, page{}, ErrUnavailable, stepUser, 200},
		"user and more":      {page{body: good + good}, page{}, ErrUnavailable, stepUser, 200},
		"user without id":    {page{body: `{"login":"x"}`}, page{}, ErrUnavailable, stepUser, 0},
		"user, fraction":     {page{body: `{"id":1.5}`}, page{}, ErrUnavailable, stepUser, 0},
		"user, exponent":     {page{body: `{"id":1e3}`}, page{}, ErrUnavailable, stepUser, 0},
		"user, nought":       {page{body: `{"id":0}`}, page{}, ErrUnavailable, stepUser, 0},
		"user, negative":     {page{body: `{"id":-1}`}, page{}, ErrUnavailable, stepUser, 0},
		"user, null":         {page{body: `{"id":null}`}, page{}, ErrUnavailable, stepUser, 0},
		"user, empty id":     {page{body: `{"id":""}`}, page{}, ErrUnavailable, stepUser, 0},
		"user, control id":   {page{body: `{"id":"a\u0000b"}`}, page{}, ErrUnavailable, stepUser, 0},
		"user, long id":      {page{body: `{"id":"` + strings.Repeat("a", maxSubject+1) + `"}`}, page{}, ErrUnavailable, stepUser, 0},
		"emails refused":     {page{body: good}, page{status: 403}, ErrRefused, stepEmails, 403},
		"emails missing":     {page{body: good}, page{status: 404}, ErrUnavailable, stepEmails, 404},
		"emails garbled":     {page{body: good}, page{body: `{"message":"leak"}`}, ErrUnavailable, stepEmails, 200},
		"emails not objects": {page{body: good}, page{body: `[1]`}, ErrUnavailable, stepEmails, 200},
		"emails, no content": {page{body: good}, page{status: 204}, ErrUnavailable, stepEmails, 204},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t, map[string]page{"/token": tokenPage, "/user": c.user, "/emails": c.emails, "/elsewhere": {body: good}})
			_, err := identify(t.Context(), f.custom(t))
			checkError(t, err, c.kind, c.step, "", c.status)
			if len(f.asked["/elsewhere"]) != 0 {
				t.Error("the redirect was followed, with the token")
			}
		})
	}
}

func TestCompressedResponseIsBounded(t *testing.T) {
	t.Parallel()
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write([]byte(`{"id":1,"x":"` + strings.Repeat("a", 8<<20) + `"}`))
	_ = z.Close()
	f := newFake(t, map[string]page{"/token": tokenPage, "/user": {header: http.Header{"Content-Encoding": {"gzip"}}, body: zipped.String()}})
	_, err := identify(t.Context(), f.custom(t))
	checkError(t, err, ErrUnavailable, stepUser, "", http.StatusOK)
}

func TestSlowProviderTimesOut(t *testing.T) {
	t.Parallel()
	for _, slow := range []string{"/token", "/user", "/emails", "body"} {
		t.Run(slow, func(t *testing.T) {
			t.Parallel()
			free := make(chan struct{})
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body := map[string]string{"/token": tokenPage.body, "/user": `{"id":1}`, "/emails": `[]`}[r.URL.Path]
				if slow == "body" && r.URL.Path == "/user" {
					_, _ = w.Write([]byte(`{"id":`))
					w.(http.Flusher).Flush()
					<-free
				}
				if slow == r.URL.Path {
					<-free
				}
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write([]byte(body))
			}))
			t.Cleanup(server.Close)
			t.Cleanup(func() { close(free) })
			p := (&fake{Server: server}).custom(t)
			if p.timeout != 10*time.Second {
				t.Errorf("time-out %s", p.timeout)
			}
			p.timeout = 50 * time.Millisecond
			_, err := identify(t.Context(), p)
			if !errors.Is(err, ErrUnavailable) || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestCancelledIdentify(t *testing.T) {
	t.Parallel()
	f := newFake(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := identify(ctx, f.custom(t))
	if !errors.Is(err, ErrUnavailable) || !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestUnreachableProvider(t *testing.T) {
	t.Parallel()
	f := newFake(t, map[string]page{"/token": tokenPage})
	p := f.custom(t)
	dead := httptest.NewServer(nil)
	dead.Close()
	p.urls.user = dead.URL + "/user?key=leak"
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
		t.Error("a proxy would see the codes and tokens of plain-http providers")
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
	if err := CallbackError(url.Values{"code": {"x"}, "state": {"y"}}); err != nil {
		t.Errorf("a good callback: %v", err)
	}
	cases := map[string]struct {
		kind error
		code string
	}{
		"access_denied":           {ErrDenied, "access_denied"},
		"invalid_scope":           {ErrDenied, "invalid_scope"},
		"server_error":            {ErrUnavailable, "server_error"},
		"temporarily_unavailable": {ErrUnavailable, "temporarily_unavailable"},
		"":                        {ErrDenied, "unknown"},
		"leak\r\nforged line":     {ErrDenied, "unknown"},
		strings.Repeat("x", 65):   {ErrDenied, "unknown"},
	}
	for given, c := range cases {
		err := CallbackError(url.Values{"error": {given}, "error_description": {"leak"}})
		checkError(t, err, c.kind, stepAuthorize, c.code, 0)
	}
}
