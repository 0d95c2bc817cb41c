package httpapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"path"
	"runtime/debug"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/rs/cors"

	"devplatform/shared/awsclient"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/fault"
)

// securityHeaders are headers that every response has. The gateway's own responses also have them (see template.yaml).
var securityHeaders = map[string]string{
	"Cache-Control":             "no-store",
	"X-Content-Type-Options":    "nosniff",
	"Referrer-Policy":           "no-referrer",
	"Strict-Transport-Security": "max-age=31536000; includeSubDomains",
	"Content-Security-Policy":   "default-src 'none'; frame-ancestors 'none'",
}

// Errors that the edge itself returns.
var (
	ErrNoRoute = fault.New(
		fault.CodeRouteNotFound, "The path does not exist. GET /api/openapi.json returns all paths.")
	ErrCrossSite = fault.New(
		fault.CodeCSRFRejected, "The request was sent by a page of another site. Send it from a trusted origin.")
	ErrQuery  = fault.Invalid(fault.Field("query", "must be UTF-8 without NUL"))
	errMethod = fault.New(
		fault.CodeMethodNotAllowed, "The method is not allowed for this path. Use a method of the Allow header.")
)

// edge is the router of a function.
type edge struct {
	cfg  Config
	mux  *http.ServeMux // its handlers only store the endpoint (see match)
	cors *cors.Cors
	csrf *http.CrossOriginProtection
}

// exchange is a request and its response while the edge serves it.
type exchange struct {
	edge     *edge
	ctx      context.Context // of the request, with the RequestInfo and, after authentication, the guard of the session
	out      *response
	token    string
	caller   Caller
	endpoint *Endpoint // nil if there is no endpoint for the request
	// code and cause describe an error response in the log.
	code  fault.Code
	cause error
}

type exchangeKey struct{}

// exchangeFrom returns the exchange of the current request. Outside of a request, it returns an empty one.
func exchangeFrom(ctx context.Context) *exchange {
	if x, ok := ctx.Value(exchangeKey{}).(*exchange); ok {
		return x
	}
	return &exchange{edge: &edge{}, ctx: ctx}
}

// ServeHTTP serves a request and logs it, even if a handler panics.
func (e *edge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	started := e.cfg.Clock()
	info := e.info(r)
	x := &exchange{edge: e, out: &response{to: w, header: http.Header{}}}
	x.ctx = context.WithValue(WithRequestInfo(awsclient.CountCalls(r.Context()), info), exchangeKey{}, x)
	x.token = x.readToken(r)
	for name, value := range securityHeaders {
		x.out.Header().Set(name, value)
	}
	x.out.Header().Set("X-Request-Id", info.RequestID)
	defer func() {
		aborted := false
		if cause := recover(); cause != nil {
			aborted = x.handlePanic(cause)
		}
		if !x.out.started {
			x.out.send()
		}
		x.log(r, e.cfg.Clock().Sub(started))
		if aborted {
			panic(http.ErrAbortHandler) // closes the connection, so that the client sees that the body is incomplete
		}
	}()
	if err := x.serve(r.WithContext(x.ctx)); err != nil {
		x.fail(err)
	}
}

// largeBody is the size in bytes above which the session is confirmed before the body is decoded, so that an ended
// session cannot be used to make a function decode large bodies. A smaller body, such as the body of a request that
// saves a file, is cheaper than the additional call to the database.
const largeBody = 2 << 20

// serve serves a request: CORS, route, CSRF, session, input, handler, output. It writes the response unless it returns
// an error. It sends no result before the session is known to be active.
func (x *exchange) serve(r *http.Request) error {
	if x.edge.cors.HandlerFunc(x.out, r); x.out.status != 0 {
		return nil // the response to a preflight request
	}
	if err := rejection(r); err != nil {
		return err
	}
	var found match
	x.edge.mux.ServeHTTP(&found, r)
	endpoint := found.endpoint
	if endpoint == nil {
		return x.noRoute(r, found)
	}
	if err := x.edge.csrf.Check(r); err != nil {
		return ErrCrossSite.WithCause(err)
	}
	x.endpoint = endpoint
	if endpoint.Session {
		if x.token == "" {
			return ErrNoSession
		}
		ctx, caller, err := x.edge.cfg.Auth.Authenticate(x.ctx, x.token)
		if err != nil {
			return err
		}
		x.ctx, x.caller = ctx, caller
		if endpoint.SessionFirst || r.ContentLength > largeBody {
			if err := x.confirm(); err != nil {
				return err
			}
		}
	}
	in, err := endpoint.Read(r, x.caller)
	var out any
	if err == nil {
		out, err = endpoint.call(x, in)
	}
	if refused := x.confirm(); refused != nil {
		return refused
	}
	if err != nil || endpoint.Stream {
		return err
	}
	return endpoint.rendering().write(x.out, endpoint.Status, out)
}

// match is the ResponseWriter with which the router's ServeMux is called to find the endpoint of a request. If there is
// no endpoint, match receives the response of ServeMux: text or a redirect, which clients must not see.
type match struct {
	endpoint *Endpoint
	header   http.Header
	status   int
}

// Header returns the headers of ServeMux's response, such as Allow.
func (m *match) Header() http.Header {
	if m.header == nil {
		m.header = http.Header{}
	}
	return m.header
}

// WriteHeader stores the status. Write discards the body.
func (m *match) WriteHeader(status int)      { m.status = status }
func (m *match) Write(p []byte) (int, error) { return len(p), nil }

// noRoute responds to a request that has no endpoint, because the path does not exist or does not support the method.
func (x *exchange) noRoute(r *http.Request, found match) error {
	allow := found.header.Get("Allow")
	switch {
	case found.status != http.StatusMethodNotAllowed:
		return ErrNoRoute
	case r.Method == http.MethodOptions:
		x.out.Header().Set("Allow", allow+", OPTIONS")
		x.out.WriteHeader(http.StatusNoContent)
		return nil
	}
	return errMethod.WithHeader("Allow", allow)
}

// handlePanic responds with INTERNAL_ERROR after a panic. If the response has already started, it only records the
// error and returns true.
func (x *exchange) handlePanic(cause any) (aborted bool) {
	if !x.out.started {
		_ = x.confirm() // if the session has ended, the log must not name the user
	}
	x.fail(fmt.Errorf("panic: %v\n%s", cause, debug.Stack()))
	return x.out.started
}

type rejectionKey struct{}

// WithRejection returns a context that makes the router reject the request with err. Adapters use it if they cannot
// convert an event to a request, and Proxy if the client's address is unknown. The router adds its usual headers to the
// response and logs the request as usual.
func WithRejection(ctx context.Context, err error) context.Context {
	return context.WithValue(ctx, rejectionKey{}, err)
}

// rejection returns the reason to reject a request before its endpoint is looked up, or nil.
func rejection(r *http.Request) error {
	if err, ok := r.Context().Value(rejectionKey{}).(error); ok {
		return err
	}
	if p := r.URL.Path; p != "/" && path.Clean(p) != strings.TrimSuffix(p, "/") { // ServeMux would redirect it
		return ErrNoRoute
	}
	if !strings.Contains(r.URL.RawQuery, "%") {
		return nil
	}
	for name, values := range r.URL.Query() {
		if text := name + strings.Join(values, ""); strings.ContainsRune(text, 0) || !utf8.ValidString(text) {
			return ErrQuery
		}
	}
	return nil
}

// fail writes an error response, and records the error for the log. If the response has started, fail only records the
// error. A conflict that outlasted all retries becomes SERVICE_UNAVAILABLE if the operation does not document CONFLICT:
// the clients of such an operation, for example login, cannot read a resource again, and can only repeat the request.
func (x *exchange) fail(err error) {
	isConflict := func(e *fault.Error) bool { return e.Code == fault.CodeConflict }
	failure := AsError(err)
	if x.endpoint != nil && isConflict(failure) && errors.Is(err, db.ErrConflict) &&
		!slices.ContainsFunc(x.endpoint.Errors, isConflict) {
		failure = fault.ErrUnavailable.WithCause(err)
	}
	x.code, x.cause = failure.Code, err
	if x.endpoint == nil { // the message says no more than the code
		x.cause = failure.Unwrap()
	}
	if x.out.started {
		return
	}
	x.out.reset()
	for name, values := range failure.Headers() {
		x.out.Header()[name] = values
	}
	body, err := json.Marshal(failure)
	if err != nil { // the message is not valid UTF-8
		body, _ = json.Marshal(fault.ErrInternal)
	}
	x.out.Header().Set("Content-Type", jsonType)
	x.out.WriteHeader(failure.Code.Status())
	_, _ = x.out.Write(body) // writing to a buffer does not fail
}

// AsError returns the error that a client sees when a handler returns err. Faults are returned unchanged. Errors of
// storage and of the key ring have codes of their own. Every other error becomes INTERNAL_ERROR, and its text appears
// only in the log.
func AsError(err error) *fault.Error {
	if known, ok := errors.AsType[*fault.Error](err); ok {
		return known
	}
	switch {
	case errors.Is(err, db.ErrUnavailable), errors.Is(err, config.ErrUnavailable):
		return fault.ErrUnavailable.WithCause(err)
	case errors.Is(err, db.ErrCursor):
		return errCursor.WithCause(err)
	case errors.Is(err, db.ErrConflict):
		return fault.ErrConflict.WithCause(err)
	default:
		return fault.ErrInternal.WithCause(err)
	}
}

// log writes one line for the request. It contains no body, cookie, query string, e-mail address or IP address.
func (x *exchange) log(r *http.Request, took time.Duration) {
	level, operation := slog.LevelInfo, ""
	if x.endpoint != nil {
		operation = x.endpoint.pattern
	}
	attrs := []slog.Attr{
		slog.String("requestId", RequestInfoFrom(x.ctx).RequestID),
		slog.String("method", r.Method),
		slog.String("operation", operation),
		slog.Int("status", x.out.status),
		slog.Float64("ms", float64(took.Microseconds())/1000),
	}
	attrs = append(attrs, awsclient.CallAttrs(x.ctx)...)
	if x.caller.UserID != "" {
		attrs = append(attrs, slog.String("userId", x.caller.UserID))
	}
	if x.code != "" {
		attrs = append(attrs, slog.String("code", string(x.code)))
	}
	// The code of an error that occurred after the response had started is not visible in the status.
	if x.out.status >= http.StatusInternalServerError ||
		x.code != "" && x.code.Status() >= http.StatusInternalServerError {
		level = slog.LevelError
	}
	if x.cause != nil {
		attrs = append(attrs, slog.String("cause", x.cause.Error()))
	}
	x.edge.cfg.Logger.LogAttrs(x.ctx, level, "request", attrs...)
}
