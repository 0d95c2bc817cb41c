package assistant

import (
	"context"
	"net/http"
	"time"

	"devplatform/shared/assistant/action"
	"devplatform/shared/assistant/conversation"
	"devplatform/shared/assistant/model"
	"devplatform/shared/assistant/uistream"
	"devplatform/shared/async"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/project/path"
	"devplatform/shared/workspace"
)

func (s *Service) registerChat(r *httpapi.Routes) {
	chatErrors := append(
		[]*fault.Error{errMessageTooLong, workspace.ErrProjectNotFound, workspace.ErrDenied}, modelErrors...)
	httpapi.Private(r, httpapi.Operation{
		ID: "chat", Method: http.MethodPost, Path: "/api/ai/chat", Tag: tag,
		Summary: "Ask the assistant about a project",
		Description: "For members, admins and owners of the workspace. Returns text, code and a list of actions. Each " +
			"action is checked against the project's files. If apply is true, the actions are applied as one batch: " +
			"all of them or none. If they cannot be applied, the answer is still returned: applied is false, and " +
			"response contains the reason.",
		Errors: chatErrors,
	}, s.chat)
	httpapi.PrivateStream(r, httpapi.Operation{
		ID: "chatStream", Method: http.MethodPost, Path: "/api/ai/chat/stream", Tag: tag,
		Summary: "Ask the assistant about a project, and stream the answer while it is generated",
		Description: "Does the same as POST /api/ai/chat, but the response is the AI SDK's UI message stream, version 1 " +
			"(x-vercel-ai-ui-message-stream: v1). It consists of unnamed server-sent events. Each event is a " +
			"JSON object with a type. The types, each with its other fields, are: start {messageId}; text-start " +
			"{id}, text-delta {id, delta} and text-end {id} for the text; tool-input-start {toolCallId, " +
			"toolName}, tool-input-delta {toolCallId, inputTextDelta}, and then tool-input-available {toolCallId, " +
			"toolName, input} or tool-input-error {toolCallId, toolName, input, errorText} for each tool call; " +
			"data-action {data} for each action that passed the checks; data-result {data}, whose data is the " +
			"response body of POST /api/ai/chat; error {errorText}; and finish {finishReason}. The last event is " +
			"the text [DONE], which is not JSON. A comment is sent after every 10 seconds without an " +
			"event. If an error occurs before the first event, the response is an ordinary error response. " +
			"Disconnecting does not cancel the answer. To cancel it, call POST /api/ai/messages/{id}/cancel. " +
			"Fields of the request that are not described here are ignored, because AI SDK clients send their own.",
		Errors: chatErrors, IgnoreUnknownFields: true,
	}, s.chatStream)
}

type chatInput struct {
	Body struct {
		ProjectID string       `json:"projectId" doc:"The project that the message is about" example:"prj_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
		Message   string       `json:"message" minLength:"1" maxLength:"32000" doc:"The user's message, 1–32,000 characters" example:"Create a button component."`
		Context   *chatContext `json:"context,omitempty" doc:"The file and the framework that the user is working with"`
		Apply     bool         `json:"apply,omitempty" doc:"Whether to apply the actions to the project's files. Either all actions are applied, or none" example:"false"`
	}
}

type chatContext struct {
	CurrentFile string `json:"currentFile,omitempty" doc:"The path of the file that is open in the user's editor" example:"/src/app.tsx"`
	Framework   string `json:"framework,omitempty" maxLength:"64" doc:"The framework to use instead of the project's framework" example:"react"`
}

// Validate checks the rules that tags cannot express.
func (in *chatInput) Validate(v *httpapi.Validation) {
	v.Field("message", checkBlank(in.Body.Message))
	if c := in.Body.Context; c != nil {
		if c.CurrentFile != "" {
			v.Field("context.currentFile", path.Check(c.CurrentFile))
		}
		v.Field("context.framework", checkControls(c.Framework))
	}
}

// Reply is the response of the chat endpoints.
type Reply struct {
	ConversationID string          `json:"conversationId" doc:"The ID of the project's conversation" example:"cnv_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Response       string          `json:"response" doc:"The text of the answer, as Markdown" example:"Here is a button."`
	Code           string          `json:"code" doc:"The main block of code: the content of the first file that the actions write, otherwise the first fenced block of the response; empty if the answer has no code" example:"export default function Button() {}\n"`
	Actions        []action.Action `json:"actions" nullable:"false" doc:"The checked changes to the project's files, in the order in which they are applied; at most 20"`
	MessageID      string          `json:"messageId" doc:"The answer's ID in the conversation" example:"msg_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Model          string          `json:"model" doc:"The model that generated the answer, as named by its provider" example:"qwen3-coder"`
	Usage          model.Usage     `json:"usage" doc:"The tokens that the call used"`
	Applied        bool            `json:"applied" doc:"Whether the actions were applied to the project's files. If applying them was requested and failed, response contains the reason" example:"false"`

	// stop is the reason why the model stopped; "" if the answer was cancelled.
	stop model.Stop
}

type chatOutput struct{ Body Reply }

// newReply returns the response with a stored answer.
func newReply(projectID string, m conversation.Message, isApplied bool, stop model.Stop) Reply {
	return Reply{
		ConversationID: conversation.ID(projectID), Response: m.Content, Code: m.Code, Actions: m.Actions,
		MessageID: m.ID, Model: m.Model, Usage: m.Usage, Applied: isApplied, stop: stop,
	}
}

func (s *Service) chat(ctx context.Context, caller httpapi.Caller, in *chatInput) (*chatOutput, error) {
	return s.answerQuestion(ctx, caller, in, nil)
}

// startDelay is the maximum time that a stream waits for the model's first output before it starts. If an error occurs
// before the start, the response is an ordinary error response.
const startDelay = 3 * time.Second

func (s *Service) chatStream(
	ctx context.Context, caller httpapi.Caller, in *chatInput, out *httpapi.EventStream,
) error {
	w := uistream.NewWriter(out, out.FlushError, uistream.Options{Hold: startDelay})
	defer w.Close()
	var reply *chatOutput
	err := async.Recover(func() (err error) { // even after a panic, the stream must end with an error
		reply, err = s.answerQuestion(ctx, caller, in, w)
		return err
	})
	switch {
	case err == nil:
		_ = w.Data("result", reply.Body)
		_ = w.Finish(finishReason(reply.Body.stop))
	case !w.Discard():
		_ = w.Error(httpapi.AsError(err).Message)
		_ = w.Finish(uistream.Failed)
	}
	return err
}

// finishReason converts the model's stop reason to the stream's finish reason. StopTools becomes Stop, because the
// client does not have to send the results of tool calls.
func finishReason(stop model.Stop) uistream.Reason {
	switch stop {
	case model.StopEnd, model.StopTools:
		return uistream.Stop
	case model.StopLength:
		return uistream.Length
	default:
		return uistream.Other
	}
}
