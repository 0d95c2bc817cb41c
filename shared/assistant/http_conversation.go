package assistant

import (
	"context"
	"net/http"

	"devplatform/shared/assistant/action"
	"devplatform/shared/assistant/model"
	"devplatform/shared/clock"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/workspace"
)

const conversationPath = "/api/ai/conversations/{projectId}"

// MessageItem is a message as members of its project see it. (Exported for huma's sake.)
type MessageItem struct {
	ID        string          `json:"id" doc:"The message's id" example:"msg_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Role      model.Role      `json:"role" enum:"user,assistant" doc:"Whose it is" example:"assistant"`
	Content   string          `json:"content" doc:"What it says" example:"Here is the component."`
	Code      string          `json:"code,omitempty" doc:"Of an answer: its main block of code; absent if there is none" example:"export {}\n"`
	Actions   []action.Action `json:"actions,omitempty" nullable:"false" doc:"Of an answer: what it does to the project's files, in order; absent if that is nothing"`
	Model     string          `json:"model,omitempty" doc:"Of an answer: who gave it, by the provider's name" example:"scaffold"`
	Usage     *usage          `json:"usage,omitempty" nullable:"false" doc:"Of an answer: the tokens that it took"`
	Status    status          `json:"status" enum:"complete,interrupted" doc:"interrupted: it was cut off" example:"complete"`
	CreatedAt clock.Timestamp `json:"createdAt" doc:"When it was said" example:"2026-01-31T08:15:30.123Z"`
}

func (m message) item() MessageItem {
	item := MessageItem{ID: m.ID, Role: m.Role, Content: m.Content, Status: m.Status, CreatedAt: m.CreatedAt}
	if m.Role == model.Assistant {
		item.Code, item.Actions, item.Model, item.Usage = m.Code, m.Actions, m.Model, &m.Usage
	}
	return item
}

// InConversation are the inputs that name a project, whose conversation is meant. (Exported for huma's sake, as every embedded struct.)
type InConversation struct {
	ProjectID string `path:"projectId" doc:"The project's id" example:"prj_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
}

type conversationInput struct {
	InConversation
	httpapi.PageInput
}

type conversationOutput struct {
	Body struct {
		ConversationID string        `json:"conversationId" doc:"The conversation's id: a project has one" example:"cnv_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
		ProjectID      string        `json:"projectId" doc:"The project's id" example:"prj_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
		Messages       []MessageItem `json:"messages" nullable:"false" doc:"Oldest first; each message of a user is followed by its answer"`
		NextCursor     string        `json:"nextCursor,omitempty" doc:"Leads on to the next page; absent on the last one"`
	}
}

type doneOutput struct{ Body httpapi.Done }

var conversationDeleted = httpapi.Done{Success: true, Message: "Conversation deleted."}

// registerConversations adds the calls on a project's conversation.
func (s *Service) registerConversations(r *httpapi.Routes) {
	httpapi.Private(r, httpapi.Operation{
		ID: "listMessages", Method: http.MethodGet, Path: conversationPath, Tag: tag,
		Summary:     "A project's conversation with the assistant",
		Description: "Oldest first, 50 messages a page unless limit says otherwise; one that nobody has begun is empty. Two chats at once are both here, each answer right behind its question. For members of the workspace, a public project's, too.",
		Errors:      []*fault.Error{workspace.ErrProjectNotFound, workspace.ErrDenied},
	}, s.handleConversation)
	httpapi.Private(r, httpapi.Operation{
		ID: "clearConversation", Method: http.MethodDelete, Path: conversationPath, Tag: tag,
		Summary:     "Delete a project's conversation",
		Description: "For members and above. Everything said so far is gone for everybody, and the assistant does not remember it. An answer that is being made meanwhile still reaches whoever asked, but is not kept.",
		Errors:      []*fault.Error{workspace.ErrProjectNotFound, workspace.ErrDenied, fault.ErrConflict},
	}, s.handleClear)
}

func (s *Service) handleConversation(ctx context.Context, _ httpapi.Caller, in *conversationInput) (*conversationOutput, error) {
	messages, next, err := s.conversation(ctx, in.ProjectID, in.PageInput)
	if err != nil {
		return nil, err
	}
	out := &conversationOutput{}
	out.Body.ConversationID, out.Body.ProjectID = conversationID(in.ProjectID), in.ProjectID
	out.Body.Messages, out.Body.NextCursor = messages, next
	return out, nil
}

func (s *Service) handleClear(ctx context.Context, _ httpapi.Caller, in *InConversation) (*doneOutput, error) {
	if err := s.clear(ctx, in.ProjectID); err != nil {
		return nil, err
	}
	return &doneOutput{conversationDeleted}, nil
}
