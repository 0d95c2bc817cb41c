package bedrock

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"devplatform/shared/assistant/model"
	"devplatform/shared/config"
)

// faults of Bedrock's errors by their code; of others the HTTP status decides. Source: the API reference of Converse and
// ConverseStream, "Errors", and of the stream's exceptions.
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

// tooLong are the words, in lower case, in which models say that a request does not fit. Bedrock has no code for it: it is a
// ValidationException, and of some models a ModelErrorException.
var tooLong = []string{
	"is too long",                // Claude, Nova: "Input is too long for requested model.", "prompt is too long: 210000 tokens > 200000 maximum"
	"too many input tokens",      // Titan, Nova: "Too many input tokens. Max input tokens: 8192, request input token count: 9279"
	"input tokens exceed",        // "Number of input tokens exceeds maximum length"
	"exceed context limit",       // Claude: "input length and `max_tokens` exceed context limit: 199000 + 8192 > 200000"
	"maximum context length",     // Llama, Mistral: "This model's maximum context length is 8192 tokens. Please reduce the length …"
	"exceeds the context window", // models behind OpenAI's protocol
	"maximum prompt length",
	"expected maxlength", // schemas that count characters: "expected maxLength: 50000, actual: 52611"
}

// filtered are the words, also of a ValidationException, by which a filter refuses a prompt.
var filtered = []string{"content filter", "content policy"}

// refused is why a call did not become an answer.
func (p *Provider) refused(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return left(ctx)
	}
	var response *awshttp.ResponseError
	var unsent *smithyhttp.RequestSendError
	var unread *smithy.DeserializationError
	failed := &model.Error{Fault: model.Misconfigured, Cause: p.cause(err, !errors.As(err, &unread))}
	switch {
	case errors.As(err, &unsent):
		failed.Fault = model.Unavailable
	case errors.As(err, &response) && response.Response != nil:
		failed.Fault = faultOf(err, response.HTTPStatusCode())
		failed.RetryAfter = retryAfter(response.Response.Header)
	}
	// What is left never reached the network: no credentials, no region, no endpoint.
	return failed
}

// brokeOff is why an answer did not come to its end.
func (p *Provider) brokeOff(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return left(ctx)
	}
	var network net.Error
	return &model.Error{Fault: faultOf(err, 0), Cause: p.cause(err, errors.As(err, &network))}
}

// faultOf judges an error by its code, what it says, and its HTTP status; 0 is an exception in a stream.
func faultOf(err error, status int) model.Fault {
	var named smithy.APIError
	if errors.As(err, &named) {
		code, said := codeOf(named), strings.ToLower(named.ErrorMessage())
		has := func(words string) bool { return strings.Contains(said, words) }
		switch code {
		case "ValidationException", "ModelErrorException", "ModelStreamErrorException":
			if slices.ContainsFunc(tooLong, has) {
				return model.TooLong
			}
			if slices.ContainsFunc(filtered, has) {
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

// codeOf is an error's code. In a stream it is the name of an event, which begins in lower case unless the SDK knows it there.
func codeOf(err smithy.APIError) string {
	code := err.ErrorCode()
	if code == "" {
		return ""
	}
	return strings.ToUpper(code[:1]) + code[1:]
}

// refusesCaching reports that a call failed for its cache points.
func refusesCaching(err error) bool {
	var named smithy.APIError
	if !errors.As(err, &named) {
		return false
	}
	said := strings.ToLower(named.ErrorMessage())
	return strings.Contains(said, "cachepoint") || strings.Contains(said, "prompt caching")
}

// retryAfter is the wait that the answer asks for, in seconds or up to a date (RFC 9110 §10.2.3), which is measured by the answer's
// own clock; 0 if it can't be read.
func retryAfter(h http.Header) time.Duration {
	value := h.Get("Retry-After")
	if seconds, err := strconv.Atoi(value); err == nil || errors.Is(err, strconv.ErrRange) {
		return time.Duration(min(max(seconds, 0), int(time.Hour/time.Second))) * time.Second
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		return 0
	}
	return min(max(at.Sub(now), 0), time.Hour)
}

// maxSaid is how many bytes of what Bedrock says go into an error.
const maxSaid = 300

// cause is an error of the SDK in words that are fit for a log: the SDK's own can quote the answer that it could not read.
type cause struct {
	text string
	err  error
}

func (c *cause) Error() string { return c.text }
func (c *cause) Unwrap() error { return c.err }

// cause words an error; what it says itself counts only if it is safe to say: unless Bedrock said it, it can quote the answer.
func (p *Provider) cause(err error, safe bool) error {
	text := "an answer that can't be read"
	var named smithy.APIError
	if errors.As(err, &named) {
		text = named.ErrorCode() + ": " + named.ErrorMessage()
	} else if safe {
		text = err.Error()
	}
	text = cut(p.redact(text))
	var response *awshttp.ResponseError
	if errors.As(err, &response) && response.HTTPStatusCode() != 0 { // the SDK has one without a response, too
		text = fmt.Sprintf("HTTP %d, request %q: %s", response.HTTPStatusCode(), cut(response.ServiceRequestID()), text)
	}
	return &cause{text, err}
}

// redactor takes the credentials out of a text. AWS explains a bad signature by what it signed, the session's token included.
// (Words as short as those of a local platform are no secrets, and could be any text's.)
func redactor(a config.AWS) func(string) string {
	var pairs []string
	for _, secret := range []string{a.SecretAccessKey, a.SessionToken} {
		if len(secret) > 8 {
			pairs = append(pairs, secret, "[credential]")
		}
	}
	return strings.NewReplacer(pairs...).Replace
}

// cut shortens text to at most maxSaid bytes of whole characters.
func cut(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= maxSaid {
		return text
	}
	limit := maxSaid
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit] + "…"
}
