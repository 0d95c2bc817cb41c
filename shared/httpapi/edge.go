package httpapi

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"
	"github.com/rs/cors"

	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/fault"
)

// Headers of every answer (API.md §1). The gateway's own answers have the same, in template.yaml.
var securityHeaders = map[string]string{
	"Cache-Control":             "no-store",
	"X-Content-Type-Options":    "nosniff",
	"Referrer-Policy":           "no-referrer",
	"Strict-Transport-Security": "max-age=31536000; includeSubDomains",
	"Content-Security-Policy":   "default-src 'none'; frame-ancestors 'none'",
}

// state is what the edge knows about the request under way.
type state struct {
	edge      *edge
	info      RequestInfo
	token     string
	userID    string
	operation string
	code      fault.Code
	cause     error
	nulls     []error // what is wrong with the body's nulls
}

type stateKey struct{}

// stateFrom is the request's state; outside of a request, one that nobody reads.
func stateFrom(ctx context.Context) *state {
	if s, ok := ctx.Value(stateKey{}).(*state); ok {
		return s
	}
	return &state{edge: &edge{}}
}

// ServeHTTP is the whole way of a request: it is given its context, served, and logged, whatever happens.
func (e *edge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := e.cfg.Clock()
	s := &state{edge: e, info: e.info(r)}
	s.token = s.readToken(r)
	ctx := context.WithValue(WithRequestInfo(db.CountCalls(r.Context()), s.info), stateKey{}, s)
	r = r.WithContext(ctx)
	out := newResponse(w)
	for k, v := range securityHeaders {
		out.Header().Set(k, v)
	}
	out.Header().Set("X-Request-Id", s.info.RequestID)
	defer func() {
		torn := false
		if cause := recover(); cause != nil {
			torn = s.panicked(out, cause)
		}
		out.finish()
		s.log(ctx, r, out.status, e.cfg.Clock().Sub(began))
		if torn {
			panic(http.ErrAbortHandler) // the one way to end a body so that its reader sees that it is not whole
		}
	}()
	e.next.ServeHTTP(out, r)
}

// panicked answers in place of a handler that gave up. It reports whether that comes too late: an answer that has begun stays torn.
func (s *state) panicked(out *response, cause any) (torn bool) {
	err := fault.ErrInternal.WithCause(fmt.Errorf("panic: %v\n%s", cause, debug.Stack()))
	if out.begun {
		s.note(err)
		return true
	}
	out.reset()
	s.fail(out, err)
	return false
}

// route answers itself what ServeMux would answer as text or with a redirect.
func (e *edge) route(w http.ResponseWriter, r *http.Request) {
	s := stateFrom(r.Context())
	if err := refusal(r); err != nil {
		s.fail(w, err)
		return
	}
	handler, pattern := e.mux.Handler(r)
	if pattern == "" {
		e.noRoute(w, r, handler)
		return
	}
	if err := e.csrf.Check(r); err != nil {
		s.fail(w, errCrossSite.WithCause(err))
		return
	}
	s.operation = pattern
	e.mux.ServeHTTP(w, r)
}

var (
	ErrNoRoute   = fault.New(fault.CodeRouteNotFound, "There is no such path.")
	errCrossSite = fault.New(fault.CodeCSRFRejected, "The request came from another site.")
	errQuery     = fault.New(fault.CodeValidationFailed, "query: must be UTF-8 without NUL")
)

// noRoute tells a path that does not exist from one that lacks the method, which ServeMux knows.
func (e *edge) noRoute(w http.ResponseWriter, r *http.Request, handler http.Handler) {
	s := stateFrom(r.Context())
	probe := newResponse(discard{http.Header{}})
	handler.ServeHTTP(probe, r)
	allow := probe.Header().Get("Allow")
	switch {
	case probe.status != http.StatusMethodNotAllowed:
		s.fail(w, ErrNoRoute)
	case r.Method == http.MethodOptions:
		w.Header().Set("Allow", allow+", OPTIONS")
		w.WriteHeader(http.StatusNoContent)
	default:
		s.fail(w, fault.New(fault.CodeMethodNotAllowed, "This path does not know the method.").WithHeader("Allow", allow))
	}
}

// refusal is why a request is turned away before anybody looks at its path, nil if it is not.
func refusal(r *http.Request) error {
	if err, ok := r.Context().Value(refusalKey{}).(error); ok {
		return err
	}
	if !canonical(r.URL.Path) {
		return ErrNoRoute
	}
	if !strings.Contains(r.URL.RawQuery, "%") {
		return nil
	}
	for name, values := range r.URL.Query() {
		if text := name + strings.Join(values, ""); strings.ContainsRune(text, 0) || !utf8.ValidString(text) {
			return errQuery
		}
	}
	return nil
}

type refusalKey struct{}

// WithRefusal returns a context under which the router rejects the request with err. It is for adapters that cannot
// convert what they received to a request: the response then has the same headers and log line as any other.
func WithRefusal(ctx context.Context, err error) context.Context {
	return context.WithValue(ctx, refusalKey{}, err)
}

// canonical reports whether a path has no empty, "." or ".." segment, which ServeMux would redirect.
func canonical(path string) bool {
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

// fail writes an error answer in the contract's shape and keeps it for the log.
func (s *state) fail(w http.ResponseWriter, err error) {
	answer := AsError(err)
	s.note(answer)
	for k, values := range answer.GetHeaders() {
		w.Header()[k] = values
	}
	body, err := json.Marshal(answer)
	if err != nil { // two strings; a message of ours with broken UTF-8
		body = []byte(`{"error":"` + fault.ErrInternal.Message + `","code":"` + string(fault.CodeInternal) + `"}`)
	}
	w.Header().Set("Content-Type", jsonType)
	w.WriteHeader(answer.GetStatus())
	_, _ = w.Write(body) //nolint:gosec // JSON, under nosniff; the response is a buffer
}

// note keeps an error answer for the log.
func (s *state) note(answer *fault.Error) {
	s.code = answer.Code
	if s.cause == nil {
		s.cause = answer.Unwrap()
	}
}

// noteError sees the errors that huma writes.
func noteError(ctx huma.Context, _ string, v any) (any, error) {
	if answer, ok := v.(*fault.Error); ok {
		stateFrom(ctx.Context()).note(answer)
	}
	return v, nil
}

// log writes the request's one line. Bodies, cookies, addresses of people and query strings stay out of it.
func (s *state) log(ctx context.Context, r *http.Request, status int, took time.Duration) {
	level := slog.LevelInfo
	attrs := []slog.Attr{
		slog.String("requestId", s.info.RequestID),
		slog.String("method", r.Method),
		slog.String("operation", s.operation),
		slog.Int("status", status),
		slog.Float64("ms", float64(took.Microseconds())/1000),
		slog.Int("dynamodbCalls", db.Calls(ctx)),
	}
	if s.userID != "" {
		attrs = append(attrs, slog.String("userId", s.userID))
	}
	if s.code != "" {
		attrs = append(attrs, slog.String("code", string(s.code)))
	}
	failed := s.code != "" && s.code.Status() >= http.StatusInternalServerError // perhaps after the answer had begun
	if failed || status >= http.StatusInternalServerError {
		level = slog.LevelError
	}
	if s.cause != nil {
		attrs = append(attrs, slog.String("cause", s.cause.Error()))
	}
	s.edge.cfg.Logger.LogAttrs(ctx, level, "request", attrs...)
}

// info is what the Lambda adapter left in the context, or, behind a plain HTTP server, what the connection shows.
func (e *edge) info(r *http.Request) RequestInfo {
	info := RequestInfoFrom(r.Context())
	if info.RequestID == "" {
		host, _, err := net.SplitHostPort(r.RemoteAddr)
		if err != nil {
			host = r.RemoteAddr
		}
		info = RequestInfo{RequestID: rand.Text(), SourceIP: host, UserAgent: r.UserAgent(), HTTPS: r.TLS != nil}
		info.BaseURL = BaseURL(info.HTTPS, r.Host, "")
	}
	if app := e.cfg.Edge.AppURL; app != "" {
		info.BaseURL = string(app)
	}
	return info
}

// baseURL is relative where the client sent an empty Host.
func BaseURL(https bool, host, stage string) string {
	if host == "" {
		return stage
	}
	scheme := "http://"
	if https {
		scheme = "https://"
	}
	return scheme + host + stage
}

// trusted are the origins whose pages may call the service.
func trusted(cfg config.Edge) []string {
	var origins []string
	for _, origin := range append([]config.Origin{cfg.AppURL}, cfg.AllowedOrigins...) {
		if origin != "" {
			origins = append(origins, string(origin))
		}
	}
	return origins
}

// newCSRF refuses unsafe requests that a browser marks as coming from another site's page.
func newCSRF(cfg config.Edge) *http.CrossOriginProtection {
	protection := http.NewCrossOriginProtection()
	for _, origin := range trusted(cfg) {
		if err := protection.AddTrustedOrigin(origin); err != nil {
			panic(fmt.Sprintf("api: %v", err)) // config.Origin lets none through
		}
	}
	return protection
}

// newCORS lets the pages of trusted origins read answers. It asks a function, because with an
// empty list of origins the library would allow every one.
func newCORS(cfg config.Edge) *cors.Cors {
	allowed := map[string]bool{}
	for _, origin := range trusted(cfg) {
		allowed[origin] = true
	}
	return cors.New(cors.Options{
		AllowOriginFunc:  func(origin string) bool { return allowed[origin] },
		AllowCredentials: true,
		AllowedMethods:   []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodDelete},
		AllowedHeaders:   []string{"Content-Type", "If-Match", "If-None-Match"},
		ExposedHeaders:   []string{"RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "Retry-After", "X-Request-Id", "ETag"},
		MaxAge:           600,
	})
}
