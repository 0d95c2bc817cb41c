package openai

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"devplatform/shared/assistant/model"
)

// chunk is an event of the stream, or a whole answer. Fields whose types differ between servers are raw values.
type chunk struct {
	Model   string         `json:"model"`
	Choices list[choice]   `json:"choices"` // empty in the chunk with the usage
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
	Content      jsontext.Value  `json:"content"`
	Refusal      string          `json:"refusal"`
	ToolCalls    list[callDelta] `json:"tool_calls"`
	FunctionCall *functionDelta  `json:"function_call"` // the predecessor of tool calls
	// The content of reasoning is ignored. DeepSeek, vLLM and llama.cpp send reasoning_content. OpenRouter, Ollama and
	// Groq send reasoning.
	ReasoningContent jsontext.Value `json:"reasoning_content"`
	Reasoning        jsontext.Value `json:"reasoning"`
}

// hasReasoning reports whether a delta contains reasoning.
func (d delta) hasReasoning() bool {
	return textOf(d.ReasoningContent) != "" || textOf(d.Reasoning) != "" ||
		slices.ContainsFunc(partsOf(d.Content), isThinking)
}

type callDelta struct {
	Index    *int          `json:"index"`
	ID       string        `json:"id"`
	Function functionDelta `json:"function"`
}

type functionDelta struct {
	Name      string         `json:"name"`
	Arguments jsontext.Value `json:"arguments"` // a string; some servers send the object
}

type usage struct {
	Prompt     float64 `json:"prompt_tokens"`
	Completion float64 `json:"completion_tokens"`
	Details    *struct {
		Cached  float64 `json:"cached_tokens"`
		Written float64 `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
	CacheHit float64 `json:"prompt_cache_hit_tokens"` // DeepSeek
}

// answer collects the response to one request.
type answer struct {
	outcome model.Outcome
	parts   *partQueue
	content surrogates
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
	a.parts = newPartQueue(r, func(p model.Part) error {
		a.emitError = emit(p)
		return a.emitError
	})
	return a
}

// read reads the whole answer. After the finish reason, it waits at most usageWait for the usage. cancelAfter starts a
// timer that cancels the call.
func (a *answer) read(
	response *http.Response, usageWait time.Duration, cancelAfter func(time.Duration) *time.Timer,
) error {
	if mediaType, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type")); mediaType == "text/html" {
		cause := errors.New("the base URL is the address of a web page, not of an API")
		return &model.Error{Fault: model.Misconfigured, Cause: cause}
	}
	body := bufio.NewReader(io.LimitReader(response.Body, maxAnswer))
	if first, _ := body.Peek(1); string(first) == "{" { // a server that does not stream
		data, err := io.ReadAll(io.LimitReader(body, maxEvent+1))
		if err == nil && len(data) > maxEvent {
			err = errTooLarge
		}
		if err == nil {
			err = a.readEvent("", data)
		}
		return a.result(err)
	}
	events := eventReader{body: body}
	var timer *time.Timer
	for {
		next, err := events.next()
		if errors.Is(err, io.EOF) {
			return a.result(nil)
		}
		if err != nil {
			return a.result(err)
		}
		data := bytes.TrimSpace(next.data)
		if bytes.HasPrefix(data, []byte("[DONE]")) {
			defer cancelAfter(drainTimeout).Stop()
			_, _ = io.Copy(io.Discard, body)
			return a.result(nil)
		}
		if len(data) == 0 {
			continue // keep-alive
		}
		if err := a.readEvent(next.name, data); err != nil {
			return a.result(err)
		}
		if a.finishReason != "" && timer == nil {
			timer = cancelAfter(usageWait)
			defer timer.Stop()
		}
	}
}

// readEvent reads one event.
func (a *answer) readEvent(event string, data []byte) error {
	var c chunk
	err := json.Unmarshal(data, &c, lenient)
	if event == "error" || isError(c.Error) || textOf(c.Object) == "error" {
		return parseError(data).inStream()
	}
	if err != nil {
		return errors.New("an event is not valid") // the decoder's error may quote the event
	}
	if c.Model != "" && len(c.Model) <= maxName {
		a.outcome.Model = c.Model
	}
	if c.Usage != nil {
		a.outcome.Usage = c.Usage.tokens() // if several chunks have a usage, the last one is the total
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
	if d.hasReasoning() {
		if err := a.parts.emit(model.Part{Kind: model.Thinking}); err != nil {
			return err
		}
	}
	if err := a.parts.text(a.contentText(d.Content)); err != nil {
		return err
	}
	calls := []callDelta(d.ToolCalls)
	if d.FunctionCall != nil {
		calls = append(calls, callDelta{Function: *d.FunctionCall})
	}
	for _, call := range calls {
		if err := a.parts.call(call); err != nil {
			return err
		}
	}
	return nil
}

// contentText returns the text of the content of a delta. The content is usually a string. Mistral's reasoning models
// send a list of parts instead, and some of these parts are text.
func (a *answer) contentText(content jsontext.Value) string {
	if content.Kind() != '[' {
		return a.content.text(content)
	}
	var b strings.Builder
	for _, part := range partsOf(content) {
		if part.Type == "text" {
			b.WriteString(part.Text)
		}
	}
	return b.String()
}

// contentPart is a part of the content of a delta if the content is a list.
type contentPart struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

func isThinking(p contentPart) bool { return p.Type == "thinking" }

// partsOf returns the parts of the content of a delta. It returns nil if the content is not a list.
func partsOf(content jsontext.Value) []contentPart {
	var all list[contentPart]
	if content.Kind() != '[' || json.Unmarshal(content, &all, lenient) != nil {
		return nil
	}
	return all
}

// result returns the result of an answer. err is the error that interrupted it, or nil. An answer with a finish reason
// is complete, even if the connection failed after that.
func (a *answer) result(err error) error {
	if a.emitError != nil {
		return a.emitError
	}
	if a.finishReason == "" {
		var failed *model.Error
		switch {
		case errors.As(err, &failed):
			return failed
		case err != nil:
			return &model.Error{Fault: model.Unavailable, Cause: fmt.Errorf("the answer was cut short: %w", err)}
		case !a.hasRefusal:
			cause := errors.New("the answer was cut short: it ended without a finish reason")
			return &model.Error{Fault: model.Unavailable, Cause: cause}
		}
	}
	stop, fault := classifyFinishReason(a.finishReason)
	if a.hasRefusal {
		return &model.Error{Fault: model.Refused, Cause: errors.New("the model refused to answer")}
	}
	if fault != "" {
		return &model.Error{Fault: fault, Cause: fmt.Errorf("the answer ended with the finish reason %q", a.finishReason)}
	}
	if stop == model.StopEnd && a.parts.calls > 0 {
		stop = model.StopTools // some servers send "stop" even if the answer has calls
	}
	a.outcome.Stop = stop
	if err := a.parts.text(a.content.end()); err != nil {
		return err
	}
	return a.parts.close()
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

// tokens converts the usage.
func (u *usage) tokens() model.Usage {
	t := model.Usage{Input: tokenCount(u.Prompt), Output: tokenCount(u.Completion), CacheRead: tokenCount(u.CacheHit)}
	if u.Details != nil {
		t.CacheRead, t.CacheWrite = max(t.CacheRead, tokenCount(u.Details.Cached)), tokenCount(u.Details.Written)
	}
	t.CacheRead = min(t.CacheRead, t.Input)
	t.CacheWrite = min(t.CacheWrite, t.Input-t.CacheRead)
	return t
}

// tokenCount converts a number of tokens. It accepts any number, because servers may send negative or very large ones.
func tokenCount(n float64) int { return int(min(max(n, 0), 1<<31)) }
