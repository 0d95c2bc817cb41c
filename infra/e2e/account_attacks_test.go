package e2e

import (
	"net"
	"net/http"
	"net/url"
	"testing"
	"time"

	"devplatform/infra/platformtest"
)

// TestUnavailableCodeHost signs in with a code host that accepts connections and never responds, and with one that
// cannot be reached. The sign-in ends within a few seconds and is not reported as a refusal.
func TestUnavailableCodeHost(t *testing.T) {
	t.Parallel()
	hanging, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { _ = hanging.Close() })
	closed, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	must(t, closed.Close())
	for name, address := range map[string]string{"hanging": hanging.Addr().String(), "unreachable": closed.Addr().String()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base := "http://" + address
			p := platformtest.Start(t, "OAUTH_PROVIDER=gitea", "OAUTH_BASE_URL="+base, "OAUTH_CLIENT_ID=id", "OAUTH_CLIENT_SECRET=a secret of the client")
			c := platformtest.NewClient(t, p.URL)
			begin := c.Do("GET", "/api/auth/codehost", "")
			begin.Want(t, http.StatusFound)
			page, err := url.Parse(begin.Header.Get("Location"))
			must(t, err)
			started := time.Now()
			response := c.Do("GET", "/api/auth/codehost/callback?code=x&state="+page.Query().Get("state"), "")
			response.WantError(t, http.StatusServiceUnavailable, "SERVICE_UNAVAILABLE")
			if took := time.Since(started); took > 8*time.Second {
				t.Errorf("the response took %v, want at most 5 seconds and the time of a busy machine", took)
			}
			if response.Header.Get("Retry-After") == "" {
				t.Error("the response has no Retry-After header")
			}
		})
	}
}
