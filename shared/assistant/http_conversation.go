package assistant

import (
	"context"
	"net/http"

	"devplatform/shared/assistant/conversation"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/workspace"
)

type conversationInput struct {
	ProjectID string `path:"projectId" doc:"The project's ID" example:"prj_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
}

type messagesInput struct {
	ProjectID string `path:"projectId" doc:"The project's ID" example:"prj_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	httpapi.PageInput
}

type conversationOutput struct {
	Body struct {
		ConversationID string        `json:"conversationId" doc:"The ID of the project's only conversation" example:"cnv_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
		ProjectID      string        `json:"projectId" doc:"The project's ID" example:"prj_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
		Messages       []MessageItem `json:"messages" nullable:"false" doc:"The messages, oldest first. Each message of a user is followed by its answer"`
		NextCursor     string        `json:"nextCursor,omitempty" doc:"The cursor of the next page; absent on the last page"`
	}
}

func (s *Service) registerConversation(r *httpapi.Routes) {
	const path = "/api/ai/conversations/{projectId}"
	httpapi.Private(r, httpapi.Operation{
		ID: "listMessages", Method: http.MethodGet, Path: path, Tag: tag,
		Summary: "List the messages of a project's conversation",
		Description: "Returns the oldest messages first, 50 per page unless limit is set. The list is empty if the " +
			"project has no messages. If two users chat at the same time, each answer still follows its question. " +
			"Only members of the workspace, including viewers, have access, even if the project is public.",
		Errors: []*fault.Error{workspace.ErrProjectNotFound, workspace.ErrDenied},
	}, s.handleListMessages)
	httpapi.Private(r, httpapi.Operation{
		ID: "clearConversation", Method: http.MethodDelete, Path: path, Tag: tag,
		Summary: "Delete a project's conversation",
		Description: "For members, admins and owners of the workspace. Deletes all messages for all users. Later answers " +
			"do not take them into account. An answer in progress is still sent to the user who asked, but it is " +
			"not stored.",
		Errors: []*fault.Error{workspace.ErrProjectNotFound, workspace.ErrDenied, fault.ErrConflict},
	}, s.handleClearConversation)
}

func (s *Service) handleListMessages(
	ctx context.Context, caller httpapi.Caller, in *messagesInput,
) (*conversationOutput, error) {
	messages, next, err := s.Messages(ctx, caller, in.ProjectID, in.PageInput)
	if err != nil {
		return nil, err
	}
	out := &conversationOutput{}
	out.Body.ConversationID, out.Body.ProjectID = conversation.ID(in.ProjectID), in.ProjectID
	out.Body.Messages, out.Body.NextCursor = messages, next
	return out, nil
}

func (s *Service) handleClearConversation(
	ctx context.Context, caller httpapi.Caller, in *conversationInput,
) (*httpapi.DoneOutput, error) {
	if err := s.Clear(ctx, caller, in.ProjectID); err != nil {
		return nil, err
	}
	return &httpapi.DoneOutput{Body: httpapi.Done{Success: true, Message: "Conversation deleted."}}, nil
}
