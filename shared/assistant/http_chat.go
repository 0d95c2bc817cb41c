package assistant

import (
	"context"
	"net/http"
	"strings"
	"unicode"

	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/project/path"
	"devplatform/shared/workspace"
)

type chatInput struct {
	Body struct {
		ProjectID string       `json:"projectId" doc:"The project that the message is about" example:"prj_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
		Message   string       `json:"message" minLength:"1" maxLength:"32000" doc:"What the user says, 1–32,000 characters" example:"Create a button component."`
		Context   *chatContext `json:"context,omitempty" doc:"Where the user is"`
		Apply     bool         `json:"apply,omitempty" doc:"Whether the actions are done to the project's files at once, all or none" example:"false"`
	}
}

type chatContext struct {
	CurrentFile string `json:"currentFile,omitempty" doc:"The path of the file that the user looks at" example:"/src/app.tsx"`
	Framework   string `json:"framework,omitempty" maxLength:"64" doc:"The framework to write for, if not the project's" example:"react"`
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

func checkBlank(text string) string {
	if text != "" && strings.TrimSpace(text) == "" {
		return "must not be blank"
	}
	return ""
}

func checkControls(text string) string {
	if strings.ContainsFunc(text, unicode.IsControl) {
		return "must not contain control characters"
	}
	return ""
}

// question is what the input asks.
func (in *chatInput) question() question {
	q := question{projectID: in.Body.ProjectID, message: in.Body.Message, apply: in.Body.Apply}
	if c := in.Body.Context; c != nil {
		q.currentFile, q.framework = c.CurrentFile, c.Framework
	}
	return q
}

type chatOutput struct{ Body reply }

// chatErrors are what both chat calls answer with.
var chatErrors = append([]*fault.Error{errTooLong, workspace.ErrProjectNotFound, workspace.ErrDenied}, generateErrors...)

func (s *Service) registerChat(r *httpapi.Routes) {
	httpapi.Private(r, httpapi.Operation{
		ID: "chat", Method: http.MethodPost, Path: "/api/ai/chat", Tag: tag,
		Summary: "Ask the assistant about a project",
		Description: "For members of the workspace who may write. Answers with text, code and a list of actions, each checked against the project's files; with apply, the actions are done as one files/batch. " +
			"An answer that can't be applied is answered all the same, with applied false and the reason in its response.",
		Errors: chatErrors,
	}, s.handleChat)
	httpapi.PrivateStream(r, httpapi.Operation{
		ID: "chatStream", Method: http.MethodPost, Path: "/api/ai/chat/stream", Tag: tag,
		Summary: "Ask the assistant about a project, and read the answer as it is made",
		Description: "The same as chat, as the AI SDK's UI message stream, version 1 (x-vercel-ai-ui-message-stream: v1): unnamed server-sent events of JSON with a type — start {messageId}, text-start, text-delta and text-end {id, delta}, " +
			"tool-input-start, tool-input-delta and tool-input-available {toolCallId, toolName, inputTextDelta, input} for each action, data-action {data} once an action is checked, data-result {data: the answer of chat}, error {errorText}, " +
			"finish {finishReason} — and [DONE] at the end. A comment is sent every 10 seconds of silence. An error before the first event is an ordinary answer. " +
			"A client that leaves does not stop the answer: POST /api/ai/messages/{id}/cancel does.",
		Errors: chatErrors,
	}, s.handleStream)
}

func (s *Service) handleChat(ctx context.Context, _ httpapi.Caller, in *chatInput) (*chatOutput, error) {
	r, err := s.converse(ctx, in.question(), nil)
	if err != nil {
		return nil, err
	}
	return &chatOutput{Body: r}, nil
}
