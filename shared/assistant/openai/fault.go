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
	// said is all of it, to judge it by and not to be told: what is not known for an error's message can be the prompt.
	said      string
	mediaType string
	location  string
	final     bool
}

// Error is what the server said, if it said it in a way that is known; else only that it did.
func (r *reply) Error() string {
	var b strings.Builder
	if r.status != 0 {
		fmt.Fprintf(&b, "status %d: ", r.status)
	}
	switch {
	case r.message != "":
		b.WriteString(r.message)
	case r.mediaType != "":
		fmt.Fprintf(&b, "nothing that can be read, of type %q", r.mediaType)
	default:
		b.WriteString("nothing that can be read")
	}
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
		Metadata jsontext.Value `json:"metadata"` // of OpenRouter: what its own provider said, and what of the prompt was flagged
	}
	r := &reply{said: string(data)}
	var outer, inner fields
	if err := json.Unmarshal(data, &outer, lenient); err != nil {
		return r
	}
	if err := json.Unmarshal(outer.Error, &inner, lenient); err != nil || outer.Error.Kind() != '{' {
		inner = outer
		if text := plain(outer.Error); text != "" {
			inner.Message = outer.Error
		}
	}
	r.message, r.kind, r.code = plain(inner.Message), plain(inner.Type), plain(inner.Code)
	for _, text := range append(details(inner.Detail), providers(inner.Metadata)) {
		r.message = strings.TrimSpace(r.message + " " + text)
	}
	r.said = r.message + " " + words(inner.Metadata)
	if r.message == "" {
		r.said = string(data)
	}
	return r
}

// details are FastAPI's: a text, or what is wrong with each field. The fields' input, which is the prompt, lies beside that.
func details(v jsontext.Value) []string {
	var fields []struct {
		Message string `json:"msg"`
	}
	if v.Kind() != '[' || json.Unmarshal(v, &fields, lenient) != nil {
		return []string{plain(v)}
	}
	var all []string
	for _, f := range fields {
		all = append(all, f.Message)
	}
	return all
}

// providers is the message in OpenRouter's metadata, in which its own provider's answer is a text.
func providers(metadata jsontext.Value) string {
	var said struct {
		Raw  string `json:"raw"`
		Name string `json:"provider_name"`
	}
	if metadata.Kind() != '{' || json.Unmarshal(metadata, &said, lenient) != nil {
		return ""
	}
	if raw := []byte(said.Raw); jsontext.Value(raw).Kind() == '{' {
		said.Raw = readReply(raw).message
	} else {
		said.Raw = ""
	}
	return strings.TrimSpace(said.Raw + " " + said.Name)
}

// plain is a value's text, if it is one or a number.
func plain(v jsontext.Value) string {
	switch v.Kind() {
	case '"', '0':
		return words(v)
	}
	return ""
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
	said := strings.ToLower(r.said)
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
		strings.Contains(r.said, "max_tokens") && strings.Contains(r.said, "max_completion_tokens")
}

// maxText is how many bytes of an error go to the log, maxSaid how many of one that the server stated.
const (
	maxText = 1000
	maxSaid = 200
)

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
	limit := maxText
	var stated *reply
	if errors.As(err, &stated) {
		limit = maxSaid
	}
	if len(clean) > limit {
		clean = strings.ToValidUTF8(clean[:limit], "") + "…"
	}
	if clean == text && stated == nil { // what was stated holds more than it tells
		return failed
	}
	return &model.Error{Fault: failed.Fault, RetryAfter: failed.RetryAfter, Cause: errors.New(clean)}
}
