// Package httpapi is the HTTP edge that all functions with endpoints share: routing, strict JSON decoding, validation,
// sessions, CSRF and CORS, preconditions, pagination, the format of errors, and the request log. Services register
// their endpoints here. The package defines no endpoints itself. Business rules and storage do not belong here.
package httpapi

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"reflect"
	"slices"
	"sync"

	"github.com/rs/cors"

	"devplatform/shared/async"
	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/fault"
)

// Config contains the settings and dependencies of a function's edge.
type Config struct {
	// Edge contains APP_URL, ALLOWED_ORIGINS and COOKIE_PLAIN_HTTP.
	Edge config.Edge
	// Logger receives one line for each request.
	Logger *slog.Logger
	// Auth authenticates sessions. It may be nil if no endpoint needs a session.
	Auth Authenticator
	// Clock is used to measure the duration of requests and to set the lifetime of cookies.
	Clock clock.Clock
}

// Operation declares an endpoint: the requests that it receives, how the edge serves them, and its description in the
// OpenAPI document.
type Operation struct {
	// ID is the operation's name in the document, such as "login".
	ID string
	// Method and Path select the requests. Path may have parameters: "/api/auth/sessions/{id}".
	Method, Path string
	// Tag is the group in which the document shows the operation.
	Tag Tag
	// Summary is one line of text. Description is Markdown and may be longer.
	Summary, Description string
	// Status is the status of a successful response; 0 means 200.
	Status int
	// OtherStatuses are more statuses that a successful response can have. A handler selects one with the field Status of
	// its output. The body of a 201 has the same type as the body of a 200. A 304 has no body.
	OtherStatuses []int
	// Errors lists the errors that the handler returns. The document also contains the errors that the edge returns
	// (session, CSRF, size and so on). They are not listed here. If the list has no CONFLICT, a conflict that outlasts all
	// retries becomes SERVICE_UNAVAILABLE.
	Errors []*fault.Error
	// SessionFirst makes the edge read the session before it reads the input and calls the handler. It is for endpoints
	// that need the caller's account before their first read of the database.
	SessionFirst bool
	// IgnoreUnknownFields makes the edge ignore unknown fields of the body, at every depth, instead of rejecting them. It
	// is for endpoints whose clients send fields of their own.
	IgnoreUnknownFields bool
	// Hidden leaves the operation out of the document.
	Hidden bool
}

// MaxBody returns the maximum size of a body in bytes.
func (op *Operation) MaxBody() int { return cmp.Or(op.Tag.MaxBody, defaultMaxBody) }

// Tag is a group of operations. The document shows the groups in the order of their registration.
type Tag struct {
	Name, Description string
	// MaxBody is the maximum size in bytes of the body of a request to the group; 0 means 4 MiB.
	MaxBody int
}

// Endpoint is a registered operation.
type Endpoint struct {
	Operation

	// Session reports whether callers need a session.
	Session bool
	// Stream reports whether a successful response is a stream of server-sent events.
	Stream bool
	// Input and Output are the struct types that the handler takes and returns. Output is nil for a stream.
	Input, Output reflect.Type
	// TooLarge is the error for a request whose body is larger than the group allows.
	TooLarge *fault.Error

	pattern string // for ServeMux and the log
	// call calls the handler and returns its output, nil if the response is a stream.
	call func(*exchange, any) (any, error)
	// binding and rendering are created when the endpoint receives its first request, to keep cold starts short.
	binding   func() *binding
	rendering func() *rendering
}

// Routes collects the endpoints of a function.
type Routes struct{ Endpoints []*Endpoint }

// Private registers an endpoint for callers with a session.
//
// I is a struct. Its fields with the tags path, query, header and cookie receive parameters, and the field Body
// receives the JSON body. A body is optional if Body is a pointer. The tags minLength, maxLength (in code points),
// minimum, maximum, minItems, maxItems, enum, nullable and required restrict values, and nul:"allow" permits NUL in a
// text. A list must have the tag maxItems. A text of the body without maxLength can have 48 KiB of JSON, or any size if
// it permits NUL. For rules that tags cannot express, the type can have a method Validate(*Validation). Embedded
// structs must be exported.
//
// O is a struct. Its fields with the tag header become headers. Its field Body is encoded as JSON, except for a []byte,
// which is written unchanged. The field Status, if there is one, overrides the operation's status.
func Private[I, O any](r *Routes, op Operation, handler func(context.Context, Caller, *I) (*O, error)) {
	r.add(op, true, reflect.TypeFor[I](), reflect.TypeFor[O](), func(x *exchange, in any) (any, error) {
		return handler(x.ctx, x.caller, in.(*I))
	})
}

// Public registers an endpoint that needs no session. See Private for I and O.
func Public[I, O any](r *Routes, op Operation, handler func(context.Context, *I) (*O, error)) {
	r.add(op, false, reflect.TypeFor[I](), reflect.TypeFor[O](), func(x *exchange, in any) (any, error) {
		return handler(x.ctx, in.(*I))
	})
}

// PrivateStream registers an endpoint whose successful response is a stream of server-sent events. An error that the
// handler returns before its first flush becomes an ordinary error response. A later error is only logged, so the
// handler must also report it in the stream. See Private for I.
func PrivateStream[I any](r *Routes, op Operation, handler func(context.Context, Caller, *I, *EventStream) error) {
	e := r.add(op, true, reflect.TypeFor[I](), nil, func(x *exchange, in any) (any, error) {
		return nil, handler(x.ctx, x.caller, in.(*I), &EventStream{x.out, x.confirm})
	})
	e.Stream = true
}

func (r *Routes) add(
	op Operation, session bool, in, out reflect.Type, call func(*exchange, any) (any, error),
) *Endpoint {
	if op.Status == 0 {
		op.Status = http.StatusOK
	}
	e := &Endpoint{
		Operation: op, Session: session, Input: in, Output: out, TooLarge: tooLarge(op.MaxBody()), call: call,
		pattern: op.Method + " " + op.Path,
	}
	e.binding = sync.OnceValue(func() *binding { return newBinding(in) })
	e.rendering = sync.OnceValue(func() *rendering { return newRendering(out) })
	r.Endpoints = append(r.Endpoints, e)
	return e
}

// NewRouter returns the HTTP handler of a function with the endpoints that register adds.
func NewRouter(cfg Config, register ...func(*Routes)) http.Handler {
	e := &edge{cfg: cfg, mux: http.NewServeMux(), cors: newCORS(cfg.Edge), csrf: newCSRF(cfg.Edge)}
	var routes Routes
	for _, add := range register {
		add(&routes)
	}
	for _, endpoint := range routes.Endpoints {
		e.mux.HandleFunc(endpoint.pattern, func(w http.ResponseWriter, _ *http.Request) {
			w.(*match).endpoint = endpoint
		})
	}
	return e
}

// newCSRF returns the check that rejects an unsafe request if the browser's headers show that it was sent by a page of
// another site.
func newCSRF(cfg config.Edge) *http.CrossOriginProtection {
	protection := http.NewCrossOriginProtection()
	for _, origin := range cfg.TrustedOrigins() {
		if err := protection.AddTrustedOrigin(string(origin)); err != nil {
			panic(fmt.Sprintf("httpapi: %v", err)) // config.Origin accepts only valid origins
		}
	}
	return protection
}

// newCORS returns the handler that lets pages of trusted origins read responses. It does not use the library's list of
// origins, because the library allows every origin if that list is empty.
func newCORS(cfg config.Edge) *cors.Cors {
	allowed := cfg.TrustedOrigins()
	return cors.New(cors.Options{
		AllowOriginFunc:  func(origin string) bool { return slices.Contains(allowed, config.Origin(origin)) },
		AllowCredentials: true,
		AllowedMethods:   []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodDelete},
		AllowedHeaders:   []string{"Content-Type", "If-Match", "If-None-Match"},
		ExposedHeaders: []string{
			"RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "Retry-After", "X-Request-Id", "ETag",
		},
		MaxAge: 600,
	})
}

// Lazy builds a handler in the background. It immediately returns a handler that waits until the build is complete. In
// the meantime, the function can request its first event from Lambda. If build panics, every request panics, and the
// adapter reports the panic to Lambda.
func Lazy(build func() http.Handler) http.Handler {
	built := sync.OnceValue(build)
	async.Go(func() error {
		built()
		return nil
	}, func(error) {}) // every request panics
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { built().ServeHTTP(w, r) })
}
