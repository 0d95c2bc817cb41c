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
	"github.com/openai/openai-go/v3/packages/ssestream"

	"devplatform/shared/assistant/model"
)

// maxAnswer is the largest stream that is read: a hundred times what an answer should need.
const maxAnswer = 64 << 20

// chunk is an event of the stream, or a whole answer. What servers write in more than one way is taken as it comes.
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
	Message      delta  `json:"message"` // in place of Delta, of servers that don't stream
	FinishReason string `json:"finish_reason"`
}

type delta struct {
	Content      jsontext.Value `json:"content"`
	Refusal      string         `json:"refusal"`
	ToolCalls    []callDelta    `json:"tool_calls"`
	FunctionCall *functionDelta `json:"function_call"` // before there were tools
	// What the model thinks is not for the user; only that it does is told. DeepSeek, vLLM and llama.cpp have the first, OpenRouter,
	// Ollama and Groq the second.
	ReasoningContent jsontext.Value `json:"reasoning_content"`
	Reasoning        jsontext.Value `json:"reasoning"`
}

// thinks reports that a delta brings reasoning.
func (d delta) thinks() bool {
	return words(d.ReasoningContent) != "" || words(d.Reasoning) != "" || slices.ContainsFunc(partsOf(d.Content), isThinking)
}

type callDelta struct {
	Index    *int          `json:"index"`
	ID       string        `json:"id"`
	Function functionDelta `json:"function"`
}

type functionDelta struct {
	Name      string         `json:"name"`
	Arguments jsontext.Value `json:"arguments"` // a string; some send the object itself
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

// answer is an answer that is being read.
type answer struct {
	outcome model.Outcome
	parts   *parts
	// emitted is emit's error.
	emitted error
	// finish is the server's word that the answer is complete.
	finish string
	// refused says that the model, in place of an answer, said why it gives none. That is not for the log: it is about the question.
	refused bool
}

func newAnswer(modelName string, r model.Request, emit func(model.Part) error) *answer {
	a := &answer{outcome: model.Outcome{Model: modelName}}
	a.parts = newParts(r, func(p model.Part) error {
		a.emitted = emit(p)
		return a.emitted
	})
	return a
}

// read takes in the whole answer. Once it is complete, only the usage is waited for, and no longer than tail: the timers that
// within starts end the call.
func (a *answer) read(response *http.Response, tail time.Duration, within func(time.Duration) *time.Timer) error {
	if mediaType, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type")); mediaType == "text/html" {
		return &model.Error{Fault: model.Misconfigured, Cause: errors.New("a web page is at the base URL, not an API")}
	}
	body := bufio.NewReader(io.LimitReader(response.Body, maxAnswer))
	if first, _ := body.Peek(1); string(first) == "{" { // a server that does not stream
		data, err := io.ReadAll(body)
		if err == nil {
			err = a.take("", data)
		}
		return a.end(err)
	}
	// The reader drops a last event that no empty line follows.
	response.Body = &framed{io.MultiReader(body, strings.NewReader("\n\n")), response.Body}
	events := ssestream.NewDecoder(response)
	var timer *time.Timer
	for events.Next() {
		event := events.Event()
		data := bytes.TrimSpace(event.Data)
		if bytes.HasPrefix(data, []byte("[DONE]")) {
			defer within(drainTimeout).Stop()
			_, _ = io.Copy(io.Discard, body)
			break
		}
		if len(data) == 0 {
			continue // kept alive
		}
		if err := a.take(event.Type, data); err != nil {
			return a.end(err)
		}
		if a.finish != "" && timer == nil {
			timer = within(tail)
			defer timer.Stop()
		}
	}
	return a.end(events.Err())
}

type framed struct {
	io.Reader
	io.Closer
}

// take takes in one event.
func (a *answer) take(event string, data []byte) error {
	var c chunk
	err := json.Unmarshal(data, &c, lenient)
	if event == "error" || states(c.Error) || words(c.Object) == "error" {
		return readReply(data).streamed()
	}
	if err != nil {
		return errors.New("an event that can't be read") // the decoder's words can quote it
	}
	if c.Model != "" {
		a.outcome.Model = c.Model
	}
	if c.Usage != nil {
		a.outcome.Usage = c.Usage.tokens() // where several chunks have it, each covers all before it
	}
	for _, choice := range c.Choices {
		if choice.Index != 0 {
			continue // one was asked for
		}
		for _, d := range []delta{choice.Delta, choice.Message} {
			if err := a.say(d); err != nil {
				return err
			}
		}
		if choice.FinishReason != "" {
			a.finish = choice.FinishReason
		}
	}
	return nil
}

// states reports that an event's error is one: some have null or "" in each.
func states(v jsontext.Value) bool {
	return v.Kind() == '"' && words(v) != "" || v.Kind() == '{' && len(v) > len("{}")
}

// say hands on what a delta adds.
func (a *answer) say(d delta) error {
	a.refused = a.refused || d.Refusal != ""
	if d.thinks() {
		if err := a.parts.emit(model.Part{Kind: model.Thinking}); err != nil {
			return err
		}
	}
	if err := a.parts.text(prose(d.Content)); err != nil {
		return err
	}
	calls := d.ToolCalls
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

// prose is the text of a content: a string, or, of Mistral's reasoning models, parts of which some are text.
func prose(content jsontext.Value) string {
	if content.Kind() != '[' {
		return words(content)
	}
	var b strings.Builder
	for _, part := range partsOf(content) {
		if part.Type == "text" {
			b.WriteString(part.Text)
		}
	}
	return b.String()
}

// contentPart is a part of a content that has some.
type contentPart struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

func isThinking(p contentPart) bool { return p.Type == "thinking" }

// partsOf are the parts of a content; none of one that is a string.
func partsOf(content jsontext.Value) []contentPart {
	var all []contentPart
	if content.Kind() != '[' || json.Unmarshal(content, &all, lenient) != nil {
		return nil
	}
	return all
}

// end settles what the answer came to, after it ended or broke off with err. An answer is complete once the server has said why it
// finished, whatever happened to the connection after that.
func (a *answer) end(err error) error {
	if a.emitted != nil {
		return a.emitted
	}
	if a.finish == "" {
		var failed *model.Error
		switch {
		case errors.As(err, &failed):
			return failed
		case err != nil:
			return &model.Error{Fault: model.Unavailable, Cause: fmt.Errorf("the answer was cut short: %w", err)}
		case !a.refused:
			return &model.Error{Fault: model.Unavailable, Cause: errors.New("the answer was cut short: it ended without a finish reason")}
		}
	}
	stop, fault := ending(a.finish)
	if a.refused {
		return &model.Error{Fault: model.Refused, Cause: errors.New("the model refused")}
	}
	if fault != "" {
		return &model.Error{Fault: fault, Cause: fmt.Errorf("the answer ended by %q", a.finish)}
	}
	if stop == model.StopEnd && a.parts.calls > 0 {
		stop = model.StopTools // some say "stop" to both
	}
	a.outcome.Stop = stop
	return a.parts.end()
}

// ending reads a finish reason. One that nobody knows is an end like any other: tool_calls, function_call, eos, end_turn …
func ending(reason string) (model.Stop, model.Fault) {
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

// tokens is the usage as we count it.
func (u *usage) tokens() model.Usage {
	t := model.Usage{Input: count(u.Prompt), Output: count(u.Completion), CacheRead: count(u.CacheHit)}
	if u.Details != nil {
		t.CacheRead, t.CacheWrite = max(t.CacheRead, count(u.Details.Cached)), count(u.Details.Written)
	}
	t.CacheRead = min(t.CacheRead, t.Input)
	t.CacheWrite = min(t.CacheWrite, t.Input-t.CacheRead)
	return t
}

// count is a number of tokens as a server wrote it.
func count(n float64) int { return int(min(max(n, 0), 1<<31)) }
