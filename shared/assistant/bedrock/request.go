package bedrock

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/document"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"
	"github.com/go-json-experiment/json/jsontext"

	"devplatform/shared/assistant/model"
)

// input is what Converse and ConverseStream have in common.
type input struct {
	system    []types.SystemContentBlock
	messages  []types.Message
	tools     *types.ToolConfiguration
	inference *types.InferenceConfiguration
}

// newInput puts a request into Bedrock's words. Nothing but the limit of the answer is asked of the inference: the newest models of
// Claude refuse a temperature.
func newInput(r model.Request, t traits) input {
	in := input{system: systemOf(r.System, t), messages: messagesOf(r.Messages, t), tools: toolsOf(r, t)}
	if r.MaxOutput > 0 {
		in.inference = &types.InferenceConfiguration{MaxTokens: aws.Int32(int32(min(r.MaxOutput, 1<<30)))}
	}
	return in
}

// cachePoint ends a beginning of the prompt that is the same in the next request, which then costs a tenth. A beginning that is too
// short for the model's cache is not cached, and no error.
var cachePoint = types.CachePointBlock{Type: types.CachePointTypeDefault}

func systemOf(text string, t traits) []types.SystemContentBlock {
	if blank(text) {
		return nil
	}
	blocks := []types.SystemContentBlock{&types.SystemContentBlockMemberText{Value: text}}
	if t.cacheSystem {
		blocks = append(blocks, &types.SystemContentBlockMemberCachePoint{Value: cachePoint})
	}
	return blocks
}

// toolsOf are the request's tools. Calls in the history need the tools' configuration to be there, although nothing may be called any
// more: then the tools are those that the history names.
func toolsOf(r model.Request, t traits) *types.ToolConfiguration {
	offered := r.Tools
	if len(offered) == 0 {
		offered = calledIn(r.Messages)
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

func calledIn(messages []model.Message) []model.Tool {
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

// nothing stands where Bedrock wants text and there is none: it refuses texts that are empty or blank.
const nothing = "(nothing)"

// contentOf has results first, as Claude wants them, then the text, then calls.
func contentOf(m model.Message, t traits) []types.ContentBlock {
	var blocks []types.ContentBlock
	for _, r := range m.Results {
		blocks = append(blocks, &types.ContentBlockMemberToolResult{Value: resultOf(r, t)})
	}
	if !blank(m.Text) {
		blocks = append(blocks, &types.ContentBlockMemberText{Value: m.Text})
	}
	for _, c := range m.Calls {
		blocks = append(blocks, &types.ContentBlockMemberToolUse{Value: types.ToolUseBlock{
			ToolUseId: &c.ID, Name: &c.Name, Input: raw(objectOf(c.Input)),
		}})
	}
	if len(blocks) == 0 {
		blocks = append(blocks, &types.ContentBlockMemberText{Value: nothing})
	}
	return blocks
}

func resultOf(r model.Result, t traits) types.ToolResultBlock {
	text := r.Text
	if blank(text) {
		text = nothing
	}
	result := types.ToolResultBlock{
		ToolUseId: &r.CallID,
		Content:   []types.ToolResultContentBlock{&types.ToolResultContentBlockMemberText{Value: text}},
	}
	if r.Failed && t.status {
		result.Status = types.ToolResultStatusError
	}
	return result
}

// objectOf is a call's input as Bedrock takes it back: an object. What the model wrote in its place is not repeated to it; the call's
// result says what was wrong with it.
func objectOf(input string) jsontext.Value {
	if v := jsontext.Value(input); v.IsValid() && v.Kind() == '{' {
		return v
	}
	return jsontext.Value("{}")
}

func blank(text string) bool { return strings.TrimSpace(text) == "" }

// rawDocument is JSON that goes out as it stands. The SDK's own documents are made of Go values, whose names they put in order: the
// model would then be shown content before path, and write it in that order.
type rawDocument struct {
	document.Interface // for the method that keeps documents of others out

	json jsontext.Value
}

func raw(json jsontext.Value) document.Interface {
	return rawDocument{Interface: document.NewLazyDocument(nil), json: json}
}

// MarshalSmithyDocument is what the SDK sends.
func (d rawDocument) MarshalSmithyDocument() ([]byte, error) { return d.json, nil }
