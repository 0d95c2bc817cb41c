package assistant

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"devplatform/shared/assistant/action"
	"devplatform/shared/assistant/conversation"
	"devplatform/shared/assistant/model"
	"devplatform/shared/async"
	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
	"devplatform/shared/workspace"
)

func (s *Service) registerConversation(r *httpapi.Routes) {
	const path = "/api/ai/conversations/{projectId}"
	httpapi.Private(r, httpapi.Operation{
		ID: "listMessages", Method: http.MethodGet, Path: path, Tag: tag,
		Summary: "List the messages of a project's conversation",
		Description: "Returns the oldest messages first, 50 per page unless limit is set. The list is empty if the " +
			"project has no messages. If two users chat at the same time, each answer still follows its question. " +
			"Only members of the workspace, including viewers, have access, even if the project is public.",
		Errors: []*fault.Error{workspace.ErrProjectNotFound, workspace.ErrDenied},
	}, s.listMessages)
	httpapi.Private(r, httpapi.Operation{
		ID: "clearConversation", Method: http.MethodDelete, Path: path, Tag: tag,
		Summary: "Delete a project's conversation",
		Description: "For members, admins and owners of the workspace. Deletes all messages for all users. Later answers " +
			"do not take them into account. An answer in progress is still sent to the user who asked, but it is " +
			"not stored.",
		Errors: []*fault.Error{workspace.ErrProjectNotFound, workspace.ErrDenied, fault.ErrConflict},
	}, s.clearConversation)
}

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

// MessageItem is a message in API responses.
type MessageItem struct {
	ID        string              `json:"id" doc:"The message's ID" example:"msg_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Role      model.Role          `json:"role" enum:"user,assistant" doc:"The author's role" example:"assistant"`
	Content   string              `json:"content" doc:"The text of the message" example:"Here is the component."`
	Code      string              `json:"code,omitempty" doc:"The main block of code of an answer; absent if the answer has no code" example:"export {}\n"`
	Actions   []action.Action     `json:"actions,omitempty" nullable:"false" doc:"The changes that an answer makes to the project's files, in order; absent if there are none"`
	Model     string              `json:"model,omitempty" doc:"The model that generated the answer, as named by its provider" example:"qwen3-coder"`
	Usage     *model.Usage        `json:"usage,omitempty" nullable:"false" doc:"The tokens that the answer used"`
	Status    conversation.Status `json:"status" enum:"complete,interrupted" doc:"complete, or interrupted if the answer was cut off" example:"complete"`
	CreatedAt clock.Timestamp     `json:"createdAt" doc:"When the message was written" example:"2026-01-31T08:15:30.123Z"`
}

// item converts a stored message to the form that the API returns.
func item(m conversation.Message) MessageItem {
	out := MessageItem{ID: m.ID, Role: m.Role, Content: m.Content, Status: m.Status, CreatedAt: m.CreatedAt}
	if m.Role == model.Assistant {
		out.Code, out.Actions, out.Model, out.Usage = m.Code, m.Actions, m.Model, &m.Usage
	}
	return out
}

// listMessages returns a page of a project's conversation, oldest message first.
func (s *Service) listMessages(
	ctx context.Context, caller httpapi.Caller, in *messagesInput,
) (*conversationOutput, error) {
	read := func(ctx context.Context, after string, n int) ([]MessageItem, error) {
		var messages []conversation.Message
		var reading async.Group
		reading.Go(func() (err error) {
			messages, err = s.conversations.Messages(db.WithoutGuardRead(ctx), in.ProjectID, after, n)
			return err
		})
		_, err := s.access.Project(ctx, caller.UserID, in.ProjectID, workspace.Read)
		if err = cmp.Or(err, reading.Wait()); err != nil {
			return nil, err //nolint:wrapcheck // the error of Project, or of Messages
		}
		items := make([]MessageItem, len(messages))
		for i, m := range messages {
			items[i] = item(m)
		}
		return items, nil
	}
	scope := httpapi.ListScope(caller, "messages", in.ProjectID)
	messages, next, err := httpapi.ReadPage(ctx, s.cursors, scope, in.PageInput, read,
		func(m MessageItem) string { return m.ID })
	if err != nil {
		return nil, err
	}
	out := &conversationOutput{}
	out.Body.ConversationID, out.Body.ProjectID = conversation.ID(in.ProjectID), in.ProjectID
	out.Body.Messages, out.Body.NextCursor = messages, next
	return out, nil
}

// deleteTime is the maximum time that clearConversation spends on deleting messages. The next call of clearConversation
// deletes the remaining messages.
const deleteTime = 10 * time.Second

// clearConversation deletes the messages of a project's conversation. It hides all messages with one write, and then
// spends at most deleteTime on deleting them. Answers that are in progress are not stored when they end. If a turn
// begins at the same time, it is also cleared if the ID of its question is less than the ID that clearConversation
// generates. The order of IDs from different processes depends on their clocks.
func (s *Service) clearConversation(
	ctx context.Context, caller httpapi.Caller, in *conversationInput,
) (*httpapi.DoneOutput, error) {
	if _, err := s.access.Project(ctx, caller.UserID, in.ProjectID, workspace.Write); err != nil {
		return nil, err
	}
	last, err := s.conversations.LastMessageID(ctx, in.ProjectID)
	if err != nil {
		return nil, err
	}
	upTo := s.ids.NewAfter(id.Message, last)
	err = s.conversations.Clear(ctx, in.ProjectID, upTo, s.access.ProjectExists(in.ProjectID))
	if err != nil {
		return nil, err
	}
	began := s.now()
	err = s.conversations.DeleteCleared(ctx, in.ProjectID, upTo, func() bool { return s.now().Sub(began) < deleteTime })
	if err != nil { // the next call deletes them
		s.logger.WarnContext(ctx, "cleared messages were not deleted", "projectId", in.ProjectID, "cause", err.Error())
	}
	return httpapi.ReplyDone("Conversation deleted.", nil)
}
