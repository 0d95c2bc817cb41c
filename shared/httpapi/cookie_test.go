package httpapi_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/edgetest"
	"devplatform/shared/config"
)

// The Set-Cookie headers that end a session and that renew a session, for the secure and for the plain cookie. The edge
// renews the session of oldCookie (see edgetest.Sessions).
const (
	clearSecure = "__Host-session=; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=0; " +
		"HttpOnly; Secure; SameSite=Lax"
	clearPlain  = "session=; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=0; HttpOnly; SameSite=Lax"
	renewSecure = "__Host-session=fresh; Path=/; Expires=Fri, 27 Nov 2026 12:00:00 GMT; Max-Age=604800; " +
		"HttpOnly; Secure; SameSite=Lax"
	renewPlain = "session=fresh; Path=/; Expires=Fri, 27 Nov 2026 12:00:00 GMT; Max-Age=604800; HttpOnly; SameSite=Lax"
	oldCookie  = "__Host-session=old"
)

func TestCookies(t *testing.T) {
	t.Parallel()
	plain := config.Edge{CookiePlainHTTP: true}
	for name, tc := range map[string]struct {
		edge                   config.Edge
		method, target, cookie string
		want                   []string
	}{
		"login over HTTPS": {plain, "POST", "https://h/api/login", "", []string{edgetest.SetSecure}},
		"login over HTTP": {
			plain, "POST", "http://h/api/login", "", []string{edgetest.SetSecure, edgetest.SetPlain},
		},
		"plain cookie disabled":       {config.Edge{}, "POST", "http://h/api/login", "", []string{edgetest.SetSecure}},
		"logout over HTTPS":           {plain, "POST", "https://h/api/logout", "", []string{clearSecure}},
		"logout over HTTP":            {plain, "POST", "http://h/api/logout", "", []string{clearSecure, clearPlain}},
		"renewal over HTTPS":          {plain, "GET", "https://h/api/me", oldCookie, []string{renewSecure}},
		"renewal over HTTP":           {plain, "GET", "http://h/api/me", oldCookie, []string{renewSecure, renewPlain}},
		"session that is not renewed": {plain, "GET", "http://h/api/me", "__Host-session=good", nil},
	} {
		router, _ := edgetest.NewRouter(tc.edge)
		request := edgetest.Request{Method: tc.method, Target: tc.target, Header: map[string]string{"Cookie": tc.cookie}}
		response := request.Send(t, router)
		if diff := cmp.Diff(tc.want, response.Header["Set-Cookie"]); diff != "" || response.Status != 200 {
			t.Errorf("%s: got status %d, Set-Cookie headers (-want +got):\n%s", name, response.Status, diff)
		}
	}
}
