package project

import (
	"cmp"
	"context"
	"net/http"
	"strings"

	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
	"devplatform/shared/project/path"
	"devplatform/shared/workspace"
)

const (
	commentsPath = projectPath + "/comments"
	commentPath  = commentsPath + "/{commentId}"
)

func (s *Service) registerComments(r *httpapi.Routes) {
	httpapi.Private(r, httpapi.Operation{
		ID: "createComment", Method: http.MethodPost, Path: commentsPath, Tag: tagComments, Status: http.StatusCreated,
		Summary: "Create a comment",
		Description: "A comment is about a project, a file or a line of a file. The file does not have to exist. " +
			"Requires the role member or higher in the workspace. Lengths are counted in Unicode code points.",
		Errors: []*fault.Error{
			fault.Invalid(fault.Field("body", checkBody(" "))),
			workspace.ErrProjectNotFound, workspace.ErrDenied, fault.ErrConflict,
		},
	}, s.createComment)
	httpapi.Private(r, httpapi.Operation{
		ID: "listComments", Method: http.MethodGet, Path: commentsPath, Tag: tagComments,
		Summary: "List the comments on a project",
		Description: "Returns the comments oldest first. The list is always paged; the default limit is 50. If path is " +
			"set, a page can contain fewer comments than limit, or none, although it has a nextCursor. Requires membership " +
			"in the workspace.",
		Errors: []*fault.Error{workspace.ErrProjectNotFound, workspace.ErrDenied},
	}, s.listComments)
	httpapi.Private(r, httpapi.Operation{
		ID: "deleteComment", Method: http.MethodDelete, Path: commentPath, Tag: tagComments,
		Summary:     "Delete a comment",
		Description: "Admins and owners can delete any comment. Members can delete their own comments.",
		Errors: []*fault.Error{
			workspace.ErrProjectNotFound, errCommentNotFound, workspace.ErrDenied, fault.ErrConflict,
		},
	}, s.deleteComment)
}

type newCommentInput struct {
	InProject
	Body struct {
		Body string  `json:"body" minLength:"1" maxLength:"4000" doc:"The text of the comment: 1 to 4,000 characters, not blank" example:"Nice."`
		Path *string `json:"path,omitempty" nullable:"true" doc:"The path of the file that the comment is about. The file does not have to exist. If absent, the comment is about the project" example:"/src/app.ts"`
		Line *int    `json:"line,omitempty" nullable:"true" minimum:"1" doc:"The line that the comment is about, counted from 1. If absent, the comment is about the whole file or project" example:"12"`
	}
}

// Validate checks the rules that tags cannot express.
func (in *newCommentInput) Validate(v *httpapi.Validation) {
	v.Field("body", checkBody(in.Body.Body))
	if in.Body.Path != nil {
		v.Field("path", path.Check(*in.Body.Path))
	}
}

// checkBody returns the rule that the text of a comment violates, or "" if it is valid. The schema checks the length.
func checkBody(body string) string {
	if strings.TrimSpace(body) == "" {
		return "must not be blank"
	}
	return ""
}

// CommentItem is a comment as clients see it.
type CommentItem struct {
	ID        string          `json:"id" doc:"The comment's ID" example:"cmt_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Body      string          `json:"body" doc:"The text of the comment" example:"Nice."`
	Path      *string         `json:"path" doc:"The path of the file that the comment is about. null if the comment is about the project" example:"/src/app.ts"`
	Line      *int            `json:"line" doc:"The line that the comment is about. null if the comment is about the whole file or project" example:"12"`
	Author    authorRef       `json:"author" doc:"The author of the comment"`
	CreatedAt clock.Timestamp `json:"createdAt" doc:"When the comment was created" example:"2026-01-31T08:15:30.123Z"`
}

type authorRef struct {
	ID       string `json:"id" doc:"The user's ID" example:"usr_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Username string `json:"username" doc:"The user's username" example:"ada"`
}

func (c commentRecord) item() CommentItem {
	return CommentItem{
		ID: c.ID, Body: c.Body, Path: c.Path, Line: c.Line,
		Author: authorRef{ID: c.AuthorID, Username: c.Author}, CreatedAt: c.CreatedAt,
	}
}

type commentOutput struct{ Body CommentItem }

type commentsInput struct {
	InProject
	httpapi.PageInput
	Path string `query:"path" doc:"List only the comments on this path. The file does not have to exist" example:"/src/app.ts"`
}

// Validate checks the path, if it is present.
func (in *commentsInput) Validate(v *httpapi.Validation) {
	if in.Path != "" {
		v.Field("path", path.Check(in.Path))
	}
}

type commentsOutput struct {
	Body struct {
		Comments   []CommentItem `json:"comments" nullable:"false" doc:"The comments, oldest first"`
		NextCursor string        `json:"nextCursor,omitempty" doc:"The cursor of the next page. Absent on the last page"`
	}
}

type deleteCommentInput struct {
	InProject
	CommentID string `path:"commentId" doc:"The comment's ID" example:"cmt_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
}

// createComment adds a comment to a project.
func (s *Service) createComment(
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
			Actor:   workspace.ActorOf(caller),
			Project: &event.Project{ID: in.ProjectID, Name: access.Name},
			Comment: &event.Comment{ID: c.ID, Path: c.Path, Line: c.Line, Body: c.Body},
		},
	}, now)
	if err == nil {
		err = s.store.createComment(ctx, in.ProjectID, c, e)
	}
	return &commentOutput{c.item()}, err
}

// listComments returns a page of the comments on a project, oldest first. If path is set, it returns only the
// comments on that path. Then a page can have fewer comments than its limit, or none, even if there is a next page.
func (s *Service) listComments(
	ctx context.Context, caller httpapi.Caller, in *commentsInput,
) (*commentsOutput, error) {
	out, scope := &commentsOutput{}, httpapi.ListScope(caller, "comments", in.ProjectID, in.Path)
	after, err := s.cursors.Open(ctx, scope, in.Cursor)
	if err != nil {
		return nil, err
	}
	limit, next := cmp.Or(in.Limit, httpapi.DefaultLimit), ""
	read := func(ctx context.Context, _ workspace.ProjectAccess) (items []CommentItem, err error) {
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
	out.Body.Comments = items
	if next != "" {
		out.Body.NextCursor, err = s.cursors.Seal(ctx, scope, next)
	}
	return out, err
}

// deleteComment deletes a comment. Only moderators and the author may delete it. The author needs permission to
// write.
func (s *Service) deleteComment(
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
