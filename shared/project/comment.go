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

// CommentDraft is a comment to create.
type CommentDraft struct {
	Body string
	Path *string // the file that the comment is about; it does not have to exist
	Line *int
}

// CreateComment adds a comment to a project. Errors: PROJECT_NOT_FOUND, ACCESS_DENIED.
func (s *Service) CreateComment(
	ctx context.Context, caller httpapi.Caller, projectID string, in CommentDraft,
) (CommentItem, error) {
	access, _, err := s.open(ctx, caller, projectID, workspace.Write)
	if err != nil {
		return CommentItem{}, err
	}
	now := s.now()
	c := commentRecord{
		ID: s.ids.New(id.Comment), Body: in.Body, Path: in.Path, Line: in.Line,
		AuthorID: caller.UserID, Author: caller.Account().Username, CreatedAt: clock.Stamp(now),
	}
	e, err := s.outbox.Add(event.Change{
		Type: event.CommentCreated, WorkspaceID: access.WorkspaceID, ProjectID: projectID,
		Data: event.Data{
			Actor:   event.Actor{ID: caller.UserID, Username: caller.Account().Username},
			Project: &event.Project{ID: projectID, Name: access.Name},
			Comment: &event.Comment{ID: c.ID, Path: c.Path, Line: c.Line, Body: c.Body},
		},
	}, now)
	if err != nil {
		return CommentItem{}, err
	}
	return c.item(), s.store.createComment(ctx, projectID, c, e)
}

// ListComments returns a page of the comments on a project, oldest first, and the cursor of the next page. If path is
// not "", it returns only the comments on that path. Errors: PROJECT_NOT_FOUND, ACCESS_DENIED; VALIDATION_FAILED if the
// cursor is not from this list.
func (s *Service) ListComments(
	ctx context.Context, caller httpapi.Caller, projectID, path string, page httpapi.PageInput,
) ([]CommentItem, string, error) {
	scope := httpapi.ListScope(caller, "comments", projectID, path)
	if path != "" {
		return s.listCommentsOn(ctx, caller, projectID, path, scope, page)
	}
	read := func(ctx context.Context, after string, n int) ([]CommentItem, error) {
		comments := func(ctx context.Context, _ map[db.Key]db.Item) ([]CommentItem, error) {
			return s.store.comments(ctx, projectID, after, n)
		}
		_, items, err := workspace.ReadWith(ctx, s.store.Access, caller.UserID, projectID, workspace.Read, comments)
		return items, err
	}
	return httpapi.ReadPage(ctx, s.cursors, scope, page, read, func(c CommentItem) string { return c.ID })
}

// listCommentsOn implements ListComments for the comments on one path. A page can have fewer comments than its limit,
// or none, even if there is a next page.
func (s *Service) listCommentsOn(
	ctx context.Context, caller httpapi.Caller, projectID, path, scope string, page httpapi.PageInput,
) (items []CommentItem, next string, err error) {
	after, err := s.cursors.Open(ctx, scope, page.Cursor)
	if err != nil {
		return nil, "", err
	}
	read := func(ctx context.Context, _ map[db.Key]db.Item) (items []CommentItem, err error) {
		items, next, err = s.store.commentsOn(ctx, projectID, path, after, cmp.Or(page.Limit, httpapi.DefaultLimit))
		return items, err
	}
	_, items, err = workspace.ReadWith(ctx, s.store.Access, caller.UserID, projectID, workspace.Read, read)
	if err != nil || next == "" {
		return items, "", err
	}
	next, err = s.cursors.Seal(ctx, scope, next)
	return items, next, err
}

// DeleteComment deletes a comment. Only moderators and the author may delete it. The author needs permission to write.
// Errors: PROJECT_NOT_FOUND, COMMENT_NOT_FOUND, ACCESS_DENIED.
func (s *Service) DeleteComment(ctx context.Context, caller httpapi.Caller, projectID, commentID string) error {
	key := db.CommentKey(projectID, commentID)
	access, _, err := s.open(ctx, caller, projectID, workspace.Read, key)
	if err != nil {
		return err
	}
	if access.Items[key] == nil {
		return errCommentNotFound
	}
	c, err := db.Decode[commentRecord](access.Items[key])
	if err != nil {
		return err
	}
	action := workspace.Moderate
	if c.AuthorID == caller.UserID {
		action = workspace.Write
	}
	if err := access.Check(action); err != nil {
		return err
	}
	return s.store.deleteComment(ctx, projectID, commentID)
}
