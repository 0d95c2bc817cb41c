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
)

// reply is an error that the server stated, in place of an answer or in the midst of one. Each field may be empty.
type reply struct {
	status              int // 0 inside of a stream that does not say
	message, code, kind string
	location            string
	final               bool
}

// Error is all that the server said.
func (r *reply) Error() string {
	var b strings.Builder
	if r.status != 0 {
		fmt.Fprintf(&b, "status %d: ", r.status)
	}
	b.WriteString(r.message)
	for _, more := range []string{r.kind, r.code, r.location} {
		if more != "" {
			fmt.Fprintf(&b, " (%s)", more)
		}
	}
	return b.String()
}

// lenient reads what servers write, who are not all strict.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// readReply reads the body of an error: OpenAI's {"error": {message, type, code}}, where error is a text for Ollama and LM Studio and
// the object lies bare for vLLM; Google has it in an array, FastAPI says {"detail": …}, and proxies answer with text.
func readReply(data []byte) *reply {
	data = bytes.TrimSpace(data)
	var many []jsontext.Value
	if json.Unmarshal(data, &many, lenient) == nil && len(many) > 0 {
		data = many[0]
	}
	type fields struct {
		Error    jsontext.Value `json:"error"`
		Message  jsontext.Value `json:"message"`
		Detail   jsontext.Value `json:"detail"`
		Type     jsontext.Value `json:"type"`
		Code     jsontext.Value `json:"code"`
		Metadata jsontext.Value `json:"metadata"` // of OpenRouter: what its own provider said
	}
	var outer, inner fields
	if err := json.Unmarshal(data, &outer, lenient); err != nil {
		return &reply{message: strings.ToValidUTF8(string(data), "\uFFFD")}
	}
	if err := json.Unmarshal(outer.Error, &inner, lenient); err != nil || outer.Error.Kind() != '{' {
		inner = outer
		if text := words(outer.Error); text != "" {
			inner.Message = outer.Error
		}
	}
	r := &reply{message: words(inner.Message), kind: words(inner.Type), code: words(inner.Code)}
	for _, more := range []jsontext.Value{inner.Detail, inner.Metadata} {
		if text := words(more); text != "" {
			r.message = strings.TrimSpace(r.message + " " + text)
		}
	}
	if r.message == "" {
		r.message = string(data)
	}
	return r
}

// words is a value as text: a string's own, else its JSON; null and nothing are "".
func words(v jsontext.Value) string {
	var text string
	switch {
	case len(v) == 0 || v.Kind() == 'n':
		return ""
	case v.Kind() == '"' && json.Unmarshal(v, &text, lenient) == nil:
		return text
	}
	return strings.ToValidUTF8(string(v), "\uFFFD")
}

// streamed is what an error inside of a stream comes to, where the status is at best its code.
func (r *reply) streamed() *model.Error {
	if status, err := strconv.Atoi(r.code); err == nil && status >= 400 && status < 600 {
		r.status = status
	}
	return &model.Error{Fault: r.fault(), Cause: r}
}

// codes are the machine-readable names of errors, in "code" or "type", that say more than the status does.
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

// phrases are what messages say, in lower case, of servers that have no code for it.
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
	{model.TooLong, "request too large for"},                        // OpenAI and Groq: more than the rate ever allows
	{model.TooLong, "please reduce the length of the messages"},     // OpenAI, Groq
	{model.Refused, "content management policy"},                    // Azure
	{model.Refused, "content policy"},                               //
	{model.Refused, "usage polic"},                                  // OpenAI
	{model.Refused, "safety system"},                                // OpenAI
	{model.Refused, "was flagged"},                                  // OpenRouter's moderation, with status 403
	{model.Refused, "requires moderation"},                          // OpenRouter
	{model.Refused, "content exists risk"},                          // DeepSeek
}

// fault is what the error means for us: by its code, else by what it says, else by its status.
func (r *reply) fault() model.Fault {
	for _, name := range []string{r.code, r.kind} {
		if fault := codes[strings.ToLower(name)]; fault != "" {
			return fault
		}
	}
	said := strings.ToLower(r.message)
	for _, phrase := range phrases {
		if strings.Contains(said, phrase.text) {
			return phrase.fault
		}
	}
	switch {
	case r.status >= http.StatusInternalServerError, r.status == http.StatusRequestTimeout, r.status == http.StatusConflict,
		r.status == http.StatusTooEarly, r.status == http.StatusTooManyRequests:
		return model.Unavailable
	case r.status == http.StatusRequestEntityTooLarge:
		return model.TooLong
	case r.status != 0, blames(r.kind), blames(r.code):
		return model.Misconfigured
	}
	return model.Unavailable
}

// blames reports that the type of an error without a status finds fault with the request: invalid_request_error, BadRequestError,
// authentication_error, NotFoundError …
func blames(kind string) bool {
	kind = strings.ToLower(strings.ReplaceAll(kind, "_", ""))
	for _, word := range []string{"invalidrequest", "badrequest", "authentication", "permission", "notfound"} {
		if strings.Contains(kind, word) {
			return true
		}
	}
	return false
}

// wantsOtherLimit reports that the server knows the limit of an answer by its other name: "Unsupported parameter: 'max_tokens' is
// not supported with this model. Use 'max_completion_tokens' instead."
func (r *reply) wantsOtherLimit() bool {
	return r.status == http.StatusBadRequest && r.fault() == model.Misconfigured &&
		strings.Contains(r.message, "max_tokens") && strings.Contains(r.message, "max_completion_tokens")
}

// maxText is how much of what a server said goes to the log.
const maxText = 1000

// withoutKey makes sure that no error quotes the key, whatever the server sent back, and that none fills the log.
func withoutKey(err error, key string) error {
	var failed *model.Error
	if !errors.As(err, &failed) {
		failed = &model.Error{Fault: model.Unavailable, Cause: err}
	}
	text := failed.Cause.Error()
	clean := text
	if key != "" {
		clean = strings.ReplaceAll(clean, key, "[key]")
	}
	if len(clean) > maxText {
		clean = strings.ToValidUTF8(clean[:maxText], "") + "…"
	}
	if clean == text {
		return failed
	}
	return &model.Error{Fault: failed.Fault, RetryAfter: failed.RetryAfter, Cause: errors.New(clean)}
}
