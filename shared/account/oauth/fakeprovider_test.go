package oauth

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
)

const (
	testCode     = "the-secret-code"
	testVerifier = "the-secret-verifier-of-forty-three-characters"
	testSecret   = "the-secret-secret"
	testToken    = "the-secret-token"
	testCallback = "https://app.example/callback"
)

// page is a response of a fake provider.
type page struct {
	status int // 0: 200
	header http.Header
	body   string
}

// fake is a provider that returns fixed pages and records the requests.
type fake struct {
	*httptest.Server
	asked map[string][]*http.Request // by path, with parsed forms; read it when no request is in flight
}

func newFake(t *testing.T, pages map[string]page) *fake {
	t.Helper()
	f := &fake{asked: make(map[string][]*http.Request)}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		f.asked[r.URL.Path] = append(f.asked[r.URL.Path], r)
		p, ok := pages[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		for name, values := range p.header {
			w.Header()[name] = values
		}
		if p.status != 0 {
			w.WriteHeader(p.status)
		}
		_, _ = w.Write([]byte(p.body))
	}))
	t.Cleanup(f.Close)
	return f
}

var tokenPage = page{body: `{"access_token":"` + testToken + `","token_type":"bearer","scope":"x","expires_in":7200}`}

func newProvider(t *testing.T, cfg Config) *Provider {
	t.Helper()
	cfg.ClientID, cfg.ClientSecret = "app", testSecret
	p, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (f *fake) custom(t *testing.T) *Provider {
	t.Helper()
	return newProvider(t, Config{
		Provider: "custom", AuthorizeURL: f.URL + "/authorize", TokenURL: f.URL + "/token", UserURL: f.URL + "/user", EmailsURL: f.URL + "/emails",
	})
}

func identify(ctx context.Context, p *Provider) (Identity, error) {
	return p.Identify(ctx, testCode, testVerifier, testCallback)
}

// checkExchange checks the request to the token endpoint.
func (f *fake) checkExchange(t *testing.T, path string, inHeader bool) {
	t.Helper()
	if len(f.asked[path]) != 1 {
		t.Fatalf("%d token requests", len(f.asked[path]))
	}
	r := f.asked[path][0]
	want := url.Values{
		"grant_type": {"authorization_code"}, "code": {testCode}, "code_verifier": {testVerifier}, "redirect_uri": {testCallback},
	}
	if inHeader {
		if id, secret, _ := r.BasicAuth(); id != "app" || secret != testSecret {
			t.Error("the client did not say who it is in the header")
		}
	} else {
		want.Set("client_id", "app")
		want.Set("client_secret", testSecret)
	}
	if r.PostForm.Encode() != want.Encode() || r.Method != http.MethodPost {
		t.Errorf("token request: %s %s", r.Method, r.PostForm.Encode())
	}
	if r.Header.Get("Accept") != "application/json" || r.Header.Get("User-Agent") != "devplatform" {
		t.Errorf("token request's header: %v", r.Header)
	}
}
