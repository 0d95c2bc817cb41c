package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"devplatform/shared/fault"
)

// The session cookie and its twin without Secure, for clients that hold Secure cookies back over plain http (API.md §2).
const (
	sessionCookie = "__Host-session"
	twinCookie    = "session"
)

var errNoSession = fault.New(fault.CodeInvalidToken, "The session is missing or has ended. Please log in.")

// SessionToken is the token in the request's cookie, "" if there is none.
func SessionToken(ctx context.Context) string { return stateFrom(ctx).token }

// SessionCookies are the Set-Cookie values that give the client a session until expires.
func SessionCookies(ctx context.Context, token string, expires time.Time) []string {
	s := stateFrom(ctx)
	return s.cookies(token, expires, max(1, int(expires.Sub(s.edge.cfg.Clock())/time.Second)))
}

// ClearedCookies are the Set-Cookie values that take the client's session away.
func ClearedCookies(ctx context.Context) []string {
	return stateFrom(ctx).cookies("", time.Unix(0, 0), -1)
}

func (s *state) cookies(value string, expires time.Time, maxAge int) []string {
	cookie := http.Cookie{ //nolint:gosec // Secure is taken away from the twin alone, see there
		Name: sessionCookie, Value: value, Path: "/", Expires: expires, MaxAge: maxAge,
		HttpOnly: true, Secure: true, SameSite: http.SameSiteLaxMode,
	}
	values := []string{cookie.String()}
	if s.twin() {
		cookie.Name, cookie.Secure = twinCookie, false
		values = append(values, cookie.String())
	}
	return values
}

// twin reports whether this request's client may have, and is given, the twin.
func (s *state) twin() bool { return s.edge.cfg.Edge.CookiePlainHTTP && !s.info.HTTPS }

// readToken takes the token from the cookie that counts. A __Host- cookie can't be planted by another
// host or over plain http, so it wins wherever it is present, even if it is no good.
func (s *state) readToken(r *http.Request) string {
	if cookies := r.CookiesNamed(sessionCookie); len(cookies) > 0 {
		return cookies[0].Value
	}
	if cookies := r.CookiesNamed(twinCookie); s.twin() && len(cookies) > 0 {
		return cookies[0].Value
	}
	return ""
}

// session lets only callers with a live session through to operations that need one.
func (e *edge) session(ctx huma.Context, next func(huma.Context)) {
	if !needsSession(ctx.Operation()) {
		next(ctx)
		return
	}
	r, w := humago.Unwrap(ctx)
	s := stateFrom(r.Context())
	if s.token == "" {
		s.fail(w, errNoSession)
		return
	}
	caller, renewal, err := e.cfg.Auth.Authenticate(r.Context(), s.token)
	if err != nil {
		s.fail(w, err)
		return
	}
	s.userID = caller.UserID
	if renewal != nil {
		for _, c := range SessionCookies(r.Context(), renewal.Token, renewal.Expires) {
			w.Header().Add("Set-Cookie", c)
		}
	}
	next(huma.WithContext(ctx, WithCaller(ctx.Context(), caller)))
}
