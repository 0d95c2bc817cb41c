// Package api is the HTTP edge that every function shares: routing, strict JSON, sessions, CSRF, CORS, the shape of
// errors, the request log, and the adapters to Lambda, buffered and streamed. It knows API.md §1 and the cookie of §2, but no
// endpoint: those register themselves. Business rules and storage may not enter.
package httpapi

import (
	"log/slog"
	"net/http"
	"path"
	"reflect"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"devplatform/shared/clock"
	"devplatform/shared/config"
)

// Config is what the edge needs to know.
type Config struct {
	// Name and Version go into the OpenAPI document.
	Name, Version string
	// Edge holds APP_URL, ALLOWED_ORIGINS and COOKIE_PLAIN_HTTP.
	Edge config.Edge
	// Logger takes one line a request.
	Logger *slog.Logger
	// Auth reads sessions. It may be nil where no operation needs one.
	Auth Authenticator
	// Clock times requests and cookies.
	Clock clock.Clock
}

// edge is a built router.
type edge struct {
	cfg  Config
	mux  *http.ServeMux
	next http.Handler // CORS, CSRF, then the mux
	csrf *http.CrossOriginProtection
	// schemas are those of the document, by reference.
	schemas huma.Registry
}

// NewRouter builds the handler of a function out of what its slices register.
// A faulty registration panics: it is a mistake in the program, found by the first test.
func NewRouter(cfg Config, register ...func(huma.API)) http.Handler {
	e := &edge{cfg: cfg, mux: http.NewServeMux(), csrf: newCSRF(cfg.Edge)}
	e.newAPI(register)
	e.next = newCORS(cfg.Edge).Handler(http.HandlerFunc(e.route))
	return e
}

func (e *edge) newAPI(register []func(huma.API)) huma.API {
	useHuma()
	registry := huma.NewMapRegistry("#/components/schemas/", schemaName)
	registry.RegisterTypeAlias(reflect.TypeFor[clock.Timestamp](), reflect.TypeFor[time.Time]())
	e.schemas = registry
	cfg := huma.Config{
		OpenAPI: &huma.OpenAPI{
			OpenAPI: "3.1.0",
			Info:    &huma.Info{Title: e.cfg.Name, Version: e.cfg.Version},
			Servers: []*huma.Server{{URL: "/"}},
			Components: &huma.Components{
				Schemas: registry,
				SecuritySchemes: map[string]*huma.SecurityScheme{
					sessionScheme: {Type: "apiKey", In: "cookie", Name: sessionCookie, Description: "Set by a login."},
				},
			},
		},
		Formats:       map[string]huma.Format{jsonType: {Marshal: marshal, Unmarshal: unmarshal}},
		DefaultFormat: jsonType,
		Transformers:  []huma.Transformer{noteError},
	}
	cfg.AllowAdditionalPropertiesByDefault = true // API.md: unknown request fields are ignored
	h := huma.NewAPI(cfg, adapter{humago.NewAdapter(e.mux, "")})
	h.UseMiddleware(e.session, joinConditions, e.checkBody)
	for _, r := range register {
		r(h)
	}
	return h
}

// schemaName is what a type is called in the document. What is in an event is called so: it has namesakes that show more.
func schemaName(t reflect.Type, hint string) string {
	name := huma.DefaultSchemaNamer(t, hint)
	if request, ok := strings.CutSuffix(name, "InputBody"); ok {
		name = request + "Request"
	} else if answer, ok := strings.CutSuffix(name, "OutputBody"); ok {
		name = answer + "Result" // generators have a FooResponse of their own for an operation foo
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if path.Base(t.PkgPath()) == "event" {
		name = "Event" + name
	}
	return name
}

// adapter takes the limits of a body out of huma's hands, which turns away one of exactly the largest size:
// checkBody has read and measured it already.
type adapter struct{ huma.Adapter }

func (a adapter) Handle(op *huma.Operation, handler func(huma.Context)) {
	op.MaxBodyBytes, op.BodyReadTimeout = -1, -1
	a.Adapter.Handle(op, handler)
}
