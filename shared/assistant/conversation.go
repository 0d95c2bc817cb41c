package assistant

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"

	"devplatform/shared/db"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
	"devplatform/shared/workspace"
)

// memory is what a conversation is carried on with.
type memory struct {
	// summary is a note in place of the turns up to a message, upTo; both "" while there is none.
	summary, upTo string
	// turns are the latest of those behind it, oldest first.
	turns []turn
	// clearedTo is the message up to which everything was cleared, "" if it never was.
	clearedTo string
	// last is behind all that was said, or cleared, so far; "" if that is nothing.
	last string
}

// recallItems is how many of a conversation's items are read for a turn: the summary and, if none is long, 16 turns.
const recallItems = 1 + 2*16

// newTurn makes the ids of a message and of its answer, with none between them. What the conversation has had before, after being the
// last of it, is before both, whatever the clocks say.
func (s *Service) newTurn(after string) (questionID, answerID string) {
	for {
		questionID = s.ids.NewAfter(id.Message, after)
		if answerID, ok := id.Message.Next(questionID); ok {
			return questionID, answerID
		}
	}
}

// recall reads what a conversation is carried on with, in one call. Of an unused one that is nothing. Error: storage's classes.
func (s *Service) recall(ctx context.Context, projectID string) (memory, error) {
	summary, messages, err := s.store.recall(ctx, projectID, recallItems)
	if err != nil {
		return memory{}, err
	}
	seen := max(summary.UpTo, summary.ClearedTo)
	last := seen
	if n := len(messages); n > 0 {
		last = max(last, messages[n-1].ID)
	}
	for len(messages) > 0 && messages[0].ID <= seen {
		messages = messages[1:]
	}
	return memory{summary: summary.Note, upTo: summary.UpTo, turns: paired(messages), clearedTo: summary.ClearedTo, last: last}, nil
}

// paired are the turns among messages in the order of their ids; a half without its other is left out.
func paired(messages []message) []turn {
	var turns []turn
	for i := 1; i < len(messages); i++ {
		if answers, _ := id.Message.Next(messages[i-1].ID); answers == messages[i].ID {
			turns = append(turns, turn{messages[i-1], messages[i]})
		}
	}
	return turns
}

// finish stores a turn and settles what it took, in one transaction, even if the caller's context has ended. Doing it again changes
// nothing. A turn of a conversation that was cleared since the turn began is not stored, which is no error.
// Errors: errCancelled, if the answer is complete and was cancelled all the same; PROJECT_NOT_FOUND, if the project is gone: the usage is
// settled all the same; storage's classes, and then it may or may not have happened and can be tried again.
func (s *Service) finish(ctx context.Context, r reservation, projectID string, t turn, used usage) error {
	writes, err := s.store.turnWrites(projectID, t)
	if err != nil {
		return err
	}
	end := s.settlement(r, used)
	end.unlessCancelled = t.answer.Status == complete
	there, notCleared := end.writes(), end.writes()+1
	err = s.conclude(ctx, end, append([]db.Write{
		s.files.ProjectExists(projectID), s.store.notCleared(projectID, t.question.ID),
	}, writes...)...)
	gone := db.FailedAt(err, there)
	if !gone && !db.FailedAt(err, notCleared) {
		return err
	}
	if err := s.settle(ctx, r, used); err != nil {
		return err
	}
	if gone {
		return workspace.ErrProjectNotFound.WithCause(err)
	}
	return nil
}

// amend puts other text into a stored answer; if it is not stored, or not any more, that is no error. Error: storage's classes.
func (s *Service) amend(ctx context.Context, projectID string, m message) error {
	return orMeanwhile(s.store.amend(context.WithoutCancel(ctx), projectID, m, s.files.ProjectExists(projectID)))
}

// remember stores a note in place of the turns up to a message, unless somebody else did meanwhile, or the conversation was cleared, or
// the project is gone, none of which is an error. Before is what the note was made from. Error: storage's classes.
func (s *Service) remember(ctx context.Context, projectID string, before memory, note, upTo string) error {
	was := summaryRecord{UpTo: before.upTo, ClearedTo: before.clearedTo}
	return orMeanwhile(s.store.remember(ctx, projectID, was, note, upTo, s.files.ProjectExists(projectID)))
}

// orMeanwhile is the error of a write that nobody misses once what it was about has changed.
func orMeanwhile(err error) error {
	if errors.Is(err, errChanged) || errors.Is(err, db.ErrNotFound) {
		return nil
	}
	return err
}

// defaultLimit is how many messages a page has if the request does not say (API.md §1).
const defaultLimit = 50

// maxPage is how many bytes of messages are read for a page: more don't fit an answer.
const maxPage = 4 << 20

// conversation is a page of a project's conversation, oldest first, and the cursor of the next page, "" if it is the last. It takes
// four calls of which two are the project's, more only for long messages.
func (s *Service) conversation(ctx context.Context, projectID string, page httpapi.PageInput) (items []MessageItem, next string, err error) {
	scope := httpapi.ListScope(httpapi.CallerFrom(ctx), "messages", projectID)
	after, err := s.cursors.Open(ctx, scope, page.Cursor)
	if err != nil {
		return nil, "", err
	}
	if page.Limit == 0 {
		page.Limit = defaultLimit
	}
	var messages []message
	var readErr error
	var reads errgroup.Group
	reads.Go(func() error {
		_, err := s.files.Open(ctx, httpapi.CallerFrom(ctx), projectID, workspace.Read)
		return err
	})
	reads.Go(func() error {
		messages, readErr = s.messagesBehind(ctx, projectID, after, page.Limit+1)
		return nil
	})
	if err := reads.Wait(); err != nil {
		return nil, "", err //nolint:wrapcheck // package project's: why the caller may not
	}
	if readErr != nil {
		return nil, "", readErr
	}
	items = make([]MessageItem, len(messages))
	for i, m := range messages {
		items[i] = m.item()
	}
	if n := httpapi.Fit(items, page.Limit); n < len(items) {
		items = items[:n]
		next, err = s.cursors.Seal(ctx, scope, items[n-1].ID)
	}
	return items, next, err
}

// messagesBehind reads up to n messages that have not been cleared. What was cleared is asked for afterwards: only so is a message
// known not to have been in the middle of being deleted when it was read.
func (s *Service) messagesBehind(ctx context.Context, projectID, after string, n int) ([]message, error) {
	for {
		messages, err := s.store.messages(ctx, projectID, after, n, maxPage)
		if err != nil || len(messages) == 0 {
			return nil, err
		}
		clearedTo, err := s.store.clearedTo(ctx, projectID)
		if err != nil {
			return nil, err
		}
		if messages[0].ID > clearedTo {
			return messages, nil
		}
		after = clearedTo
	}
}

// sweepTime is how long clearing a conversation goes on deleting: the rest is for the next time.
const sweepTime = 10 * time.Second

// clear empties a project's conversation. That is one write, after which nobody sees the messages any more; they are deleted then, as
// far as time allows and nothing fails, and what is left by the next clear. Turns that have begun before are not stored.
// Turns that are under way while a conversation is cleared belong to the side of the clear that their ids say: clocks of functions that
// differ are no more exact here than they are.
func (s *Service) clear(ctx context.Context, projectID string) error {
	if _, err := s.files.Open(ctx, httpapi.CallerFrom(ctx), projectID, workspace.Write); err != nil {
		return err
	}
	last, err := s.store.lastMessage(ctx, projectID)
	if err != nil {
		return err
	}
	upTo := s.ids.NewAfter(id.Message, last)
	err = s.store.clear(ctx, projectID, upTo, s.files.ProjectExists(projectID))
	if errors.Is(err, db.ErrNotFound) {
		return workspace.ErrProjectNotFound.WithCause(err)
	}
	if err != nil {
		return err
	}
	began := s.now()
	err = s.store.sweep(ctx, projectID, upTo, func() bool { return s.now().Sub(began) < sweepTime })
	if err != nil {
		s.logger.WarnContext(ctx, "messages of a cleared conversation stay for the next time", "projectId", projectID, "error", err)
	}
	return nil
}
