package project

import (
	"context"
	"errors"

	"devplatform/shared/db"
	"devplatform/shared/event"
)

// createComment stores a comment. Error: PROJECT_NOT_FOUND.
func (s store) createComment(ctx context.Context, projectID string, c commentRecord, eventWrite db.Write) error {
	return s.client.Tx(
		s.ProjectExists(projectID), s.Projects.Create(db.CommentKey(projectID, c.ID), c), eventWrite,
	).Commit(ctx)
}

// comments returns up to n comments on a project, oldest first. It skips comments up to and including lastID.
func (s store) comments(ctx context.Context, projectID, lastID string, n int) ([]CommentItem, error) {
	records, _, err := db.List(ctx, s.Projects, commentQuery(projectID, lastID, n), decodeComment)
	return commentItems(records), err
}

var decodeComment = db.DecodeByID(func(c commentRecord) string { return c.ID })

func commentQuery(projectID, lastID string, n int) db.Query {
	prefix := db.CommentsOf(projectID)
	return db.Query{Prefix: prefix, After: prefix.After(lastID), Limit: n}
}

func commentItems(records []commentRecord) []CommentItem {
	items := make([]CommentItem, len(records))
	for i, c := range records {
		items[i] = c.item()
	}
	return items
}

// maxCommentReads is the maximum number of calls for a page of the comments on one path. Each call reads up to 1 MB.
const maxCommentReads = 4

// commentsOn returns up to n comments on a path, oldest first. It skips comments up to and including lastID. next is
// the lastID for the next page, or "" at the end. A page can have fewer than n comments even if there is a next page.
func (s store) commentsOn(
	ctx context.Context, projectID, path, lastID string, n int,
) (found []CommentItem, next string, err error) {
	q := commentQuery(projectID, lastID, 0)
	found, next = []CommentItem{}, lastID
	for range maxCommentReads {
		records, after, err := db.List(ctx, s.Projects, q, decodeComment)
		if err != nil {
			return nil, "", err
		}
		for _, c := range commentItems(records) {
			if c.Path != nil && *c.Path == path {
				if len(found) == n {
					return found, next, nil
				}
				found = append(found, c)
			}
			next = c.ID
		}
		if after.IsZero() {
			return found, "", nil
		}
		q.After = after
	}
	return found, next, nil
}

// deleteComment deletes a comment. Errors: PROJECT_NOT_FOUND, COMMENT_NOT_FOUND.
func (s store) deleteComment(ctx context.Context, projectID, commentID string) error {
	return s.client.Tx(
		s.ProjectExists(projectID),
		s.Projects.Delete(db.CommentKey(projectID, commentID)).If(s.Projects.Exists()).Else(errCommentNotFound),
	).Commit(ctx)
}

// eventsOf returns up to n events of a project, newest first. If lastID is not "", it returns only events older than
// the event with this ID.
func (s store) eventsOf(ctx context.Context, projectID, lastID string, n int) ([]event.Record, error) {
	q := db.Query{Prefix: db.EventsOf(projectID), Limit: n, Descending: true}
	if lastID != "" {
		q.After = db.ProjectEventKey(projectID, lastID)
	}
	events, _, err := db.List(ctx, s.events, q, func(item db.Item) (event.Record, error) {
		e, err := event.FromItem(item)
		if err == nil && db.KeyOf(item) != db.ProjectEventKey(projectID, e.ID) {
			err = errors.New("event: the ID is not the one in the key")
		}
		if err == nil {
			_, err = e.Timestamp() // the feed contains the payload as it is, so it must be valid JSON
		}
		return e, err
	})
	return events, err
}
