package openai

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"devplatform/shared/assistant/model"
)

// body is the request of https://platform.openai.com/docs/api-reference/chat/create, as much of it as every server knows. The
// order of the fields is that of the SDK, so that bodies can be compared.
type body struct {
	Messages []message `json:"messages"`
	Model    string    `json:"model"`
	// One of the two, by the server's wish.
	MaxCompletionTokens int            `json:"max_completion_tokens,omitzero"`
	MaxTokens           int            `json:"max_tokens,omitzero"`
	StreamOptions       *streamOptions `json:"stream_options,omitzero"`
	Tools               []tool         `json:"tools,omitempty"`
	Stream              bool           `json:"stream"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

// message has its content always, if only "": some servers refuse a message without it, and some refuse null.
type message struct {
	Content    string     `json:"content"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
	ToolCalls  []toolCall `json:"tool_calls,omitempty"`
	Role       string     `json:"role"`
}

type toolCall struct {
	ID       string       `json:"id"`
	Function functionCall `json:"function"`
	Type     string       `json:"type"`
}

type functionCall struct {
	Arguments string `json:"arguments"`
	Name      string `json:"name"`
}

type tool struct {
	Function function `json:"function"`
	Type     string   `json:"type"`
}

type function struct {
	Name        string         `json:"name"`
	Description string         `json:"description,omitempty"`
	Parameters  jsontext.Value `json:"parameters,omitempty"`
}

// newBody says r in the API's words.
func newBody(modelName string, r model.Request) body {
	b := body{Model: modelName, MaxTokens: r.MaxOutput, Stream: true, StreamOptions: &streamOptions{IncludeUsage: true}}
	if r.System != "" {
		b.Messages = append(b.Messages, message{Role: "system", Content: r.System}) // OpenAI's newer models read it as "developer"
	}
	for _, m := range r.Messages {
		b.Messages = append(b.Messages, messages(m)...)
	}
	for _, t := range r.Tools {
		b.Tools = append(b.Tools, tool{Type: "function", Function: function{Name: t.Name, Description: t.Description, Parameters: t.Schema}})
	}
	return b
}

// messages are what one of ours comes to: each result is a message of its own, before the user's text.
func messages(m model.Message) []message {
	var all []message
	for _, result := range m.Results {
		text := result.Text
		if result.Failed {
			text = "Error: " + text // the API has no other way to say so
		}
		all = append(all, message{Role: "tool", ToolCallID: result.CallID, Content: text})
	}
	if m.Text == "" && len(m.Calls) == 0 {
		return all
	}
	said := message{Role: string(m.Role), Content: m.Text}
	for _, call := range m.Calls {
		said.ToolCalls = append(said.ToolCalls, toolCall{
			ID: call.ID, Type: "function", Function: functionCall{Name: call.Name, Arguments: arguments(call.Input)},
		})
	}
	return append(all, said)
}

// arguments is a call's input as history may have it. Ollama, vLLM and llama.cpp parse it and refuse the whole request unless it is
// an object, so what the model got wrong is left out; the call's result says what was wrong.
func arguments(input string) string {
	if v := jsontext.Value(input); v.Kind() == '{' && v.IsValid() {
		return input
	}
	return "{}"
}

// encode is the body with its limit under the name that the server knows.
func (b body) encode(completionTokens bool) ([]byte, error) {
	if completionTokens {
		b.MaxCompletionTokens, b.MaxTokens = b.MaxTokens, 0
	}
	data, err := json.Marshal(b)
	if err != nil {
		return nil, &model.Error{Fault: model.Misconfigured, Cause: fmt.Errorf("request: %w", err)}
	}
	return data, nil
}
