package main

import (
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
)

// Errors that the gateway itself returns. template.yaml contains the same texts.
var (
	errThrottled = fault.New(fault.CodeRateLimited, "Too many requests at once. Please reduce the request rate.").
			WithHeader("Retry-After", "1")
	errTimedOut = fault.New(fault.CodeServiceUnavailable, "The service took too long to respond. Please try again.").
			WithHeader("Retry-After", "1")
)

// gatewayErrors contains the errors of the statuses that only the gateway returns. The codes of these errors normally
// have other statuses.
var gatewayErrors = map[int][]*fault.Error{
	http.StatusBadGateway:     {fault.ErrInternal},
	http.StatusGatewayTimeout: {errTimedOut},
}

// errorsOf returns all errors that an endpoint can return. The first ones are e.Errors.
func errorsOf(op *huma.Operation, e *httpapi.Endpoint) []*fault.Error {
	errs := slices.Clone(e.Errors)
	if !slices.ContainsFunc(errs, func(err *fault.Error) bool { return err.Code == fault.CodeValidationFailed }) {
		errs = append(errs, invalidRequest(op))
	}
	if e.Session {
		errs = append(errs, httpapi.ErrNoSession, httpapi.ErrSuspended)
	}
	if e.Method != http.MethodGet {
		errs = append(errs, httpapi.ErrCrossSite, e.TooLarge, httpapi.ErrMediaType)
	}
	return append(errs, errThrottled, fault.ErrInternal, fault.ErrUnavailable)
}

// invalidRequest returns an example of VALIDATION_FAILED that the operation can return.
func invalidRequest(op *huma.Operation) *fault.Error {
	if op.RequestBody != nil && op.RequestBody.Required {
		return fault.Invalid(fault.Field(fault.WholeBody, "is not valid JSON"))
	}
	if slices.ContainsFunc(op.Parameters, func(p *huma.Param) bool { return p.Name == "limit" }) {
		return fault.Invalid(fault.Field("limit", "must be at most 100"))
	}
	return httpapi.ErrQuery
}

// errorResponses returns the error responses of an endpoint by status.
func (d *document) errorResponses(op *huma.Operation, e *httpapi.Endpoint) map[int]*huma.Response {
	byStatus := map[int][]*fault.Error{}
	for _, err := range errorsOf(op, e) {
		byStatus[err.Code.Status()] = append(byStatus[err.Code.Status()], err)
	}
	for status, errs := range gatewayErrors {
		byStatus[status] = errs
	}
	schema := d.schemas.Schema(reflect.TypeFor[fault.Error](), true, "Error")
	success := op.Responses[strconv.Itoa(e.Status)]
	responses := make(map[int]*huma.Response, len(byStatus))
	for status, errs := range byStatus {
		var codes []string
		for _, err := range errs {
			codes = append(codes, string(err.Code))
		}
		slices.Sort(codes)
		responses[status] = &huma.Response{
			Description: strings.Join(slices.Compact(codes), ", "),
			Headers:     errorHeaders(errs, success),
			Content:     map[string]*huma.MediaType{jsonType: {Schema: schema, Examples: errorExamples(errs)}},
		}
	}
	return responses
}

// errorExamples returns an example of each error, by name. The name is the error's code. If several errors have the
// same code but different messages, the names of the second and later examples end with a number: CONFLICT, CONFLICT_2.
func errorExamples(errs []*fault.Error) map[string]*huma.Example {
	examples, errorOf := map[string]*huma.Example{}, map[string]*fault.Error{}
	for _, err := range errs {
		name := string(err.Code)
		for n := 2; errorOf[name] != nil && errorOf[name].Message != err.Message; n++ {
			name = string(err.Code) + "_" + strconv.Itoa(n)
		}
		errorOf[name], examples[name] = err, &huma.Example{Value: err}
	}
	return examples
}
