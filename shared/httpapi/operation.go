package httpapi

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"devplatform/shared/fault"
)

// Operation declares an endpoint: to the router, to the edge and to the OpenAPI document.
type Operation struct {
	// ID is the operation's name in the document and in the request log, such as "login".
	ID string
	// Method and Path, with parameters in braces: "/api/auth/sessions/{id}".
	Method, Path string
	// Tag is the group it is shown under.
	Tag Tag
	// Summary is one line for the reader of the document; Description may be more, in Markdown.
	Summary, Description string
	// Status of a success; 0 is 200.
	Status int
	// Also are further statuses of a success, which the handler chooses with its output's Status: 201 beside 200 has the
	// same body, 304 has none.
	Also []int
	// Text are the places of the body that may hold NUL, by their names, * for any element of a list:
	// "content", "operations.*.content".
	Text []string
	// Events says that a success is a stream of server-sent events, which the output, a huma.StreamResponse, writes with EventStreamOf.
	Events bool
	// Session says that only callers with a live session get through to the handler.
	Session bool
	// Errors are what the handler itself answers with, in the handler's own words, which the document shows; several of a code,
	// where what they say differs. What the edge adds (session, CSRF, size, faults) is known already, and so is that a request
	// may be refused as VALIDATION_FAILED: one that is here is shown in place of the edge's example of it.
	Errors []*fault.Error
	// Examples makes the examples of the bodies for the document, and is not called for anything else. Where there is none, one is
	// made of the examples of the fields.
	Examples func() Examples
}

// Tag is a group of operations. The document shows groups in the order in which their first operations are registered.
type Tag struct{ Name, Description string }

// Examples are what bodies look like: the value that a handler would take or answer with, to be written as JSON; a string where the body is
// no JSON; Named for several. nil: one made of the examples of the fields.
type Examples struct{ Request, Response any }

// ExampleTime is when everything happened that examples tell of.
var ExampleTime = time.Date(2026, time.January, 31, 8, 15, 30, 123_000_000, time.UTC)

// Named are several examples of one body, by names that say what they show.
type Named map[string]any

const (
	sessionScheme = "session"
	// declaredAs names the Operation in the metadata of huma's.
	declaredAs = "operation"
)

// Register adds an operation. The handler's errors may be of any kind: an *fault.Error is answered as it is,
// storage's classes and everything else as asError says, and the log has the whole chain.
func Register[I, O any](h huma.API, op Operation, handler func(context.Context, *I) (*O, error)) {
	if op.Status == 0 {
		op.Status = http.StatusOK
	}
	declared := huma.Operation{
		OperationID: op.ID, Method: op.Method, Path: op.Path,
		Summary: op.Summary, Description: op.Description,
		DefaultStatus: op.Status,
		Metadata:      map[string]any{textPlaces: placesOf(op.Text), declaredAs: &op},
	}
	if op.Tag.Name != "" {
		declared.Tags = []string{op.Tag.Name}
		addTag(h.OpenAPI(), op.Tag)
	}
	declared.Security = []map[string][]string{{}} // said in so many words: nothing is needed
	if op.Session {
		declared.Security[0][sessionScheme] = []string{}
	}
	huma.Register(h, declared, func(ctx context.Context, in *I) (*O, error) {
		if nulls := stateFrom(ctx).nulls; nulls != nil {
			return nil, invalid(nulls)
		}
		out, err := handler(ctx, in)
		if err != nil {
			stateFrom(ctx).cause = err
			return nil, AsError(err)
		}
		return out, nil
	})
}

func addTag(document *huma.OpenAPI, tag Tag) {
	if !slices.ContainsFunc(document.Tags, func(t *huma.Tag) bool { return t.Name == tag.Name }) {
		document.Tags = append(document.Tags, &huma.Tag{Name: tag.Name, Description: tag.Description})
	}
}

// needsSession reports what Register has declared.
func needsSession(op *huma.Operation) bool {
	return slices.ContainsFunc(op.Security, func(needed map[string][]string) bool {
		_, found := needed[sessionScheme]
		return found
	})
}

// safe reports whether a method only reads (RFC 9110 §9.2.1).
func safe(method string) bool {
	return method == http.MethodGet || method == http.MethodHead || method == http.MethodOptions
}
