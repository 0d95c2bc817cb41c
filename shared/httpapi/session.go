package httpapi

import (
	"context"
	"net/http"
	"time"

	"devplatform/shared/db"
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

// ErrSuspended reports that an operator has suspended the account.
var ErrSuspended = fault.New(fault.CodeSuspended,
	"The account is suspended. Nothing was deleted. Please contact the operator of the service.")

// Authenticator checks the session of a request in two steps, so that the handler's first read of the database can also
// read the session.
type Authenticator interface {
	// Authenticate returns the caller that a token names, and a context for the handler. The context has a guard (see
	// db.Client.WithGuard) that reads the session, and then confirms the caller or returns an error. Errors: a
	// *fault.Error with CodeInvalidToken if the token is not valid. Any other error means that the token could not be
	// checked.
	Authenticate(ctx context.Context, token string) (context.Context, Caller, error)
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
	seconds := int(expires.Sub(x.edge.cfg.Clock()) / time.Second)
	return x.cookies(token, expires, max(1, seconds)) // http.Cookie omits a Max-Age of 0
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
func (x *exchange) usesPlainCookie() bool {
	return x.edge.cfg.Edge.CookiePlainHTTP && !RequestInfoFrom(x.ctx).HTTPS
}

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

// confirm returns nil if the caller's session is active. It sets new session cookies if the session was extended. It
// makes no call to storage if the handler has read from the database.
func (x *exchange) confirm() error {
	if err := db.Admit(x.ctx); err != nil {
		x.caller = Caller{}
		return err
	}
	state := x.caller.session
	if state == nil || state.renewal == nil {
		return nil
	}
	for _, cookie := range SessionCookies(x.ctx, state.renewal.Token, state.renewal.Expires) {
		x.out.Header().Add("Set-Cookie", cookie)
	}
	state.renewal = nil
	return nil
}
