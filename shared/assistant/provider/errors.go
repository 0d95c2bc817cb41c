package provider

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"devplatform/shared/assistant/model"
	"devplatform/shared/excerpt"
	"devplatform/shared/retryafter"
)

// Failure is an error that a server reports for a request. Each field may be empty.
type Failure struct {
	// Status is the HTTP status. It is 0 for an error in a stream.
	Status int
	// Codes are the codes and types of the error.
	Codes []string
	// Message is the text that classifies the error. It can contain parts of the prompt, so it must not be logged.
	Message string
}

// codes maps codes and types, in lower case, to faults. They are more specific than the message and the status.
var codes = map[string]model.Fault{
	"context_length_exceeded":       model.TooLong,
	"exceed_context_size_error":     model.TooLong, // llama.cpp
	"string_above_max_length":       model.TooLong,
	"content_policy_violation":      model.Refused,
	"content_filter":                model.Refused, // Azure
	"responsibleaipolicyviolation":  model.Refused,
	"invalid_prompt":                model.Refused, // OpenAI's reasoning models
	"data_inspection_failed":        model.Refused, // Alibaba
	"insufficient_quota":            model.Misconfigured,
	"billing_hard_limit_reached":    model.Misconfigured,
	"billing_not_active":            model.Misconfigured,
	"account_deactivated":           model.Misconfigured,
	"invalid_api_key":               model.Misconfigured,
	"model_not_found":               model.Misconfigured,
	"servicequotaexceededexception": model.Unavailable, // Bedrock, with status 400
}

// phrases are parts of messages, in lower case. They classify the errors of servers that do not send a specific code.
var phrases = []struct {
	fault model.Fault
	text  string
}{
	{model.TooLong, "maximum context length"},                       // OpenAI, vLLM, OpenRouter, Mistral, DeepSeek, Llama
	{model.TooLong, "longer than the maximum model length"},         // vLLM
	{model.TooLong, "max_tokens must be at least 1"},                // vLLM, where the prompt alone fills the window
	{model.TooLong, "exceeds the available context size"},           // llama.cpp
	{model.TooLong, "context size has been exceeded"},               // llama.cpp, with status 500
	{model.TooLong, "exceed context window"},                        // llama-cpp-python
	{model.TooLong, "exceeds the context window"},                   // models with OpenAI's API on Bedrock
	{model.TooLong, "exceeds the context length"},                   // Ollama
	{model.TooLong, "exceeds context length"},                       // Ollama
	{model.TooLong, "greater than the context length"},              // LM Studio
	{model.TooLong, "with context length of only"},                  // LM Studio
	{model.TooLong, "prompt is too long"},                           // Claude
	{model.TooLong, "input is too long"},                            // Nova
	{model.TooLong, "exceed context limit"},                         // Claude: input and max_tokens
	{model.TooLong, "too many input tokens"},                        // Titan, Nova
	{model.TooLong, "input tokens exceed"},                          // other models on Bedrock
	{model.TooLong, "maximum prompt length"},                        // other models on Bedrock
	{model.TooLong, "expected maxlength"},                           // schemas on Bedrock that count characters
	{model.TooLong, "tokens you requested exceeds"},                 // Bedrock, where max_tokens exceeds the model's limit
	{model.TooLong, "supports at most"},                             // OpenAI, where max_tokens exceeds the model's limit
	{model.TooLong, "exceeds the maximum number of tokens allowed"}, // Google
	{model.TooLong, "request too large for"},                        // OpenAI and Groq: larger than the rate limit
	{model.TooLong, "please reduce the length of the messages"},     // OpenAI, Groq
	{model.Refused, "content management policy"},                    // Azure
	{model.Refused, "content policy"},                               // several servers
	{model.Refused, "content filter"},                               // Bedrock
	{model.Refused, "usage polic"},                                  // OpenAI
	{model.Refused, "safety system"},                                // OpenAI
	{model.Refused, "was flagged"},                                  // OpenRouter's moderation, with status 403
	{model.Refused, "requires moderation"},                          // OpenRouter
	{model.Refused, "content exists risk"},                          // DeepSeek
}

// requestErrors are parts of codes, in lower case and without underscores, which mean that the request is wrong.
var requestErrors = []string{
	"invalidrequest", "badrequest", "authentication", "permission", "notfound", "validation", "accessdenied",
}

// Fault classifies the failure by its code, otherwise by its message, otherwise by its status.
func (f Failure) Fault() model.Fault {
	isRequestError := false
	for _, code := range f.Codes {
		code = strings.ToLower(code)
		if fault := codes[code]; fault != "" {
			return fault
		}
		code = strings.ReplaceAll(code, "_", "")
		for _, word := range requestErrors {
			isRequestError = isRequestError || strings.Contains(code, word)
		}
	}
	message := strings.ToLower(f.Message)
	for _, phrase := range phrases {
		if strings.Contains(message, phrase.text) {
			return phrase.fault
		}
	}
	switch f.Status {
	case http.StatusRequestEntityTooLarge:
		return model.TooLong
	case http.StatusOK, http.StatusRequestTimeout, http.StatusConflict, http.StatusFailedDependency, http.StatusTooEarly,
		http.StatusTooManyRequests:
		return model.Unavailable
	case 0:
		if !isRequestError {
			return model.Unavailable
		}
	}
	if f.Status >= http.StatusInternalServerError {
		return model.Unavailable
	}
	return model.Misconfigured
}

// maxRetryAfter is the longest wait that RetryAfter returns.
const maxRetryAfter = 24 * time.Hour

// RetryAfter returns the wait for which a response asks in its headers: in OpenAI's header, in milliseconds, or in the
// standard header. If the standard header contains a date, the wait is the time from the response's Date header to this
// date. RetryAfter returns 0 if no header is valid.
func RetryAfter(h http.Header) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		return time.Duration(min(ms*float64(time.Millisecond), float64(maxRetryAfter)))
	}
	now, _ := http.ParseTime(h.Get("Date")) // if it is zero, dates in Retry-After are ignored
	wait, _ := retryafter.Parse(h.Get("Retry-After"), now)
	return min(wait, maxRetryAfter)
}

// maxLogged is the maximum number of bytes of a server's text in an error, without an ellipsis.
const maxLogged = 200

// LogText returns a server's text as an error contains it: short, valid UTF-8, and without the secrets, which a server
// may send back.
func LogText(text string, secrets ...string) string {
	for _, secret := range secrets {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "[credential]")
		}
	}
	return excerpt.WithEllipsis(strings.ToValidUTF8(text, "\uFFFD"), maxLogged)
}
