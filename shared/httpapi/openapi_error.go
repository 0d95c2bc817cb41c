package httpapi

import (
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"devplatform/shared/fault"
)

// What the gateway answers in a function's stead, in the words of template.yaml: it was called too often, and a function that failed
// or was too slow.
var (
	errThrottled = fault.New(fault.CodeRateLimited, "Too many requests at once. Please slow down.").WithHeader("Retry-After", "1")
	errTimedOut  = fault.New(fault.CodeServiceUnavailable, "The service took too long to answer. Please try again.").WithHeader("Retry-After", "1")
)

// byGateway are those whose status is not that of their code.
var byGateway = map[int][]*fault.Error{http.StatusBadGateway: {fault.ErrInternal}, http.StatusGatewayTimeout: {errTimedOut}}

// errorsOf are all errors that an operation can answer with, those of its own first.
func errorsOf(op *huma.Operation, declared *Operation) []*fault.Error {
	errs := slices.Clone(declared.Errors)
	// Any request can have a query that is no text.
	if !slices.ContainsFunc(errs, func(e *fault.Error) bool { return e.Code == fault.CodeValidationFailed }) {
		errs = append(errs, refusedInput(op))
	}
	if declared.Session {
		errs = append(errs, errNoSession)
	}
	if !safe(declared.Method) {
		errs = append(errs, errCrossSite, errTooLarge, errMediaType)
	}
	return append(errs, errThrottled, fault.ErrInternal, fault.ErrUnavailable)
}

// refusedInput is how the edge refuses a request, by what it knows of it.
func refusedInput(op *huma.Operation) *fault.Error {
	if op.RequestBody != nil && op.RequestBody.Required {
		return fault.Invalid(whole("is not valid JSON"))
	}
	if slices.ContainsFunc(op.Parameters, func(p *huma.Param) bool { return p.Name == "limit" }) {
		return fault.Invalid(fault.Field("limit", "must be at most 100"))
	}
	return errQuery
}

// errorResponses documents every error that the operation can answer with, by status.
func (d *document) errorResponses(op *huma.Operation, declared *Operation) map[int]*huma.Response {
	byStatus := map[int][]*fault.Error{}
	for _, err := range errorsOf(op, declared) {
		byStatus[err.GetStatus()] = append(byStatus[err.GetStatus()], err)
	}
	for status, errs := range byGateway {
		byStatus[status] = errs
	}
	schema := d.schemas.Schema(reflect.TypeFor[fault.Error](), true, "Error")
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
func errorExamples(errs []*fault.Error) map[string]*huma.Example {
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
	Message string     `json:"error"`
	Code    fault.Code `json:"code"`
}
