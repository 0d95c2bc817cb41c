package project

import (
	"context"

	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/workspace"
)

// createComment stores a comment. Error: PROJECT_NOT_FOUND.
func (s store) createComment(ctx context.Context, projectID string, c commentRecord, event db.Write) error {
	record, err := db.Encode(c)
	if err != nil {
		return err
	}
	err = s.client.Transact(ctx,
		s.ProjectExists(projectID),
		s.Projects.Create(db.CommentKey(projectID, c.ID), record),
		event,
	)
	if db.FailedAt(err, 0) {
		return workspace.ErrProjectNotFound.WithCause(err)
	}
	return err
}

// comments returns up to n comments on a project, oldest first. It starts after the comment whose ID the parameter
// after contains.
func (s store) comments(ctx context.Context, projectID, after string, n int) ([]CommentItem, error) {
	page, err := s.Projects.Query(ctx, commentQuery(projectID, after, n))
	if err != nil {
		return nil, err
	}
	return commentItems(page)
}

func commentQuery(projectID, after string, n int) db.Query {
	prefix := db.CommentsOf(projectID)
	return db.Query{Prefix: prefix, After: prefix.After(after), Limit: n}
}

func commentItems(page db.Page) ([]CommentItem, error) {
	records, err := db.DecodeAll[commentRecord](page.Items)
	items := make([]CommentItem, len(records))
	for i, c := range records {
		items[i] = c.item()
	}
	return items, err
}

// maxCommentReads is the maximum number of calls for a page of the comments on one path. Each call reads up to 1 MB.
const maxCommentReads = 4

// commentsOn returns up to n comments on a path, oldest first. It starts after the comment whose ID the parameter after
// contains. next is the position of the next page, or "" at the end. A page can have fewer than n comments even if
// there is a next page.
func (s store) commentsOn(
	ctx context.Context, projectID, path, after string, n int,
) (found []CommentItem, next string, err error) {
	q := commentQuery(projectID, after, 0)
	found, last := []CommentItem{}, after
	for range maxCommentReads {
		page, err := s.Projects.Query(ctx, q)
		if err != nil {
			return nil, "", err
		}
		items, err := commentItems(page)
		if err != nil {
			return nil, "", err
		}
		for _, c := range items {
			if c.Path != nil && *c.Path == path {
				if len(found) == n {
					return found, last, nil
				}
				found = append(found, c)
			}
			last = c.ID
		}
		if page.Next.IsZero() {
			return found, "", nil
		}
		q.After = page.Next
	}
	return found, last, nil
}

// deleteComment deletes a comment. Errors: PROJECT_NOT_FOUND, COMMENT_NOT_FOUND.
func (s store) deleteComment(ctx context.Context, projectID, commentID string) error {
	err := s.client.Transact(ctx,
		s.ProjectExists(projectID),
		s.Projects.Delete(db.CommentKey(projectID, commentID)).If(s.Projects.Exists()),
	)
	switch {
	case db.FailedAt(err, 0):
		return workspace.ErrProjectNotFound.WithCause(err)
	case db.FailedAt(err, 1):
		return errCommentNotFound.WithCause(err)
	}
	return err
}

// eventsOf returns up to n events of a project, newest first. It starts after the event whose ID the parameter after
// contains.
func (s store) eventsOf(ctx context.Context, projectID, after string, n int) ([]event.Record, error) {
	q := db.Query{Prefix: db.EventsOf(projectID), Limit: n, Descending: true}
	if after != "" {
		q.After = db.ProjectEventKey(projectID, after)
	}
	page, err := s.events.Query(ctx, q)
	if err != nil {
		return nil, err
	}
	return db.DecodeAll[event.Record](page.Items)
}
