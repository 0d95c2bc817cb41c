package openai

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"devplatform/shared/assistant/model"
	"devplatform/shared/assistant/provider"
)

// serverError is an error that the server sent, either instead of an answer or in the stream. Failure.Message
// classifies it and is not logged, because text outside of the known fields may be the prompt. Only knownText, which is
// the text of the known fields, is logged.
type serverError struct {
	provider.Failure

	knownText, mediaType, location string
}

// modelError returns the error that Generate returns. Its text contains the status, and the message if it was in a
// known field.
func (e *serverError) modelError() *model.Error {
	var b strings.Builder
	if e.Status != 0 {
		fmt.Fprintf(&b, "status %d: ", e.Status)
	}
	switch {
	case e.knownText != "":
		b.WriteString(e.knownText)
	case e.mediaType != "":
		fmt.Fprintf(&b, "no readable message in a body of type %q", e.mediaType)
	default:
		b.WriteString("no readable message")
	}
	for _, detail := range append(e.Codes, e.location) {
		if detail != "" {
			fmt.Fprintf(&b, " (%s)", detail)
		}
	}
	return &model.Error{Fault: e.Fault(), Cause: errors.New(b.String())}
}

// lenient accepts JSON that servers send although it is not strictly valid.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// parseError parses the body of an error. OpenAI sends {"error": {message, type, code}}. Google sends the same object
// in an array. Ollama and LM Studio send {"error": "…"}, vLLM sends only {message, type, code}, FastAPI sends
// {"detail": …}, and proxies send text.
func parseError(data []byte) *serverError {
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
		Metadata jsontext.Value `json:"metadata"` // of OpenRouter: its provider's error, and the flagged part of the prompt
	}
	e := &serverError{Failure: provider.Failure{Message: string(data)}}
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
	e.knownText = strings.TrimSpace(scalar(inner.Message) + " " + scalar(inner.Detail))
	e.Codes = []string{scalar(inner.Type), scalar(inner.Code)}
	if e.knownText != "" {
		e.Message = e.knownText + " " + textOf(inner.Metadata)
	}
	return e
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

// streamedError returns the error for an error event, where the code may be an HTTP status.
func streamedError(data []byte) *model.Error {
	e := parseError(data)
	for _, code := range e.Codes {
		if status, err := strconv.Atoi(code); err == nil && status >= 400 && status < 600 {
			e.Status = status
		}
	}
	return e.modelError()
}
