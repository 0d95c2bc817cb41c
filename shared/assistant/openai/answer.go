package openai

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"devplatform/shared/assistant/model"
	"devplatform/shared/assistant/provider"
	"devplatform/shared/async"
)

// The limits of an answer protect the memory of the function from a server that does not follow the protocol.
const (
	// maxAnswer is the maximum number of bytes that are read from a stream. It is a hundred times the size of a long
	// answer.
	maxAnswer = 64 << 20
	// maxEvent is the maximum number of bytes of an event, or of a whole answer. In memory, an event can need a hundred
	// times the bytes of its JSON.
	maxEvent = 1 << 20
)

// chunk is an event of the stream, or a whole answer. Fields whose types differ between servers are raw values.
type chunk struct {
	Model   string         `json:"model"`
	Choices []choice       `json:"choices"` // empty in the chunk with the usage
	Usage   *usage         `json:"usage"`
	Error   jsontext.Value `json:"error"`
	Object  jsontext.Value `json:"object"`
}

type choice struct {
	Index        int    `json:"index"`
	Delta        delta  `json:"delta"`
	Message      delta  `json:"message"` // from servers that do not stream
	FinishReason string `json:"finish_reason"`
}

type delta struct {
	Content   jsontext.Value `json:"content"`
	Refusal   string         `json:"refusal"`
	ToolCalls []callDelta    `json:"tool_calls"`
	// The content of reasoning is ignored. DeepSeek, vLLM and llama.cpp send reasoning_content. OpenRouter, Ollama and
	// Groq send reasoning.
	ReasoningContent jsontext.Value `json:"reasoning_content"`
	Reasoning        jsontext.Value `json:"reasoning"`
}

type callDelta struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string         `json:"name"`
		Arguments jsontext.Value `json:"arguments"` // a string; some servers send the object
	} `json:"function"`
}

type usage struct {
	Prompt     float64 `json:"prompt_tokens"`
	Completion float64 `json:"completion_tokens"`
}

// answer collects the response to one request.
type answer struct {
	outcome model.Outcome
	parts   *provider.Queue
	calls   *calls
	// emitError is the error that emit returned.
	emitError error
	// finishReason is set when the answer is complete.
	finishReason string
	// hasRefusal is set when the model has refused to answer. The text of the refusal is not stored or logged, because
	// it is about the question.
	hasRefusal bool
}

func newAnswer(modelName string, r model.Request, emit func(model.Part) error) *answer {
	a := &answer{outcome: model.Outcome{Model: modelName}}
	a.parts = provider.NewQueue(func(p model.Part) error {
		a.emitError = emit(p)
		return a.emitError
	})
	a.calls = newCalls(r, a.parts)
	return a
}

// read reads the whole answer. After the finish reason, it waits for the usage, and after [DONE] for the end of the
// stream. cancel ends the call. Its errors are *model.Errors.
func (a *answer) read(response *http.Response, w provider.Waits, cancel func()) error {
	if mediaType, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type")); mediaType == "text/html" {
		cause := errors.New("the base URL is the address of a web page, not of an API")
		return &model.Error{Fault: model.Misconfigured, Cause: cause}
	}
	body := bufio.NewReader(io.LimitReader(response.Body, maxAnswer))
	if first, _ := body.Peek(1); string(first) == "{" { // a server that does not stream
		data, err := io.ReadAll(io.LimitReader(body, maxEvent+1))
		if len(data) > maxEvent {
			err = provider.ErrTooLarge
		}
		if err == nil {
			err = a.readEvent("", data)
		}
		return a.result(err)
	}
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, maxEvent)
	var timer *time.Timer
	for {
		name, data, err := nextEvent(lines)
		if err != nil || data == nil {
			return a.result(err)
		}
		if bytes.HasPrefix(data, []byte("[DONE]")) {
			defer async.AfterFunc(w.Close, cancel).Stop()
			_, _ = io.Copy(io.Discard, body)
			return a.result(nil)
		}
		if err := a.readEvent(name, data); err != nil {
			return a.result(err)
		}
		if a.finishReason != "" && timer == nil {
			timer = async.AfterFunc(w.Usage, cancel)
			defer timer.Stop()
		}
	}
}

// nextEvent returns the name and the data of the next event with data, in the format text/event-stream
// (https://html.spec.whatwg.org/multipage/server-sent-events.html). The data is nil at the end of the stream. In
// contrast to the specification, the last event does not need an empty line at its end, because some servers omit it.
func nextEvent(lines *bufio.Scanner) (name string, data []byte, err error) {
	for lines.Scan() {
		field, value, _ := bytes.Cut(lines.Bytes(), []byte(":"))
		value = bytes.TrimSpace(value)
		switch string(field) { // comments have no field name, and other fields are ignored
		case "event":
			name = string(value)
		case "data":
			if data = append(append(data, value...), '\n'); len(data) > maxEvent {
				return "", nil, provider.ErrTooLarge
			}
		case "":
			if len(lines.Bytes()) > 0 {
				continue // a comment
			}
			if data = bytes.TrimSpace(data); len(data) > 0 {
				return name, data, nil
			}
			name, data = "", nil // a keep-alive
		}
	}
	if err := lines.Err(); err != nil {
		if errors.Is(err, bufio.ErrTooLong) {
			err = provider.ErrTooLarge
		}
		return "", nil, err
	}
	if data = bytes.TrimSpace(data); len(data) == 0 {
		data = nil
	}
	return name, data, nil
}

// readEvent reads one event.
func (a *answer) readEvent(event string, data []byte) error {
	var c chunk
	err := json.Unmarshal(data, &c, lenient)
	if event == "error" || isError(c.Error) || textOf(c.Object) == "error" {
		return streamedError(data)
	}
	if err != nil {
		return errors.New("an event is not valid") // the decoder's error may quote the event
	}
	if c.Model != "" && len(c.Model) <= provider.MaxName {
		a.outcome.Model = c.Model
	}
	if c.Usage != nil {
		// If several chunks have a usage, the last one is the total.
		a.outcome.Usage = model.Usage{Input: tokenCount(c.Usage.Prompt), Output: tokenCount(c.Usage.Completion)}
	}
	for _, choice := range c.Choices {
		if choice.Index != 0 {
			continue // only one choice was requested
		}
		for _, d := range []delta{choice.Delta, choice.Message} {
			if err := a.readDelta(d); err != nil {
				return err
			}
		}
		if choice.FinishReason != "" {
			a.finishReason = choice.FinishReason
		}
	}
	return nil
}

// isError reports whether v, the error field of an event, contains an error. Some servers send null or "" in each
// event.
func isError(v jsontext.Value) bool {
	return v.Kind() == '"' && textOf(v) != "" || v.Kind() == '{' && len(v) > len("{}")
}

// readDelta adds a delta to the answer.
func (a *answer) readDelta(d delta) error {
	a.hasRefusal = a.hasRefusal || d.Refusal != ""
	if textOf(d.ReasoningContent) != "" || textOf(d.Reasoning) != "" {
		if err := a.parts.Thinking(); err != nil {
			return err
		}
	}
	if err := a.calls.addText(scalar(d.Content)); err != nil {
		return err
	}
	for _, call := range d.ToolCalls {
		if err := a.calls.add(call); err != nil {
			return err
		}
	}
	return nil
}

// result returns the result of an answer. err is the error that interrupted it, or nil. An answer with a finish reason
// is complete, even if the connection failed after that.
func (a *answer) result(err error) error {
	if a.emitError != nil {
		return a.emitError
	}
	if a.finishReason == "" {
		switch failure, ok := errors.AsType[*model.Error](err); {
		case ok:
			return failure
		case err != nil:
			return &model.Error{Fault: model.Unavailable, Cause: fmt.Errorf("the answer was cut short: %w", err)}
		case !a.hasRefusal:
			cause := errors.New("the answer was cut short: it ended without a finish reason")
			return &model.Error{Fault: model.Unavailable, Cause: cause}
		}
	}
	if a.hasRefusal {
		return &model.Error{Fault: model.Refused, Cause: errors.New("the model refused to answer")}
	}
	stop, fault := classifyFinishReason(a.finishReason)
	if fault != "" {
		return &model.Error{Fault: fault, Cause: fmt.Errorf("the answer ended with the finish reason %q", a.finishReason)}
	}
	if stop == model.StopEnd && a.parts.CallCount > 0 {
		stop = model.StopTools // some servers send "stop" even if the answer has calls
	}
	a.outcome.Stop = stop
	return a.calls.close()
}

// classifyFinishReason returns the stop reason or the fault for a finish reason. Reasons that are not listed are normal
// ends, such as stop, tool_calls, function_call, eos and end_turn.
func classifyFinishReason(reason string) (model.Stop, model.Fault) {
	switch strings.ToLower(reason) {
	case "length", "max_tokens", "model_length":
		return model.StopLength, ""
	case "content_filter", "safety", "recitation", "blocklist", "prohibited_content", "refusal", "sensitive":
		return "", model.Refused
	case "error", "abort", "aborted", "cancelled", "network_error", "insufficient_system_resource":
		return "", model.Unavailable
	}
	return model.StopEnd, ""
}

// tokenCount converts a number of tokens. It accepts any number, because servers may send negative or very large ones.
func tokenCount(n float64) int { return int(min(max(n, 0), 1<<31)) }
