package codehost_test

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func basic(id, password string) func(*http.Request) {
	return func(r *http.Request) { r.SetBasicAuth(url.QueryEscape(id), url.QueryEscape(password)) }
}

func without(names ...string) func(url.Values) {
	return func(q url.Values) {
		for _, name := range names {
			q.Del(name)
		}
	}
}

func TestCodeIsExchangedForAToken(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		form    []func(url.Values)
		request []func(*http.Request)
	}{
		"client in the body":    {},
		"client in the header":  {[]func(url.Values){without("client_id", "client_secret")}, []func(*http.Request){basic(clientID, secret)}},
		"header and id in body": {[]func(url.Values){without("client_secret")}, []func(*http.Request){basic(clientID, secret)}},
		"content type's charset": {nil, []func(*http.Request){func(r *http.Request) {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded; charset=UTF-8")
		}}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := start(t, "")
			code := h.signIn("ada", "ada@example.com", true, set("scope", "user:email read:user"))
			got, body := h.redeem(redemption(code, c.form...), c.request...)
			if got.status != http.StatusOK {
				t.Fatalf("%d %s", got.status, got.body)
			}
			token, _ := body["access_token"].(string)
			delete(body, "access_token")
			want := map[string]any{"token_type": "Bearer", "expires_in": 3600.0, "scope": "read:user user:email"}
			if diff := cmp.Diff(want, body); diff != "" || len(token) < 43 {
				t.Error(token, diff)
			}
			if got.header.Get("Cache-Control") != "no-store" || got.header.Get("Pragma") != "no-cache" {
				t.Error("the response may be cached")
			}
		})
	}
}

func TestTokenEndpointRefuses(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		form    func(url.Values)
		request func(*http.Request)
		want    string
		status  int
	}{
		"wrong secret":           {set("client_secret", "wrong"), nil, "invalid_client", 401},
		"no secret":              {set("client_secret"), nil, "invalid_client", 401},
		"unknown client":         {set("client_id", "other"), nil, "invalid_client", 401},
		"no client":              {without("client_id", "client_secret"), nil, "invalid_client", 401},
		"wrong Basic secret":     {without("client_id", "client_secret"), basic(clientID, "wrong"), "invalid_client", 401},
		"another scheme":         {nil, func(r *http.Request) { r.Header.Set("Authorization", "Bearer x") }, "invalid_client", 401},
		"two authentications":    {nil, basic(clientID, secret), "invalid_request", 400},
		"another id in the body": {func(q url.Values) { q.Set("client_id", "x"); q.Del("client_secret") }, basic(clientID, secret), "invalid_request", 400},
		"unknown code":           {set("code", "chc_unknown"), nil, "invalid_grant", 400},
		"no code":                {set("code"), nil, "invalid_request", 400},
		"another redirect":       {set("redirect_uri", callback+"/other"), nil, "invalid_grant", 400},
		"a foreign redirect":     {set("redirect_uri", "https://evil.example/"), nil, "invalid_grant", 400},
		"no redirect":            {set("redirect_uri"), nil, "invalid_request", 400},
		"wrong verifier":         {set("code_verifier", strings.Repeat("x", 43)), nil, "invalid_grant", 400},
		"the challenge as plain": {set("code_verifier", challenge()), nil, "invalid_grant", 400},
		"a short verifier":       {set("code_verifier", "short"), nil, "invalid_grant", 400},
		"no verifier":            {set("code_verifier"), nil, "invalid_request", 400},
		"no grant type":          {set("grant_type"), nil, "invalid_request", 400},
		"password grant":         {set("grant_type", "password"), nil, "unsupported_grant_type", 400},
		"client credentials":     {set("grant_type", "client_credentials"), nil, "unsupported_grant_type", 400},
		"a parameter twice":      {set("state", "a", "b"), nil, "invalid_request", 400},
		"JSON":                   {nil, func(r *http.Request) { r.Header.Set("Content-Type", "application/json") }, "invalid_request", 400},
		"a huge body":            {set("code", strings.Repeat("x", 1<<17)), nil, "invalid_request", 400},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := start(t, "")
			q := redemption(h.signIn("ada", "ada@example.com", true))
			if c.form != nil {
				c.form(q)
			}
			var changes []func(*http.Request)
			if c.request != nil {
				changes = append(changes, c.request)
			}
			got, body := h.redeem(q, changes...)
			if got.status != c.status || body["error"] != c.want || body["access_token"] != nil {
				t.Errorf("%d %s, want %d %s", got.status, got.body, c.status, c.want)
			}
			if (got.header.Get("WWW-Authenticate") != "") != (c.status == http.StatusUnauthorized) {
				t.Errorf("WWW-Authenticate: %q", got.header.Get("WWW-Authenticate"))
			}
			if got.header.Get("Cache-Control") != "no-store" {
				t.Error("the response may be cached")
			}
		})
	}
}

func TestParametersInTheURLAreIgnored(t *testing.T) {
	t.Parallel()
	h := start(t, "")
	q := redemption(h.signIn("ada", "ada@example.com", true))
	got, body := h.redeem(url.Values{"grant_type": {"authorization_code"}}, func(r *http.Request) { r.URL.RawQuery = q.Encode() })
	if got.status != http.StatusUnauthorized || body["error"] != "invalid_client" {
		t.Errorf("%d %s", got.status, got.body)
	}
}

func TestCodeWorksOnce(t *testing.T) {
	t.Parallel()
	h := start(t, "")
	code := h.signIn("ada", "ada@example.com", true)
	// A request with the code but without the secret must not use up the code.
	if got, _ := h.redeem(redemption(code, set("client_secret", "wrong"))); got.status != http.StatusUnauthorized {
		t.Fatalf("wrong secret: %d", got.status)
	}
	_, body := h.redeem(redemption(code))
	token, _ := body["access_token"].(string)
	if got := h.get("/api/v1/user", "Bearer "+token); got.status != http.StatusOK {
		t.Fatalf("%d %s", got.status, got.body)
	}
	if got, body := h.redeem(redemption(code)); got.status != http.StatusBadRequest || body["error"] != "invalid_grant" {
		t.Errorf("second use: %d %s", got.status, got.body)
	}
}

func TestConcurrentRedemptionsReturnOneToken(t *testing.T) {
	t.Parallel()
	h := start(t, "")
	for range 10 {
		code := h.signIn("ada", "ada@example.com", true)
		var tokens atomic.Int32
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				if _, body := h.redeem(redemption(code)); body["access_token"] != nil {
					tokens.Add(1)
				}
			})
		}
		wg.Wait()
		if got := tokens.Load(); got != 1 {
			t.Fatalf("%d tokens for one code", got)
		}
	}
}

func TestFailedProofInvalidatesTheCode(t *testing.T) {
	t.Parallel()
	h := start(t, "")
	code := h.signIn("ada", "ada@example.com", true)
	h.redeem(redemption(code, set("code_verifier", strings.Repeat("x", 43))))
	if got, body := h.redeem(redemption(code)); got.status != http.StatusBadRequest || body["error"] != "invalid_grant" {
		t.Errorf("%d %s", got.status, got.body)
	}
}

func TestCodesAndTokensExpire(t *testing.T) {
	t.Parallel()
	h := start(t, "")
	late := h.signIn("ada", "ada@example.com", true)
	h.clock.Add(10 * time.Minute)
	if got, body := h.redeem(redemption(late)); got.status != http.StatusBadRequest || body["error"] != "invalid_grant" {
		t.Errorf("code after ten minutes: %d %s", got.status, got.body)
	}
	code := h.signIn("ada", "ada@example.com", true)
	h.clock.Add(10*time.Minute - time.Second)
	_, body := h.redeem(redemption(code))
	token, _ := body["access_token"].(string)
	h.clock.Add(time.Hour - time.Second)
	if got := h.get("/api/v1/user", "Bearer "+token); got.status != http.StatusOK {
		t.Errorf("token within its hour: %d", got.status)
	}
	h.clock.Add(time.Second)
	if got := h.get("/api/v1/user", "Bearer "+token); got.status != http.StatusUnauthorized {
		t.Errorf("token after its hour: %d", got.status)
	}
}
