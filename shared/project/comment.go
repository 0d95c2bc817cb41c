package project

import (
	"cmp"
	"context"

	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
	"devplatform/shared/workspace"
)

// commentRecord is the record of a comment on a project, a file or a line of a file.
type commentRecord struct {
	ID        string          `dynamodbav:"id"`
	Body      string          `dynamodbav:"body"`
	Path      *string         `dynamodbav:"path,omitempty"`
	Line      *int            `dynamodbav:"line,omitempty"`
	AuthorID  string          `dynamodbav:"authorId"`
	Author    string          `dynamodbav:"author"` // the author's username
	CreatedAt clock.Timestamp `dynamodbav:"createdAt"`
}

// handleCreateComment adds a comment to a project.
func (s *Service) handleCreateComment(
	ctx context.Context, caller httpapi.Caller, in *newCommentInput,
) (*commentOutput, error) {
	access, _, err := s.open(ctx, caller, in.ProjectID, workspace.Write)
	if err != nil {
		return nil, err
	}
	now := s.now()
	c := commentRecord{
		ID: s.ids.New(id.Comment), Body: in.Body.Body, Path: in.Body.Path, Line: in.Body.Line,
		AuthorID: caller.UserID, Author: caller.Account().Username, CreatedAt: clock.Stamp(now),
	}
	e, err := s.outbox.Add(event.Change{
		Type: event.CommentCreated, WorkspaceID: access.WorkspaceID, ProjectID: in.ProjectID,
		Data: event.Data{
			Actor:   event.Actor{ID: caller.UserID, Username: caller.Account().Username},
			Project: &event.Project{ID: in.ProjectID, Name: access.Name},
			Comment: &event.Comment{ID: c.ID, Path: c.Path, Line: c.Line, Body: c.Body},
		},
	}, now)
	if err == nil {
		err = s.store.createComment(ctx, in.ProjectID, c, e)
	}
	return &commentOutput{c.item()}, err
}

// handleListComments returns a page of the comments on a project, oldest first. If path is set, it returns only the
// comments on that path. Then a page can have fewer comments than its limit, or none, even if there is a next page.
func (s *Service) handleListComments(
	ctx context.Context, caller httpapi.Caller, in *commentsInput,
) (*commentsOutput, error) {
	out, scope := &commentsOutput{}, httpapi.ListScope(caller, "comments", in.ProjectID, in.Path)
	after, err := s.cursors.Open(ctx, scope, in.Cursor)
	if err != nil {
		return nil, err
	}
	limit, next := cmp.Or(in.Limit, httpapi.DefaultLimit), ""
	read := func(ctx context.Context, _ map[db.Key]db.Item) (items []CommentItem, err error) {
		if in.Path != "" {
			items, next, err = s.store.commentsOn(ctx, in.ProjectID, in.Path, after, limit)
			return items, err
		}
		return s.store.comments(ctx, in.ProjectID, after, limit+1)
	}
	_, items, err := workspace.ReadWith(ctx, s.store.Access, caller.UserID, in.ProjectID, workspace.Read, read)
	if err != nil {
		return nil, err
	}
	if in.Path == "" {
		out.Body.Comments, out.Body.NextCursor, err = httpapi.CutPage(
			ctx, s.cursors, scope, items, limit, func(c CommentItem) string { return c.ID })
		return out, err
	}
	if out.Body.Comments = items; next != "" {
		out.Body.NextCursor, err = s.cursors.Seal(ctx, scope, next)
	}
	return out, err
}

// handleDeleteComment deletes a comment. Only moderators and the author may delete it. The author needs permission to
// write.
func (s *Service) handleDeleteComment(
	ctx context.Context, caller httpapi.Caller, in *deleteCommentInput,
) (*httpapi.DoneOutput, error) {
	key := db.CommentKey(in.ProjectID, in.CommentID)
	access, _, err := s.open(ctx, caller, in.ProjectID, workspace.Read, key)
	if err != nil {
		return nil, err
	}
	if access.Items[key] == nil {
		return nil, errCommentNotFound
	}
	c, err := db.Decode[commentRecord](access.Items[key])
	if err != nil {
		return nil, err
	}
	action := workspace.Moderate
	if c.AuthorID == caller.UserID {
		action = workspace.Write
	}
	if err := access.Check(action); err != nil {
		return nil, err
	}
	return httpapi.ReplyDone("Comment deleted.", s.store.deleteComment(ctx, in.ProjectID, in.CommentID))
}
