package bedrock

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"devplatform/shared/assistant/model"
	"devplatform/shared/config"
	"devplatform/shared/excerpt"
	"devplatform/shared/retryafter"
)

// faults classifies errors by their code. Errors with other codes are classified by the HTTP status. Source: the API
// reference of Converse and ConverseStream, "Errors", and the stream's exceptions.
var faults = map[string]model.Fault{
	"ThrottlingException":           model.Unavailable,
	"TooManyRequestsException":      model.Unavailable,
	"ServiceQuotaExceededException": model.Unavailable,
	"ServiceUnavailableException":   model.Unavailable,
	"InternalServerException":       model.Unavailable,
	"ModelNotReadyException":        model.Unavailable,
	"ModelTimeoutException":         model.Unavailable,
	"ModelErrorException":           model.Unavailable,
	"ModelStreamErrorException":     model.Unavailable,
	"ValidationException":           model.Misconfigured,
	"AccessDeniedException":         model.Misconfigured,
	"ResourceNotFoundException":     model.Misconfigured,
}

// tooLongPhrases are phrases, in lower case, with which models report that a request is too long. Bedrock has no code
// for this error: it sends a ValidationException, or for some models a ModelErrorException.
var tooLongPhrases = []string{
	"is too long",                // Claude, Nova: "Input is too long for requested model."
	"too many input tokens",      // Titan, Nova: "Too many input tokens. Max input tokens: 8192, …"
	"input tokens exceed",        // "Number of input tokens exceeds maximum length"
	"exceed context limit",       // Claude: "input length and `max_tokens` exceed context limit: …"
	"maximum context length",     // Llama, Mistral: "This model's maximum context length is 8192 tokens. …"
	"exceeds the context window", // models with OpenAI's API
	"maximum prompt length",
	"tokens you requested exceeds", // "The maximum tokens you requested exceeds the model limit of 4096. …"
	"expected maxlength",           // schemas that count characters: "expected maxLength: 50000, actual: 52611"
}

// filterPhrases are phrases with which a filter reports that it rejected a prompt. These errors are also
// ValidationExceptions.
var filterPhrases = []string{"content filter", "content policy"}

// callError returns the error of a call that failed before the response began.
func (p *Provider) callError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return contextError(ctx)
	}
	var response *awshttp.ResponseError
	var notSent *smithyhttp.RequestSendError
	var unreadable *smithy.DeserializationError
	// Errors that match no case below occur before the request is sent: the credentials, the region or a valid endpoint
	// are missing.
	failed := &model.Error{Fault: model.Misconfigured, Cause: p.cause(err, !errors.As(err, &unreadable))}
	switch {
	case errors.As(err, &notSent):
		failed.Fault = model.Unavailable
	case errors.As(err, &response) && response.Response != nil:
		failed.Fault = faultOf(err, response.HTTPStatusCode())
		failed.RetryAfter = retryAfter(response.Response.Header)
	}
	return failed
}

// streamError returns the error of an answer that failed after the response began.
func (p *Provider) streamError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return contextError(ctx)
	}
	var network net.Error
	return &model.Error{Fault: faultOf(err, 0), Cause: p.cause(err, errors.As(err, &network))}
}

// faultOf classifies an error by its code, its message and the HTTP status, which is 0 for an exception in a stream.
func faultOf(err error, status int) model.Fault {
	var named smithy.APIError
	if errors.As(err, &named) {
		code, message := codeOf(named), strings.ToLower(named.ErrorMessage())
		inMessage := func(phrase string) bool { return strings.Contains(message, phrase) }
		switch code {
		case "ValidationException", "ModelErrorException", "ModelStreamErrorException":
			if slices.ContainsFunc(tooLongPhrases, inMessage) {
				return model.TooLong
			}
			if slices.ContainsFunc(filterPhrases, inMessage) {
				return model.Refused
			}
		}
		if fault, known := faults[code]; known {
			return fault
		}
	}
	switch {
	case status == http.StatusRequestEntityTooLarge:
		return model.TooLong
	case status == http.StatusRequestTimeout, status == http.StatusTooManyRequests, status == http.StatusFailedDependency,
		status >= http.StatusInternalServerError, status < http.StatusMultipleChoices:
		return model.Unavailable
	}
	return model.Misconfigured
}

// codeOf returns the code of an error, with a capital first letter. In a stream, the code is the name of an event,
// which may begin with a lower-case letter.
func codeOf(err smithy.APIError) string {
	code := err.ErrorCode()
	if code == "" {
		return ""
	}
	return strings.ToUpper(code[:1]) + code[1:]
}

// rejectsCaching reports whether a call failed because of its cache points.
func rejectsCaching(err error) bool {
	var named smithy.APIError
	if !errors.As(err, &named) {
		return false
	}
	message := strings.ToLower(named.ErrorMessage())
	return strings.Contains(message, "cachepoint") || strings.Contains(message, "prompt caching")
}

// retryAfter returns the wait that a response requests, at most an hour. If Retry-After contains a date, the wait is
// the time from the response's Date header to this date. retryAfter returns 0 if the header is not valid.
func retryAfter(h http.Header) time.Duration {
	now, _ := http.ParseTime(h.Get("Date")) // if it is zero, dates in Retry-After are ignored
	wait, _ := retryafter.Parse(h.Get("Retry-After"), now)
	return min(wait, time.Hour)
}

// cause is an error of the SDK with a text that is safe to log. The original text may quote the answer.
type cause struct {
	text string
	err  error
}

func (c *cause) Error() string { return c.text }
func (c *cause) Unwrap() error { return c.err }

// cause returns the cause of an error. Its text contains Bedrock's message, if there is one. Otherwise it contains the
// text of err, but only if isSafe is true, because that text may quote the answer.
func (p *Provider) cause(err error, isSafe bool) error {
	text := "the response is not valid"
	var named smithy.APIError
	if errors.As(err, &named) {
		text = named.ErrorCode() + ": " + named.ErrorMessage()
	} else if isSafe {
		text = err.Error()
	}
	text = forLog(p.redact(text))
	var response *awshttp.ResponseError
	if errors.As(err, &response) && response.HTTPStatusCode() != 0 { // 0: the SDK had no response
		text = fmt.Sprintf("HTTP %d, request %q: %s", response.HTTPStatusCode(), forLog(response.ServiceRequestID()), text)
	}
	return &cause{text, err}
}

// redactor returns a function that removes the credentials from a text. It is necessary because AWS explains a wrong
// signature by quoting the signed text, including the session token. Short values are not removed: they are the public
// credentials of the local platform, and may occur in any text.
func redactor(a config.AWS) func(string) string {
	var pairs []string
	for _, secret := range []string{a.SecretAccessKey, a.SessionToken} {
		if len(secret) > 8 {
			pairs = append(pairs, secret, "[credential]")
		}
	}
	return strings.NewReplacer(pairs...).Replace
}

// maxLogged is the maximum length, in bytes, of Bedrock's message in an error, without an ellipsis.
const maxLogged = 300

// forLog returns a text as an error contains it: valid, and with at most maxLogged bytes.
func forLog(text string) string {
	return excerpt.WithEllipsis(strings.ToValidUTF8(text, "\uFFFD"), maxLogged)
}
