package openai

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"devplatform/shared/assistant/model"
	"devplatform/shared/excerpt"
)

// serverError is an error that the server sent, either instead of an answer or in the stream. Each field may be empty.
type serverError struct {
	status              int // 0 for an error in a stream whose code is not an HTTP status
	message, code, kind string
	// raw is used to classify the error. It is not logged: text outside of the known fields may be the prompt.
	raw       string
	mediaType string
	location  string
	isFinal   bool // the server asked clients not to retry
}

// Error returns the status, and the message if it was in a known field.
func (e *serverError) Error() string {
	var b strings.Builder
	if e.status != 0 {
		fmt.Fprintf(&b, "status %d: ", e.status)
	}
	switch {
	case e.message != "":
		b.WriteString(e.message)
	case e.mediaType != "":
		fmt.Fprintf(&b, "no readable message in a body of type %q", e.mediaType)
	default:
		b.WriteString("no readable message")
	}
	for _, detail := range []string{e.kind, e.code, e.location} {
		if detail != "" {
			fmt.Fprintf(&b, " (%s)", detail)
		}
	}
	return b.String()
}

// lenient accepts JSON that servers send although it is not strictly valid.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// parseError parses the body of an error. OpenAI sends {"error": {message, type, code}}. Google sends the same object
// in an array. Ollama and LM Studio send {"error": "…"}, vLLM sends only {message, type, code}, FastAPI sends
// {"detail": …}, and proxies send text.
func parseError(data []byte) *serverError {
	data = bytes.TrimSpace(data)
	var many list[jsontext.Value]
	if json.Unmarshal(data, &many, lenient) == nil && len(many) > 0 {
		data = many[0]
	}
	type fields struct {
		Error    jsontext.Value `json:"error"`
		Message  jsontext.Value `json:"message"`
		Detail   jsontext.Value `json:"detail"`
		Type     jsontext.Value `json:"type"`
		Code     jsontext.Value `json:"code"`
		Metadata jsontext.Value `json:"metadata"` // of OpenRouter: its provider's error, and the flagged part of the prompt
	}
	e := &serverError{raw: string(data)}
	var outer, inner fields
	if err := json.Unmarshal(data, &outer, lenient); err != nil {
		return e
	}
	if err := json.Unmarshal(outer.Error, &inner, lenient); err != nil || outer.Error.Kind() != '{' {
		inner = outer
		if text := scalar(outer.Error); text != "" {
			inner.Message = outer.Error
		}
	}
	e.message, e.kind, e.code = scalar(inner.Message), scalar(inner.Type), scalar(inner.Code)
	for _, text := range append(details(inner.Detail), providerMessage(inner.Metadata)) {
		e.message = strings.TrimSpace(e.message + " " + text)
	}
	e.raw = e.message + " " + textOf(inner.Metadata)
	if e.message == "" {
		e.raw = string(data)
	}
	return e
}

// details returns the messages of FastAPI's detail, which is a string or a list with the error of each field. It
// ignores the fields' input, which may be the prompt.
func details(v jsontext.Value) []string {
	var fields list[struct {
		Message string `json:"msg"`
	}]
	if v.Kind() != '[' || json.Unmarshal(v, &fields, lenient) != nil {
		return []string{scalar(v)}
	}
	var all []string
	for _, f := range fields {
		all = append(all, f.Message)
	}
	return all
}

// providerMessage returns the message and the name of OpenRouter's provider. The metadata contains the provider's
// response as a string.
func providerMessage(metadata jsontext.Value) string {
	var provider struct {
		Raw  string `json:"raw"`
		Name string `json:"provider_name"`
	}
	if metadata.Kind() != '{' || json.Unmarshal(metadata, &provider, lenient) != nil {
		return ""
	}
	if raw := []byte(provider.Raw); jsontext.Value(raw).Kind() == '{' {
		provider.Raw = parseError(raw).message
	} else {
		provider.Raw = ""
	}
	return strings.TrimSpace(provider.Raw + " " + provider.Name)
}

// scalar returns the text of a string or a number.
func scalar(v jsontext.Value) string {
	switch v.Kind() {
	case '"', '0':
		return textOf(v)
	}
	return ""
}

// textOf returns the text of a string, or the JSON of any other value. It returns "" for null or no value.
func textOf(v jsontext.Value) string {
	var text string
	switch {
	case len(v) == 0 || v.Kind() == 'n':
		return ""
	case v.Kind() == '"' && json.Unmarshal(v, &text, lenient) == nil:
		return text
	}
	return strings.ToValidUTF8(string(v), "\uFFFD")
}

// inStream returns the *model.Error for an error in a stream, where the code may be an HTTP status.
func (e *serverError) inStream() *model.Error {
	if status, err := strconv.Atoi(e.code); err == nil && status >= 400 && status < 600 {
		e.status = status
	}
	return &model.Error{Fault: e.fault(), Cause: e}
}

// codes maps values of "code" or "type" to faults. These values are more specific than the status.
var codes = map[string]model.Fault{
	"context_length_exceeded":      model.TooLong,
	"exceed_context_size_error":    model.TooLong, // llama.cpp
	"string_above_max_length":      model.TooLong,
	"content_policy_violation":     model.Refused,
	"content_filter":               model.Refused, // Azure
	"responsibleaipolicyviolation": model.Refused,
	"invalid_prompt":               model.Refused, // OpenAI's reasoning models
	"data_inspection_failed":       model.Refused, // Alibaba
	"insufficient_quota":           model.Misconfigured,
	"billing_hard_limit_reached":   model.Misconfigured,
	"billing_not_active":           model.Misconfigured,
	"account_deactivated":          model.Misconfigured,
	"invalid_api_key":              model.Misconfigured,
	"model_not_found":              model.Misconfigured,
}

// phrases are parts of messages, in lower case. They classify the errors of servers that do not send a code.
var phrases = []struct {
	fault model.Fault
	text  string
}{
	{model.TooLong, "maximum context length"},                       // OpenAI, vLLM, OpenRouter, Mistral, DeepSeek
	{model.TooLong, "longer than the maximum model length"},         // vLLM
	{model.TooLong, "max_tokens must be at least 1"},                // vLLM, where the prompt alone fills the window
	{model.TooLong, "exceeds the available context size"},           // llama.cpp
	{model.TooLong, "context size has been exceeded"},               // llama.cpp, with status 500
	{model.TooLong, "exceed context window"},                        // llama-cpp-python
	{model.TooLong, "exceeds the context length"},                   // Ollama
	{model.TooLong, "exceeds context length"},                       // Ollama
	{model.TooLong, "greater than the context length"},              // LM Studio
	{model.TooLong, "with context length of only"},                  // LM Studio
	{model.TooLong, "input is too long"},                            // Bedrock behind a gateway
	{model.TooLong, "prompt is too long"},                           // Anthropic behind a gateway
	{model.TooLong, "exceeds the maximum number of tokens allowed"}, // Google
	{model.TooLong, "request too large for"},                        // OpenAI and Groq: larger than the rate limit
	{model.TooLong, "supports at most"},                             // OpenAI, where max_tokens exceeds the model's limit
	{model.TooLong, "please reduce the length of the messages"},     // OpenAI, Groq
	{model.Refused, "content management policy"},                    // Azure
	{model.Refused, "content policy"},                               // several servers
	{model.Refused, "usage polic"},                                  // OpenAI
	{model.Refused, "safety system"},                                // OpenAI
	{model.Refused, "was flagged"},                                  // OpenRouter's moderation, with status 403
	{model.Refused, "requires moderation"},                          // OpenRouter
	{model.Refused, "content exists risk"},                          // DeepSeek
}

// fault classifies the error by its code, otherwise by its message, otherwise by its status.
func (e *serverError) fault() model.Fault {
	for _, name := range []string{e.code, e.kind} {
		if fault := codes[strings.ToLower(name)]; fault != "" {
			return fault
		}
	}
	raw := strings.ToLower(e.raw)
	for _, phrase := range phrases {
		if strings.Contains(raw, phrase.text) {
			return phrase.fault
		}
	}
	switch {
	case e.status >= http.StatusInternalServerError, e.status == http.StatusRequestTimeout,
		e.status == http.StatusConflict, e.status == http.StatusTooEarly, e.status == http.StatusTooManyRequests:
		return model.Unavailable
	case e.status == http.StatusRequestEntityTooLarge:
		return model.TooLong
	case e.status != 0, isRequestError(e.kind), isRequestError(e.code):
		return model.Misconfigured
	}
	return model.Unavailable
}

// isRequestError reports whether the type or the code of an error means that the request is wrong. Examples are
// invalid_request_error, BadRequestError, authentication_error and NotFoundError.
func isRequestError(kind string) bool {
	kind = strings.ToLower(strings.ReplaceAll(kind, "_", ""))
	for _, word := range []string{"invalidrequest", "badrequest", "authentication", "permission", "notfound"} {
		if strings.Contains(kind, word) {
			return true
		}
	}
	return false
}

// requiresOtherLimitName reports whether the server expects the other name of the token limit. An example of its
// message is "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens'
// instead.".
func (e *serverError) requiresOtherLimitName() bool {
	return e.status == http.StatusBadRequest && e.fault() == model.Misconfigured &&
		strings.Contains(e.raw, "max_tokens") && strings.Contains(e.raw, "max_completion_tokens")
}

// The maximum lengths of the texts of errors, in bytes.
const (
	maxErrorText       = 1000
	maxServerErrorText = 200
)

// withoutKey returns the error with a text that is short and does not contain the key, regardless of what the server
// sent.
func withoutKey(err error, key string) error {
	var failed *model.Error
	if !errors.As(err, &failed) {
		failed = &model.Error{Fault: model.Unavailable, Cause: err}
	}
	text := failed.Cause.Error()
	redacted := text
	if key != "" {
		redacted = strings.ReplaceAll(redacted, key, "[key]")
	}
	limit := maxErrorText
	var reported *serverError
	if errors.As(err, &reported) {
		limit = maxServerErrorText
	}
	redacted = excerpt.WithEllipsis(redacted, limit)
	if redacted == text && reported == nil { // a serverError also has fields that must not be logged
		return failed
	}
	return &model.Error{Fault: failed.Fault, RetryAfter: failed.RetryAfter, Cause: errors.New(redacted)}
}
