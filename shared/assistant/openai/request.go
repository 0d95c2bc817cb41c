package openai

import (
	"github.com/go-json-experiment/json/jsontext"

	"devplatform/shared/assistant/model"
)

// body is the request of https://platform.openai.com/docs/api-reference/chat/create, with only the fields that every
// server accepts. The fields have the same order as in OpenAI's SDK, so that bodies can be compared.
type body struct {
	Messages []message `json:"messages"`
	Model    string    `json:"model"`
	// MaxCompletionTokens and MaxTokens are names of the same limit. Only one of them is set.
	MaxCompletionTokens int            `json:"max_completion_tokens,omitzero"`
	MaxTokens           int            `json:"max_tokens,omitzero"`
	StreamOptions       *streamOptions `json:"stream_options,omitzero"`
	Tools               []tool         `json:"tools,omitempty"`
	Stream              bool           `json:"stream"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

// message always has content, even if it is "": some servers reject a message without content, and some reject null.
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

// newBody converts a request.
func newBody(modelName string, r model.Request) body {
	b := body{Model: modelName, MaxTokens: r.MaxOutput, Stream: true, StreamOptions: &streamOptions{IncludeUsage: true}}
	if r.System != "" {
		// OpenAI's newer models read this role as "developer".
		b.Messages = append(b.Messages, message{Role: "system", Content: r.System})
	}
	for _, m := range r.Messages {
		b.Messages = append(b.Messages, messages(m)...)
	}
	for _, t := range r.Tools {
		f := function{Name: t.Name, Description: t.Description, Parameters: t.Schema}
		b.Tools = append(b.Tools, tool{Type: "function", Function: f})
	}
	return b
}

// messages converts a message. Each result becomes a separate message before the text.
func messages(m model.Message) []message {
	var all []message
	for _, result := range m.Results {
		text := result.Text
		if result.Failed {
			text = "Error: " + text // the API has no field for a failure
		}
		all = append(all, message{Role: "tool", ToolCallID: result.CallID, Content: text})
	}
	if m.Text == "" && len(m.Calls) == 0 {
		return all
	}
	converted := message{Role: string(m.Role), Content: m.Text}
	for _, call := range m.Calls {
		converted.ToolCalls = append(converted.ToolCalls, toolCall{
			ID: call.ID, Type: "function", Function: functionCall{Name: call.Name, Arguments: call.Input},
		})
	}
	return append(all, converted)
}
