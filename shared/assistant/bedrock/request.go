package bedrock

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/document"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"
	"github.com/go-json-experiment/json/jsontext"

	"devplatform/shared/assistant/model"
)

// input contains the parameters that Converse and ConverseStream have in common.
type input struct {
	system    []types.SystemContentBlock
	messages  []types.Message
	tools     *types.ToolConfiguration
	inference *types.InferenceConfiguration
}

// newInput converts a request. The only inference parameter is the limit of the answer, because the newest Claude
// models reject a temperature.
func newInput(r model.Request, t traits) input {
	in := input{system: systemOf(r.System, t), messages: messagesOf(r.Messages, t), tools: toolsOf(r, t)}
	if r.MaxOutput > 0 {
		in.inference = &types.InferenceConfiguration{MaxTokens: aws.Int32(int32(min(r.MaxOutput, 1<<30)))}
	}
	return in
}

// cachePoint marks the end of a prefix of the prompt that is the same in the next request. A cached prefix costs a
// tenth of the price. A prefix that is too short for the model's cache is not cached, and this is not an error.
var cachePoint = types.CachePointBlock{Type: types.CachePointTypeDefault}

func systemOf(text string, t traits) []types.SystemContentBlock {
	if isBlank(text) {
		return nil
	}
	blocks := []types.SystemContentBlock{&types.SystemContentBlockMemberText{Value: text}}
	if t.cacheSystem {
		blocks = append(blocks, &types.SystemContentBlockMemberCachePoint{Value: cachePoint})
	}
	return blocks
}

// toolsOf returns the tools of the request. Bedrock requires a tool configuration if earlier messages have calls. If
// the request has no tools, toolsOf returns the tools that were called.
func toolsOf(r model.Request, t traits) *types.ToolConfiguration {
	offered := r.Tools
	if len(offered) == 0 {
		offered = calledTools(r.Messages)
	}
	if len(offered) == 0 {
		return nil
	}
	tools := make([]types.Tool, 0, len(offered)+1)
	for _, tool := range offered {
		spec := types.ToolSpecification{
			Name:        &tool.Name,
			InputSchema: &types.ToolInputSchemaMemberJson{Value: raw(tool.Schema)},
		}
		if tool.Description != "" {
			spec.Description = &tool.Description
		}
		tools = append(tools, &types.ToolMemberToolSpec{Value: spec})
	}
	if t.cacheTools {
		tools = append(tools, &types.ToolMemberCachePoint{Value: cachePoint})
	}
	return &types.ToolConfiguration{Tools: tools}
}

// calledTools returns the tools that were called in earlier messages.
func calledTools(messages []model.Message) []model.Tool {
	var tools []model.Tool
	seen := map[string]bool{}
	for _, m := range messages {
		for _, c := range m.Calls {
			if !seen[c.Name] {
				seen[c.Name] = true
				tools = append(tools, model.Tool{Name: c.Name, Schema: jsontext.Value(`{"type":"object"}`)})
			}
		}
	}
	return tools
}

func messagesOf(messages []model.Message, t traits) []types.Message {
	all := make([]types.Message, 0, len(messages))
	for _, m := range messages {
		role := types.ConversationRoleUser
		if m.Role == model.Assistant {
			role = types.ConversationRoleAssistant
		}
		all = append(all, types.Message{Role: role, Content: contentOf(m, t)})
	}
	return all
}

// noText replaces an empty or blank text, which Bedrock rejects.
const noText = "(no text)"

// contentOf returns the blocks of a message: results first, as Claude requires, then the text, then calls.
func contentOf(m model.Message, t traits) []types.ContentBlock {
	var blocks []types.ContentBlock
	for _, r := range m.Results {
		blocks = append(blocks, &types.ContentBlockMemberToolResult{Value: resultOf(r, t)})
	}
	if !isBlank(m.Text) {
		blocks = append(blocks, &types.ContentBlockMemberText{Value: m.Text})
	}
	for _, c := range m.Calls {
		blocks = append(blocks, &types.ContentBlockMemberToolUse{Value: types.ToolUseBlock{
			ToolUseId: &c.ID, Name: &c.Name, Input: raw(objectOf(c.Input)),
		}})
	}
	if len(blocks) == 0 {
		blocks = append(blocks, &types.ContentBlockMemberText{Value: noText})
	}
	return blocks
}

func resultOf(r model.Result, t traits) types.ToolResultBlock {
	text := r.Text
	if isBlank(text) {
		text = noText
	}
	result := types.ToolResultBlock{
		ToolUseId: &r.CallID,
		Content:   []types.ToolResultContentBlock{&types.ToolResultContentBlockMemberText{Value: text}},
	}
	if r.Failed && t.failedStatus {
		result.Status = types.ToolResultStatusError
	}
	return result
}

// objectOf returns a call's input if it is a JSON object, and an empty object otherwise, because Bedrock
// rejects any other input. The call's result explains the error to the model.
func objectOf(input string) jsontext.Value {
	if v := jsontext.Value(input); v.IsValid() && v.Kind() == '{' {
		return v
	}
	return jsontext.Value("{}")
}

func isBlank(text string) bool { return strings.TrimSpace(text) == "" }

// rawDocument is JSON that is sent unchanged. The SDK's own documents sort the names of an object. The model writes the
// input of a call in the order of the schema, so with sorted names it would write "content" before "path".
type rawDocument struct {
	document.Interface // has an unexported method

	json jsontext.Value
}

func raw(json jsontext.Value) document.Interface {
	return rawDocument{Interface: document.NewLazyDocument(nil), json: json}
}

// MarshalSmithyDocument returns the JSON that the SDK sends.
func (d rawDocument) MarshalSmithyDocument() ([]byte, error) { return d.json, nil }
