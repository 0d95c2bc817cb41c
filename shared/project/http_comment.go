package project

import (
	"context"
	"net/http"
	"strings"

	"devplatform/shared/clock"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
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
		Summary:     "Comment on a project, on a file or on a line of it",
		Description: "For members of the workspace and above. A comment is about a path, whether there is a file or not. Lengths are counted in Unicode code points.",
		Errors: []*fault.Error{
			fault.Invalid(fault.Field("body", checkBody(" "))),
			workspace.ErrProjectNotFound, workspace.ErrDenied, fault.ErrConflict,
		},
	}, s.handleCreateComment)
	httpapi.Private(r, httpapi.Operation{
		ID: "listComments", Method: http.MethodGet, Path: commentsPath, Tag: tagComments,
		Summary:     "The comments on a project",
		Description: "Oldest first, as a conversation is read; always paged, 50 a page if limit is absent. A page of the comments on one path may have fewer than limit, even none, and a nextCursor. For members of the workspace.",
		Errors:      []*fault.Error{workspace.ErrProjectNotFound, workspace.ErrDenied},
	}, s.handleListComments)
	httpapi.Private(r, httpapi.Operation{
		ID: "deleteComment", Method: http.MethodDelete, Path: commentPath, Tag: tagComments,
		Summary:     "Delete a comment",
		Description: "For its author, as long as they may write in the workspace, and for admins and owners.",
		Errors:      []*fault.Error{workspace.ErrProjectNotFound, errCommentNotFound, workspace.ErrDenied, fault.ErrConflict},
	}, s.handleDeleteComment)
}

type newCommentInput struct {
	InProject
	Body struct {
		Body string  `json:"body" minLength:"1" maxLength:"4000" doc:"1–4,000 characters, not blank" example:"Nice."`
		Path *string `json:"path,omitempty" nullable:"true" doc:"The file that it is about, there or not; absent: the project" example:"/src/app.ts"`
		Line *int    `json:"line,omitempty" nullable:"true" minimum:"1" doc:"The line of the file that it is about, counted from 1; absent: the whole" example:"12"`
	}
}

// Validate checks the rules that tags cannot express.
func (in *newCommentInput) Validate(v *httpapi.Validation) {
	v.Field("body", checkBody(in.Body.Body))
	if in.Body.Path != nil {
		v.Field("path", path.Check(*in.Body.Path))
	}
}

func checkBody(body string) string {
	if strings.TrimSpace(body) == "" {
		return "must not be blank"
	}
	return ""
}

// CommentItem is a comment as clients see it.
type CommentItem struct {
	ID        string          `json:"id" doc:"The comment's id" example:"cmt_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Body      string          `json:"body" doc:"What it says" example:"Nice."`
	Path      *string         `json:"path" doc:"The file that it is about, null if about the project" example:"/src/app.ts"`
	Line      *int            `json:"line" doc:"The line that it is about, null if about the whole" example:"12"`
	Author    authorRef       `json:"author" doc:"Who wrote it"`
	CreatedAt clock.Timestamp `json:"createdAt" doc:"When it was written" example:"2026-01-31T08:15:30.123Z"`
}

type authorRef struct {
	ID       string `json:"id" doc:"The user's id" example:"usr_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Username string `json:"username" doc:"The user's name" example:"ada"`
}

func (c commentRecord) item() CommentItem {
	return CommentItem{
		ID: c.ID, Body: c.Body, Path: c.Path, Line: c.Line, Author: authorRef{c.AuthorID, c.Author}, CreatedAt: c.CreatedAt,
	}
}

var commentDeleted = httpapi.Done{Success: true, Message: "Comment deleted."}

type commentOutput struct{ Body CommentItem }

type commentsInput struct {
	InProject
	httpapi.PageInput
	Path string `query:"path" doc:"Only the comments on this file, which may be gone" example:"/src/app.ts"`
}

// Validate checks the path, if there is one.
func (in *commentsInput) Validate(v *httpapi.Validation) {
	if in.Path != "" {
		v.Field("path", path.Check(in.Path))
	}
}

type commentsOutput struct {
	Body struct {
		Comments   []CommentItem `json:"comments" nullable:"false" doc:"Oldest first"`
		NextCursor string        `json:"nextCursor,omitempty" doc:"Leads on to the next page; absent on the last one"`
	}
}

type commentInput struct {
	InProject
	CommentID string `path:"commentId" doc:"The comment's id" example:"cmt_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
}

func (s *Service) handleCreateComment(
	ctx context.Context, caller httpapi.Caller, in *newCommentInput,
) (*commentOutput, error) {
	c, err := s.CreateComment(ctx, caller, in.ProjectID, CommentDraft(in.Body))
	if err != nil {
		return nil, err
	}
	return &commentOutput{c}, nil
}

func (s *Service) handleListComments(
	ctx context.Context, caller httpapi.Caller, in *commentsInput,
) (out *commentsOutput, err error) {
	out = &commentsOutput{}
	out.Body.Comments, out.Body.NextCursor, err = s.ListComments(ctx, caller, in.ProjectID, in.Path, in.PageInput)
	return out, err
}

func (s *Service) handleDeleteComment(
	ctx context.Context, caller httpapi.Caller, in *commentInput,
) (*doneOutput, error) {
	if err := s.DeleteComment(ctx, caller, in.ProjectID, in.CommentID); err != nil {
		return nil, err
	}
	return &doneOutput{commentDeleted}, nil
}
