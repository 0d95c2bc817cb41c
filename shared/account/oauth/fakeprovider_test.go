package oauth

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	testCode     = "the-secret-code"
	testVerifier = "the-secret-verifier-of-forty-three-characters"
	testSecret   = "the-secret-secret"
	testToken    = "the-secret-token"
	testCallback = "https://app.example/callback"
)

// response is a response from a fake provider.
type response struct {
	status int // 0 means 200
	header http.Header
	body   string
}

// fakeProvider is a provider that returns fixed responses and records the requests.
type fakeProvider struct {
	*httptest.Server
	received map[string][]*http.Request // by path, with parsed forms; not to be read while a request is in flight
}

// newFakeProvider returns a provider with a response for each path. It responds to other paths with 404.
func newFakeProvider(t *testing.T, responses map[string]response) *fakeProvider {
	t.Helper()
	f := &fakeProvider{received: make(map[string][]*http.Request)}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		f.received[r.URL.Path] = append(f.received[r.URL.Path], r)
		res, ok := responses[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		for name, values := range res.header {
			w.Header()[name] = values
		}
		if res.status != 0 {
			w.WriteHeader(res.status)
		}
		_, _ = w.Write([]byte(res.body))
	}))
	t.Cleanup(f.Close)
	return f
}

var tokenResponse = response{
	body: `{"access_token":"` + testToken + `","token_type":"bearer","scope":"x","expires_in":7200}`,
}

// newProvider returns the provider that cfg describes, with the client ID and the client secret of the tests.
func newProvider(t *testing.T, cfg Config) *Provider {
	t.Helper()
	cfg.ClientID, cfg.ClientSecret = "app", testSecret
	p, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// provider returns a custom provider with the URLs of the server.
func (f *fakeProvider) provider(t *testing.T) *Provider {
	t.Helper()
	return newProvider(t, Config{
		Provider:     "custom",
		AuthorizeURL: f.URL + "/authorize",
		TokenURL:     f.URL + "/token",
		UserURL:      f.URL + "/user",
		EmailsURL:    f.URL + "/emails",
	})
}

func identify(ctx context.Context, p *Provider) (Identity, error) {
	return p.Identify(ctx, testCode, testVerifier, testCallback)
}

// checkExchange checks that the token endpoint received one request. inHeader reports whether the client authenticates
// in the header of the request, not in its body.
func (f *fakeProvider) checkExchange(t *testing.T, path string, inHeader bool) {
	t.Helper()
	if n := len(f.received[path]); n != 1 {
		t.Fatalf("got %d token requests, want 1", n)
	}
	r := f.received[path][0]
	want := url.Values{
		"grant_type":    {"authorization_code"},
		"code":          {testCode},
		"code_verifier": {testVerifier},
		"redirect_uri":  {testCallback},
	}
	if inHeader {
		if id, secret, _ := r.BasicAuth(); id != "app" || secret != testSecret {
			t.Errorf("token request: got the client %q in the header, want app with its secret", id)
		}
	} else {
		want.Set("client_id", "app")
		want.Set("client_secret", testSecret)
	}
	if diff := cmp.Diff(want, r.PostForm); diff != "" || r.Method != http.MethodPost {
		t.Errorf("token request: got the method %s, want POST; form (-want +got):\n%s", r.Method, diff)
	}
	if r.Header.Get("Accept") != "application/json" || r.Header.Get("User-Agent") != "devplatform" {
		t.Errorf("token request: got the header %v, want Accept application/json and User-Agent devplatform", r.Header)
	}
}
