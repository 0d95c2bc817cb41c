package bedrock

import (
	"math"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/document"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"
	"github.com/go-json-experiment/json/jsontext"

	"devplatform/shared/assistant/model"
)

// newInput converts a request. The only inference parameter is the limit of the answer, because the newest Claude
// models reject a temperature.
func (p *Provider) newInput(r model.Request, t traits) *bedrockruntime.ConverseStreamInput {
	in := &bedrockruntime.ConverseStreamInput{ModelId: &p.model, ToolConfig: toolsOf(r, t)}
	if r.System != "" {
		in.System = append(in.System, &types.SystemContentBlockMemberText{Value: r.System})
		if t.cacheSystem {
			in.System = append(in.System, &types.SystemContentBlockMemberCachePoint{Value: cachePoint})
		}
	}
	for _, m := range r.Messages {
		role := types.ConversationRoleUser
		if m.Role == model.Assistant {
			role = types.ConversationRoleAssistant
		}
		in.Messages = append(in.Messages, types.Message{Role: role, Content: contentOf(m, t)})
	}
	if r.MaxOutput > 0 {
		in.InferenceConfig = &types.InferenceConfiguration{MaxTokens: aws.Int32(int32(min(r.MaxOutput, math.MaxInt32)))}
	}
	return in
}

// cachePoint marks the end of a prefix of the prompt that is the same in the next request. A cached prefix costs a
// tenth of the price. A prefix that is too short for the model's cache is not cached, and this is not an error.
var cachePoint = types.CachePointBlock{Type: types.CachePointTypeDefault}

func toolsOf(r model.Request, t traits) *types.ToolConfiguration {
	if len(r.Tools) == 0 {
		return nil
	}
	config := &types.ToolConfiguration{}
	for _, tool := range r.Tools {
		config.Tools = append(config.Tools, &types.ToolMemberToolSpec{Value: types.ToolSpecification{
			Name: &tool.Name, Description: &tool.Description,
			InputSchema: &types.ToolInputSchemaMemberJson{Value: raw(tool.Schema)},
		}})
	}
	if t.cacheTools {
		config.Tools = append(config.Tools, &types.ToolMemberCachePoint{Value: cachePoint})
	}
	return config
}

// contentOf returns the blocks of a message: results first, as Claude requires, then the text, then calls. Bedrock
// rejects a blank text.
func contentOf(m model.Message, t traits) []types.ContentBlock {
	var blocks []types.ContentBlock
	for _, r := range m.Results {
		result := types.ToolResultBlock{
			ToolUseId: &r.CallID,
			Content:   []types.ToolResultContentBlock{&types.ToolResultContentBlockMemberText{Value: r.Text}},
		}
		if r.Failed && t.failedStatus {
			result.Status = types.ToolResultStatusError
		}
		blocks = append(blocks, &types.ContentBlockMemberToolResult{Value: result})
	}
	if strings.TrimSpace(m.Text) != "" {
		blocks = append(blocks, &types.ContentBlockMemberText{Value: m.Text})
	}
	for _, c := range m.Calls {
		blocks = append(blocks, &types.ContentBlockMemberToolUse{Value: types.ToolUseBlock{
			ToolUseId: &c.ID, Name: &c.Name, Input: raw(jsontext.Value(c.Input)),
		}})
	}
	return blocks
}

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
