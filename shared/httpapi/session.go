package httpapi

import (
	"context"
	"net/http"
	"time"

	"devplatform/shared/fault"
)

// SessionCookie is the name of the session cookie. plainCookie is the name of a second cookie without the attribute
// Secure. It is for clients that do not send Secure cookies over plain HTTP.
const (
	SessionCookie = "__Host-session"
	plainCookie   = "session"
)

// ErrNoSession reports that a request has no valid session.
var ErrNoSession = fault.New(fault.CodeInvalidToken, "The session is missing or has ended. Please log in.")

// Authenticator returns the caller that a session token belongs to. If the token is not valid, it returns a
// *fault.Error with CodeInvalidToken. Any other error means that the token could not be checked.
type Authenticator interface {
	Authenticate(ctx context.Context, token string) (Caller, *Renewal, error)
}

// Renewal is the new token of a session that was extended because it is in use.
type Renewal struct {
	Token   string
	Expires time.Time
}

// SessionToken returns the session token of the current request, or "".
func SessionToken(ctx context.Context) string { return exchangeFrom(ctx).token }

// SessionCookies returns the Set-Cookie values that start a session with the client of the current request.
func SessionCookies(ctx context.Context, token string, expires time.Time) []string {
	x := exchangeFrom(ctx)
	return x.cookies(token, expires, max(1, int(expires.Sub(x.edge.cfg.Clock())/time.Second)))
}

// ClearedCookies returns the Set-Cookie values that end the session at the client of the current request.
func ClearedCookies(ctx context.Context) []string {
	return exchangeFrom(ctx).cookies("", time.Unix(0, 0), -1)
}

func (x *exchange) cookies(value string, expires time.Time, maxAge int) []string {
	cookie := http.Cookie{ //nolint:gosec // only the second cookie is not Secure, see plainCookie
		Name: SessionCookie, Value: value, Path: "/", Expires: expires, MaxAge: maxAge,
		HttpOnly: true, Secure: true, SameSite: http.SameSiteLaxMode,
	}
	values := []string{cookie.String()}
	if x.usesPlainCookie() {
		cookie.Name, cookie.Secure = plainCookie, false
		values = append(values, cookie.String())
	}
	return values
}

// usesPlainCookie reports whether responses to this client set the second cookie, and its requests may contain it.
func (x *exchange) usesPlainCookie() bool { return x.edge.cfg.Edge.CookiePlainHTTP && !x.info.HTTPS }

// readToken returns the session token of a request. A __Host- cookie cannot be set by another host or over plain HTTP.
// If there is one, it takes precedence, even if its token is not valid.
func (x *exchange) readToken(r *http.Request) string {
	if cookies := r.CookiesNamed(SessionCookie); len(cookies) > 0 {
		return cookies[0].Value
	}
	if cookies := r.CookiesNamed(plainCookie); x.usesPlainCookie() && len(cookies) > 0 {
		return cookies[0].Value
	}
	return ""
}

// authenticate sets the caller, and sets new session cookies if the session was extended.
func (x *exchange) authenticate() error {
	if x.token == "" {
		return ErrNoSession
	}
	caller, renewal, err := x.edge.cfg.Auth.Authenticate(x.ctx, x.token)
	if err != nil {
		return err
	}
	x.caller = caller
	if renewal != nil {
		for _, cookie := range SessionCookies(x.ctx, renewal.Token, renewal.Expires) {
			x.out.Header().Add("Set-Cookie", cookie)
		}
	}
	return nil
}
