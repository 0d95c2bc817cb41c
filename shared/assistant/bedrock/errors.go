package bedrock

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"devplatform/shared/assistant/model"
	"devplatform/shared/assistant/provider"
)

// callError returns the error of a call that failed before the response began.
func (p *Provider) callError(err error) error {
	_, isUnreadable := errors.AsType[*smithy.DeserializationError](err)
	_, isNotSent := errors.AsType[*smithyhttp.RequestSendError](err)
	response, hasResponse := errors.AsType[*awshttp.ResponseError](err)
	// Errors that match no case below occur before the request is sent: the credentials, the region or a valid endpoint
	// are missing.
	failure := &model.Error{Fault: model.Misconfigured, Cause: p.loggable(err, !isUnreadable)}
	switch {
	case isNotSent:
		failure.Fault = model.Unavailable
	case hasResponse && response.Response != nil:
		failure.Fault = faultOf(err, response.HTTPStatusCode())
		failure.RetryAfter = provider.RetryAfter(response.Response.Header)
	}
	return failure
}

// streamError returns the error of an answer that failed after the response began.
func (p *Provider) streamError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	_, isNetwork := errors.AsType[net.Error](err)
	return &model.Error{Fault: faultOf(err, 0), Cause: p.loggable(err, isNetwork)}
}

// faultOf classifies an error. status is the HTTP status, 0 for an exception in a stream.
func faultOf(err error, status int) model.Fault {
	failure := provider.Failure{Status: status}
	if named, ok := errors.AsType[smithy.APIError](err); ok {
		failure.Codes, failure.Message = []string{named.ErrorCode()}, named.ErrorMessage()
	}
	return failure.Fault()
}

// rejectsCaching reports whether a call failed because of its cache points.
func rejectsCaching(err error) bool {
	named, ok := errors.AsType[smithy.APIError](err)
	if !ok {
		return false
	}
	message := strings.ToLower(named.ErrorMessage())
	return strings.Contains(message, "cachepoint") || strings.Contains(message, "prompt caching")
}

// loggableError is an error of the SDK with a text that is safe to log. The original text may quote the answer.
type loggableError struct {
	text string
	err  error
}

func (e *loggableError) Error() string { return e.text }
func (e *loggableError) Unwrap() error { return e.err }

// loggable returns err with a text that is safe to log: Bedrock's message, if there is one, otherwise the text of err.
// If isSafe is false, the text of err may quote the answer, so it is replaced.
func (p *Provider) loggable(err error, isSafe bool) error {
	text := "the response is not valid"
	if named, ok := errors.AsType[smithy.APIError](err); ok {
		text = named.ErrorCode() + ": " + named.ErrorMessage()
	} else if isSafe {
		text = err.Error()
	}
	text = provider.LogText(text, p.secrets...)
	if response, ok := errors.AsType[*awshttp.ResponseError](err); ok && response.HTTPStatusCode() != 0 { // 0: no response
		request := provider.LogText(response.ServiceRequestID())
		text = fmt.Sprintf("HTTP %d, request %q: %s", response.HTTPStatusCode(), request, text)
	}
	return &loggableError{text, err}
}
