package gateway

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"devplatform/infra/local/resources"
	"devplatform/infra/local/runtime"
)

// failure is an error of the gateway itself.
type failure struct {
	kind    string // the gateway response's type
	status  int    // unless a gateway response overrides it
	code    string // x-amzn-ErrorType
	message string // $context.error.message
}

// Error returns the message that the client gets.
func (f *failure) Error() string { return f.message }

const (
	kindDefault4xx    = "DEFAULT_4XX"
	kindDefault5xx    = "DEFAULT_5XX"
	kindNoRoute       = "MISSING_AUTHENTICATION_TOKEN"
	kindTooLarge      = "REQUEST_TOO_LARGE"
	kindTimeout       = "INTEGRATION_TIMEOUT"
	kindIntegration   = "INTEGRATION_FAILURE"
	kindConfiguration = "API_CONFIGURATION_ERROR"
	internalMessage   = "Internal server error"
	internalCode      = "InternalServerErrorException"
)

var (
	errBadRequest = &failure{kindDefault4xx, http.StatusBadRequest, "BadRequestException", "Bad Request"}
	errHost       = &failure{
		kindDefault4xx, http.StatusForbidden, "ForbiddenException",
		"The Host header does not name this machine or the host of APP_URL",
	}
	errNoRoute = &failure{
		kindNoRoute, http.StatusForbidden, "MissingAuthenticationTokenException", "Missing Authentication Token",
	}
	errURLTooLong = &failure{
		kindDefault4xx, http.StatusRequestURITooLong, "BadRequestException", "Request-URI Too Long",
	}
	errHeadersTooLong = &failure{
		kindDefault4xx, http.StatusRequestHeaderFieldsTooLarge, "BadRequestException",
		"HTTP header is larger than 10240 bytes.",
	}
	errTooLarge = &failure{kindTooLarge, http.StatusRequestEntityTooLarge, "RequestTooLargeException", "Request Too Long"}
	errSlowBody = &failure{kindTimeout, http.StatusGatewayTimeout, internalCode, "Request body took too long"}
	// errBusy is the response if Lambda throttles the function. A proxy integration does not pass Lambda's 429 on.
	errBusy          = &failure{kindIntegration, http.StatusInternalServerError, internalCode, internalMessage}
	errTimeout       = &failure{kindTimeout, http.StatusGatewayTimeout, internalCode, "Endpoint request timed out"}
	errConfiguration = &failure{kindConfiguration, http.StatusInternalServerError, internalCode, internalMessage}
	// errMalformed is also the response if the function failed: on AWS, clients can't distinguish the two.
	errMalformed = &failure{kindDefault5xx, http.StatusBadGateway, internalCode, internalMessage}
)

// failureOf returns the failure for an error of the gateway or of the runtime.
func failureOf(err error) *failure {
	var f *failure
	switch {
	case errors.As(err, &f):
		return f
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, errIdle):
		return errTimeout
	case errors.Is(err, runtime.ErrThrottled):
		return errBusy
	case errors.Is(err, runtime.ErrPayloadTooLarge):
		return errTooLarge
	case errors.Is(err, runtime.ErrFunctionNotFound):
		return errConfiguration
	default:
		return errMalformed
	}
}

// response returns the gateway response for f: the response of its type, or the default of its class.
func (g *Gateway) response(f *failure) resources.GatewayResponse {
	responses := g.options.API.GatewayResponses
	if own, ok := responses[f.kind]; ok {
		return own
	}
	if f.status >= http.StatusInternalServerError {
		return responses[kindDefault5xx]
	}
	return responses[kindDefault4xx]
}

// fail sends the gateway response for f.
func (g *Gateway) fail(w http.ResponseWriter, q *request, f *failure) {
	response := g.response(f)
	if response.Body == "" {
		response.MediaType, response.Body = jsonType, `{"message":`+strconv.Quote(f.message)+`}`
	}
	header := w.Header()
	header[headerContentType] = []string{response.MediaType}
	header[headerErrorType] = []string{f.code}
	for name, value := range response.Headers {
		if text, isLiteral := strings.CutPrefix(value, "'"); isLiteral {
			value = strings.TrimSuffix(text, "'")
		} else { // context.requestId
			value = q.ids.request
		}
		header[http.CanonicalHeaderKey(name)] = []string{value}
	}
	header["Content-Length"] = []string{strconv.Itoa(len(response.Body))}
	w.WriteHeader(cmp.Or(response.StatusCode, f.status))
	_, _ = w.Write([]byte(response.Body)) // the client may have disconnected
}
