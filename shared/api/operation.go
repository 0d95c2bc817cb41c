package api

import (
	"context"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// Operation declares an endpoint: to the router, to the edge and to the OpenAPI document.
type Operation struct {
	// ID is the operation's name in the document and in the request log, such as "login".
	ID string
	// Method and Path, with parameters in braces: "/api/auth/sessions/{id}".
	Method, Path string
	// Tag is the group it is shown under.
	Tag string
	// Summary is one line for the reader of the document; Description may be more.
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
	// Errors are the codes that the handler itself answers with. What the edge adds
	// (validation, session, CSRF, size, faults) is known already.
	Errors []Code
}

const sessionScheme = "session"

// Register adds an operation. The handler's errors may be of any kind: an *Error is answered as it is,
// storage's classes and everything else as asError says, and the log has the whole chain.
func Register[I, O any](h huma.API, op Operation, handler func(context.Context, *I) (*O, error)) {
	status := op.Status
	if status == 0 {
		status = http.StatusOK
	}
	declared := huma.Operation{
		OperationID: op.ID, Method: op.Method, Path: op.Path,
		Summary: op.Summary, Description: op.Description,
		DefaultStatus: status,
		Responses:     errorResponses(h, op),
		Metadata:      map[string]any{textPlaces: placesOf(op.Text)},
	}
	if op.Tag != "" {
		declared.Tags = []string{op.Tag}
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
			return nil, asError(err)
		}
		return out, nil
	})
	if op.Events {
		documentStream(declared.Responses, status)
	}
	documentAlso(declared.Responses, status, op.Also)
}

// documentAlso adds to the document what huma can't know, the statuses that a handler chooses itself.
func documentAlso(responses map[string]*huma.Response, status int, also []int) {
	success := responses[strconv.Itoa(status)]
	for _, other := range also {
		answer := &huma.Response{Description: http.StatusText(other), Headers: success.Headers}
		if other != http.StatusNotModified {
			answer.Content = success.Content
		}
		responses[strconv.Itoa(other)] = answer
	}
}

// needsSession reports what Register has declared.
func needsSession(op *huma.Operation) bool {
	return slices.ContainsFunc(op.Security, func(needed map[string][]string) bool {
		_, found := needed[sessionScheme]
		return found
	})
}

// byGateway are the answers that the gateway gives in a function's stead: one that failed, and one that was too slow.
// Its throttle is a code like any other.
var byGateway = map[int]Code{http.StatusBadGateway: CodeInternal, http.StatusGatewayTimeout: CodeServiceUnavailable}

// errorResponses documents every error that the operation can answer with, by status.
func errorResponses(h huma.API, op Operation) map[string]*huma.Response {
	// Any request can have a query that is no text.
	codes := append([]Code{CodeInternal, CodeRateLimited, CodeServiceUnavailable, CodeValidationFailed}, op.Errors...)
	if op.Session {
		codes = append(codes, CodeInvalidToken)
	}
	if !safe(op.Method) {
		codes = append(codes, CodeCSRFRejected, CodePayloadTooLarge, CodeUnsupportedMediaType)
	}
	slices.Sort(codes)
	byStatus := map[int][]string{}
	for _, code := range slices.Compact(codes) {
		byStatus[code.Status()] = append(byStatus[code.Status()], string(code))
	}
	for status, code := range byGateway {
		byStatus[status] = []string{string(code)}
	}
	schema := h.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[Error](), true, "Error")
	responses := make(map[string]*huma.Response, len(byStatus)+1)
	for status, names := range byStatus {
		responses[strconv.Itoa(status)] = &huma.Response{
			Description: strings.Join(names, ", "),
			Content:     map[string]*huma.MediaType{jsonType: {Schema: schema}},
		}
	}
	return responses
}

// safe reports whether a method only reads (RFC 9110 §9.2.1).
func safe(method string) bool {
	return method == http.MethodGet || method == http.MethodHead || method == http.MethodOptions
}
