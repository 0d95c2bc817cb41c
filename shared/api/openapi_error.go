package api

import (
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// What the gateway answers in a function's stead, in the words of template.yaml: it was called too often, and a function that failed
// or was too slow.
var (
	errThrottled = NewError(CodeRateLimited, "Too many requests at once. Please slow down.").WithHeader("Retry-After", retryAfter)
	errTimedOut  = NewError(CodeServiceUnavailable, "The service took too long to answer. Please try again.").WithHeader("Retry-After", retryAfter)
)

// byGateway are those whose status is not that of their code.
var byGateway = map[int][]*Error{http.StatusBadGateway: {errInternal}, http.StatusGatewayTimeout: {errTimedOut}}

// errorsOf are all errors that an operation can answer with, those of its own first.
func errorsOf(op *huma.Operation, declared *Operation) []*Error {
	errs := slices.Clone(declared.Errors)
	// Any request can have a query that is no text.
	if !slices.ContainsFunc(errs, func(e *Error) bool { return e.Code == CodeValidationFailed }) {
		errs = append(errs, refusedInput(op))
	}
	if declared.Session {
		errs = append(errs, errNoSession)
	}
	if !safe(declared.Method) {
		errs = append(errs, errCrossSite, errTooLarge, errMediaType)
	}
	return append(errs, errThrottled, errInternal, errUnavailable)
}

// refusedInput is how the edge refuses a request, by what it knows of it.
func refusedInput(op *huma.Operation) *Error {
	if op.RequestBody != nil && op.RequestBody.Required {
		return ValidationError(whole("is not valid JSON"))
	}
	if slices.ContainsFunc(op.Parameters, func(p *huma.Param) bool { return p.Name == "limit" }) {
		return ValidationError(InvalidQuery("limit", "must be at most 100"))
	}
	return errQuery
}

// errorResponses documents every error that the operation can answer with, by status.
func (d *document) errorResponses(op *huma.Operation, declared *Operation) map[int]*huma.Response {
	byStatus := map[int][]*Error{}
	for _, err := range errorsOf(op, declared) {
		byStatus[err.GetStatus()] = append(byStatus[err.GetStatus()], err)
	}
	for status, errs := range byGateway {
		byStatus[status] = errs
	}
	schema := d.schemas.Schema(reflect.TypeFor[Error](), true, "Error")
	success := op.Responses[strconv.Itoa(declared.Status)]
	responses := make(map[int]*huma.Response, len(byStatus))
	for status, errs := range byStatus {
		var codes []string
		for _, err := range errs {
			codes = append(codes, string(err.Code))
		}
		slices.Sort(codes)
		responses[status] = &huma.Response{
			Description: strings.Join(slices.Compact(codes), ", "),
			Headers:     headersOf(errs, success),
			Content:     map[string]*huma.MediaType{jsonType: {Schema: schema, Examples: errorExamples(errs)}},
		}
	}
	return responses
}

// errorExamples are the errors by their codes; where several of a code say different things, those behind the first with a number.
func errorExamples(errs []*Error) map[string]*huma.Example {
	examples := map[string]*huma.Example{}
	for _, err := range errs {
		name, value := string(err.Code), told{err.Message, err.Code}
		for n := 2; examples[name] != nil && examples[name].Value != any(value); n++ {
			name = string(err.Code) + "_" + strconv.Itoa(n)
		}
		examples[name] = &huma.Example{Value: value}
	}
	return examples
}

// told is what of an error is on the wire.
type told struct {
	Message string `json:"error"`
	Code    Code   `json:"code"`
}
