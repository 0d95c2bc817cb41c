package assistant

import (
	"context"
	"time"

	"devplatform/shared/assistant/conversation"
	"devplatform/shared/async"
	"devplatform/shared/db"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
	"devplatform/shared/workspace"
)

// ListMessages returns a page of a project's conversation, oldest message first, and the cursor of the next page. The
// cursor is "" if there are no more messages.
// Errors: PROJECT_NOT_FOUND, ACCESS_DENIED, VALIDATION_FAILED if the cursor belongs to another list; the error classes
// of db.
func (s *Service) ListMessages(
	ctx context.Context, caller httpapi.Caller, projectID string, page httpapi.PageInput,
) (items []MessageItem, next string, err error) {
	read := func(ctx context.Context, after string, n int) ([]MessageItem, error) {
		var messages []conversation.Message
		var readErr error
		var reads async.Group
		reads.Go(func() error {
			_, err := s.files.Open(ctx, caller, projectID, workspace.Read)
			return err
		})
		reads.Go(func() error {
			messages, readErr = s.conversations.Messages(db.WithoutGuardRead(ctx), projectID, after, n)
			return nil
		})
		if err := reads.Wait(); err != nil {
			return nil, err
		}
		items := make([]MessageItem, len(messages))
		for i, m := range messages {
			items[i] = item(m)
		}
		return items, readErr
	}
	scope := httpapi.ListScope(caller, "messages", projectID)
	return httpapi.ReadPage(ctx, s.cursors, scope, page, read, func(m MessageItem) string { return m.ID })
}

// deleteTime is the maximum time that Clear spends on deleting messages. The next call of Clear deletes the
// remaining messages.
const deleteTime = 10 * time.Second

// ClearConversation deletes the messages of a project's conversation. It hides all messages with one write, and then
// spends at most deleteTime on deleting them. Answers that are in progress are not stored when they end. If a turn
// begins at the same time, it is also cleared if the ID of its question is less than the ID that ClearConversation
// generates. The order of IDs from different processes depends on their clocks.
// Errors: PROJECT_NOT_FOUND, ACCESS_DENIED; the error classes of db.
func (s *Service) ClearConversation(ctx context.Context, caller httpapi.Caller, projectID string) error {
	if _, err := s.files.Open(ctx, caller, projectID, workspace.Write); err != nil {
		return err
	}
	last, err := s.conversations.LastMessage(ctx, projectID)
	if err != nil {
		return err
	}
	upTo := s.ids.NewAfter(id.Message, last)
	err = s.conversations.Clear(ctx, projectID, upTo, s.files.ProjectExists(projectID))
	if err != nil {
		return err
	}
	began := s.now()
	err = s.conversations.DeleteCleared(ctx, projectID, upTo, func() bool { return s.now().Sub(began) < deleteTime })
	if err != nil { // the next Clear deletes them
		s.logger.WarnContext(ctx, "cleared messages were not deleted", "projectId", projectID, "error", err)
	}
	return nil
}
