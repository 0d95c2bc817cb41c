package project

import (
	"context"
	"errors"

	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
	"devplatform/shared/workspace"
)

var errNoComment = fault.New(fault.CodeCommentNotFound, "There is no such comment.")

// newComment is what a comment is made of. One with a path is about that file, whether it is there, not yet, or no more.
type newComment struct {
	Body string
	Path *string
	Line *int
}

// comment adds a comment to a project.
func (s *Service) comment(ctx context.Context, projectID string, in newComment) (commentRecord, error) {
	caller := httpapi.CallerFrom(ctx)
	o, err := s.open(ctx, projectID, workspace.Write)
	if err != nil {
		return commentRecord{}, err
	}
	now := s.now()
	c := commentRecord{
		ID: s.ids.New(id.Comment), Body: in.Body, Path: in.Path, Line: in.Line,
		AuthorID: caller.UserID, Author: caller.Username, CreatedAt: clock.Stamp(now),
	}
	told, err := s.outbox.Add(event.Change{
		Type: event.CommentCreated, WorkspaceID: o.project.WorkspaceID, ProjectID: projectID,
		Data: event.Data{
			Actor:   event.Actor{ID: caller.UserID, Username: caller.Username},
			Project: &event.Project{ID: projectID, Name: o.project.Name},
			Comment: &event.Comment{ID: c.ID, Path: c.Path, Line: c.Line, Body: c.Body},
		},
	}, now)
	if err != nil {
		return c, err
	}
	err = s.store.createComment(ctx, projectID, c, told)
	if errors.Is(err, db.ErrNotFound) {
		return c, ErrNotFound.WithCause(err)
	}
	return c, err
}

// comments is a page of a project's comments, or of those on one path, in the order in which they were made, and where the
// next one begins.
func (s *Service) comments(ctx context.Context, projectID, path string, page logPage) ([]commentRecord, string, error) {
	scope := httpapi.ListScope(httpapi.CallerFrom(ctx), "comments", projectID, path)
	after, err := s.cursors.Open(ctx, scope, page.Cursor)
	if err != nil {
		return nil, "", err
	}
	if _, err := s.open(ctx, projectID, workspace.Read); err != nil {
		return nil, "", err
	}
	if path == "" {
		found, err := s.store.commentsOf(ctx, projectID, after, page.limit()+1)
		if err != nil {
			return nil, "", err
		}
		return paged(ctx, s, scope, found, page.limit(), commentRecord.position)
	}
	found, next, err := s.store.commentsOn(ctx, projectID, path, after, page.limit())
	if err != nil || next == "" {
		return found, "", err
	}
	next, err = s.cursors.Seal(ctx, scope, next)
	return found, next, err
}

// position is a comment's place in the list.
func (c commentRecord) position() string { return c.ID }

// uncomment deletes a comment: for its author, while they may write, and for admins.
func (s *Service) uncomment(ctx context.Context, projectID, commentID string) error {
	key := db.CommentKey(projectID, commentID)
	o, err := s.open(ctx, projectID, workspace.Read, key)
	if err != nil {
		return err
	}
	if o.found[key] == nil {
		return errNoComment
	}
	c, err := db.Decode[commentRecord](o.found[key])
	if err != nil {
		return err
	}
	own := c.AuthorID == httpapi.CallerFrom(ctx).UserID && o.member.Role.May(workspace.Write)
	if !own && !o.member.Role.May(workspace.Moderate) {
		return ErrDenied
	}
	err = s.store.deleteComment(ctx, projectID, commentID)
	switch {
	case errors.Is(err, db.ErrNotFound):
		return ErrNotFound.WithCause(err)
	case errors.Is(err, errCommentGone):
		return errNoComment.WithCause(err)
	}
	return err
}
