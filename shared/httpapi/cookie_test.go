package httpapi_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/edgetest"
	"devplatform/shared/config"
)

// The Set-Cookie headers that end a session and that renew it, for the secure and for the plain cookie. oldCookie is
// the cookie of a session that is renewed.
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
		edge           config.Edge
		method, target string
		cookie         string
		want           []string
	}{
		"login over HTTPS": {
			edge:   plain,
			method: "POST",
			target: "https://h/api/login",
			want:   []string{edgetest.SetSecure},
		},
		"login over HTTP": {
			edge:   plain,
			method: "POST",
			target: "http://h/api/login",
			want:   []string{edgetest.SetSecure, edgetest.SetPlain},
		},
		"login over HTTP, plain cookie disabled": {
			method: "POST",
			target: "http://h/api/login",
			want:   []string{edgetest.SetSecure},
		},
		"logout over HTTPS": {edge: plain, method: "POST", target: "https://h/api/logout", want: []string{clearSecure}},
		"logout over HTTP": {
			edge:   plain,
			method: "POST",
			target: "http://h/api/logout",
			want:   []string{clearSecure, clearPlain},
		},
		"renewal over HTTPS": {
			edge:   plain,
			method: "GET",
			target: "https://h/api/me",
			cookie: oldCookie,
			want:   []string{renewSecure},
		},
		"renewal over HTTP": {
			edge:   plain,
			method: "GET",
			target: "http://h/api/me",
			cookie: oldCookie,
			want:   []string{renewSecure, renewPlain},
		},
		"session that is not renewed": {
			edge:   plain,
			method: "GET",
			target: "http://h/api/me",
			cookie: "__Host-session=good",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			router, _ := edgetest.NewRouter(tc.edge)
			request := edgetest.Request{
				Method: tc.method, Target: tc.target, Header: map[string]string{"Cookie": tc.cookie},
			}
			response := request.Send(t, router)
			if response.Status != 200 {
				t.Errorf("got %d %s, want 200", response.Status, response.Body)
			}
			if diff := cmp.Diff(tc.want, response.Header["Set-Cookie"]); diff != "" {
				t.Errorf("wrong Set-Cookie headers (-want +got):\n%s", diff)
			}
		})
	}
}
