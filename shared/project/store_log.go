package project

import (
	"context"
	"errors"
	"fmt"

	"devplatform/shared/db"
	"devplatform/shared/event"
)

// What a comment's write may find gone.
var (
	errCommentGone = errors.New("project: the comment is gone")
)

// eventsOf are up to n events of a project, newest first, from behind an event on.
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

// createComment stores a comment in a project that is there. Error: db.ErrNotFound.
func (s store) createComment(ctx context.Context, projectID string, c commentRecord, told db.Write) error {
	record, err := db.Encode(c)
	if err != nil {
		return err
	}
	writes := []db.Write{
		s.projects.Check(db.TreeKey(projectID), s.projects.Exists()),
		s.projects.Create(db.CommentKey(projectID, c.ID), record),
		told,
	}
	err = s.client.Transact(ctx, writes...)
	switch {
	case err == nil:
		return nil
	case db.FailedAt(err, 0):
		return db.ErrNotFound
	}
	return fmt.Errorf("creating a comment: %w", err)
}

// commentsOf are up to n comments of a project, oldest first, from behind a comment on.
func (s store) commentsOf(ctx context.Context, projectID, after string, n int) ([]commentRecord, error) {
	page, err := s.projects.Query(ctx, commentQuery(projectID, after, n))
	if err != nil {
		return nil, err
	}
	return db.DecodeAll[commentRecord](page.Items)
}

func commentQuery(projectID, after string, n int) db.Query {
	q := db.Query{Prefix: db.CommentsOf(projectID), Limit: n}
	if after != "" {
		q.After = db.CommentKey(projectID, after)
	}
	return q
}

// maxCommentReads bounds what a list of the comments on one path costs: so many calls of up to 1 MB each.
const maxCommentReads = 4

// commentsOn are up to n comments on a path, oldest first, from behind a comment on, and the comment behind which to go on; "" at
// the end. Where the path's are few among many, there may be fewer than n and still more behind them.
func (s store) commentsOn(ctx context.Context, projectID, path, after string, n int) (found []commentRecord, next string, err error) {
	q := commentQuery(projectID, after, 0)
	last := after
	for range maxCommentReads {
		page, err := s.projects.Query(ctx, q)
		if err != nil {
			return nil, "", err
		}
		records, err := db.DecodeAll[commentRecord](page.Items)
		if err != nil {
			return nil, "", err
		}
		for _, c := range records {
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

// deleteComment takes a comment away, from a project that is there. Errors: db.ErrNotFound (the project), errCommentGone.
func (s store) deleteComment(ctx context.Context, projectID, commentID string) error {
	err := s.client.Transact(ctx,
		s.projects.Check(db.TreeKey(projectID), s.projects.Exists()),
		s.projects.Delete(db.CommentKey(projectID, commentID)).If(s.projects.Exists()),
	)
	switch {
	case err == nil:
		return nil
	case db.FailedAt(err, 0):
		return db.ErrNotFound
	case db.FailedAt(err, 1):
		return errCommentGone
	}
	return fmt.Errorf("deleting a comment: %w", err)
}
