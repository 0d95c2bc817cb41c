package httpapi

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"devplatform/shared/awsclient"
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
	mux  *http.ServeMux
	next http.Handler // CORS, then route
	csrf *http.CrossOriginProtection
}

// exchange is a request and its response while the edge serves it.
type exchange struct {
	edge      *edge
	ctx       context.Context // it has the lifetime of the request
	out       *response
	info      RequestInfo
	token     string
	caller    Caller
	operation string
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
	return &exchange{edge: &edge{}}
}

// ServeHTTP serves a request and logs it, even if a handler panics.
func (e *edge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	started := e.cfg.Clock()
	x := &exchange{edge: e, info: e.info(r), out: newResponse(w)}
	x.token = x.readToken(r)
	x.ctx = context.WithValue(WithRequestInfo(awsclient.CountCalls(r.Context()), x.info), exchangeKey{}, x)
	r = r.WithContext(x.ctx)
	for name, value := range securityHeaders {
		x.out.Header().Set(name, value)
	}
	x.out.Header().Set("X-Request-Id", x.info.RequestID)
	defer func() {
		aborted := false
		if cause := recover(); cause != nil {
			aborted = x.handlePanic(cause)
		}
		x.out.finish()
		x.log(r, e.cfg.Clock().Sub(started))
		if aborted {
			panic(http.ErrAbortHandler) // closes the connection, so that the client sees that the body is incomplete
		}
	}()
	e.next.ServeHTTP(x.out, r)
}

// handlePanic responds with INTERNAL_ERROR after a panic. If the response has already started, it only records the
// error and returns true.
func (x *exchange) handlePanic(cause any) (aborted bool) {
	err := fault.ErrInternal.WithCause(fmt.Errorf("panic: %v\n%s", cause, debug.Stack()))
	if x.out.started {
		x.record(err)
		return true
	}
	x.out.reset()
	_ = x.confirm() // if the session has ended, the log must not name the user
	x.fail(err)
	return false
}

// route finds the endpoint of a request and serves the request. If there is no endpoint, it sends an error as JSON,
// because ServeMux would send text or a redirect.
func (e *edge) route(w http.ResponseWriter, r *http.Request) {
	x := exchangeFrom(r.Context())
	if err := rejection(r); err != nil {
		x.fail(err)
		return
	}
	handler, pattern := e.mux.Handler(r)
	if pattern == "" {
		x.noRoute(r, handler)
		return
	}
	if err := e.csrf.Check(r); err != nil {
		x.fail(ErrCrossSite.WithCause(err))
		return
	}
	x.operation = pattern
	e.mux.ServeHTTP(w, r)
}

// noRoute responds to a request that has no endpoint. notFound is the handler that ServeMux returned for the request.
// Its response shows whether the path does not exist or does not support the method.
func (x *exchange) noRoute(r *http.Request, notFound http.Handler) {
	probe := newResponse(discard{http.Header{}})
	notFound.ServeHTTP(probe, r)
	allow := probe.Header().Get("Allow")
	switch {
	case probe.status != http.StatusMethodNotAllowed:
		x.fail(ErrNoRoute)
	case r.Method == http.MethodOptions:
		x.out.Header().Set("Allow", allow+", OPTIONS")
		x.out.WriteHeader(http.StatusNoContent)
	default:
		x.fail(errMethod.WithHeader("Allow", allow))
	}
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
	if !isCanonical(r.URL.Path) {
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

// isCanonical reports whether a path begins with "/" and contains no "//" and no "." or ".." segment. ServeMux would
// redirect a path that is not canonical.
func isCanonical(path string) bool {
	if !strings.HasPrefix(path, "/") || strings.Contains(path, "//") {
		return false
	}
	for segment := range strings.SplitSeq(path, "/") {
		if segment == "." || segment == ".." {
			return false
		}
	}
	return true
}

// serve serves a request to an endpoint.
func (e *edge) serve(_ http.ResponseWriter, r *http.Request, endpoint *Endpoint) {
	x := exchangeFrom(r.Context())
	if err := endpoint.withoutConflict(x.respond(r, endpoint)); err != nil {
		x.cause = err
		if x.out.started {
			x.record(AsError(err))
			return
		}
		x.out.resetBody()
		x.fail(err)
	}
}

// largeBody is the size in bytes above which the session is confirmed before the body is decoded, so that an ended
// session cannot be used to make a function decode large bodies. A smaller body, such as the body of a request that
// saves a file, is cheaper than the additional call to the database.
const largeBody = 2 << 20

// respond serves a request to an endpoint. It sends no result before the session is known to be active.
func (x *exchange) respond(r *http.Request, endpoint *Endpoint) error {
	if !endpoint.Session {
		return x.handle(r, endpoint)
	}
	if err := x.authenticate(); err != nil {
		return err
	}
	if endpoint.SessionFirst || r.ContentLength > largeBody {
		if err := x.confirm(); err != nil {
			return err
		}
	}
	return x.handle(r, endpoint)
}

// handle reads the input, calls the handler and writes its output.
func (x *exchange) handle(r *http.Request, endpoint *Endpoint) error {
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

// fail writes an error response and records the error for the log.
func (x *exchange) fail(err error) {
	failure := AsError(err)
	x.record(failure)
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

// record stores an error for the log.
func (x *exchange) record(failure *fault.Error) {
	x.code = failure.Code
	if x.cause == nil {
		x.cause = failure.Unwrap()
	}
}

// log writes one line for the request. It contains no body, cookie, query string, e-mail address or IP address.
func (x *exchange) log(r *http.Request, took time.Duration) {
	level := slog.LevelInfo
	attrs := []slog.Attr{
		slog.String("requestId", x.info.RequestID),
		slog.String("method", r.Method),
		slog.String("operation", x.operation),
		slog.Int("status", x.out.status),
		slog.Float64("ms", float64(took.Microseconds())/1000),
	}
	attrs = append(attrs, awsclient.LogCalls(x.ctx)...)
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
