package project

import (
	"context"
	"net/http"
	"strings"

	"devplatform/shared/clock"
	"devplatform/shared/event"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/project/path"
)

const (
	commentsPath = projectPath + "/comments"
	commentPath  = commentsPath + "/{commentId}"
)

type feedInput struct {
	InProject
	httpapi.PageInput
}

type feedOutput struct {
	Body struct {
		Events     []event.Text `json:"events" nullable:"false" doc:"Newest first, of the last 30 days"`
		NextCursor string       `json:"nextCursor,omitempty" doc:"Leads on to the next page; absent on the last one"`
	}
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

type commentItem struct {
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

func (c commentRecord) item() commentItem {
	return commentItem{
		ID: c.ID, Body: c.Body, Path: c.Path, Line: c.Line, Author: authorRef{c.AuthorID, c.Author}, CreatedAt: c.CreatedAt,
	}
}

var commentDeleted = httpapi.Done{Success: true, Message: "Comment deleted."}

type commentOutput struct{ Body commentItem }

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
		Comments   []commentItem `json:"comments" nullable:"false" doc:"Oldest first"`
		NextCursor string        `json:"nextCursor,omitempty" doc:"Leads on to the next page; absent on the last one"`
	}
}

type commentInput struct {
	InProject
	CommentID string `path:"commentId" doc:"The comment's id" example:"cmt_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
}

// registerComments adds the feed and the comments.
func (s *Service) registerComments(r *httpapi.Routes) {
	httpapi.Private(r, httpapi.Operation{
		ID: "listProjectEvents", Method: http.MethodGet, Path: projectPath + "/events", Tag: tagProjects,
		Summary:     "What happened to a project and in it",
		Description: "Newest first, of the last 30 days, as webhooks are told it; always paged, 50 a page if limit is absent. For members of the workspace.",
		Errors:      []*fault.Error{ErrNotFound, ErrDenied},
	}, s.handleFeed)
	httpapi.Private(r, httpapi.Operation{
		ID: "createComment", Method: http.MethodPost, Path: commentsPath, Tag: tagComments, Status: http.StatusCreated,
		Summary:     "Comment on a project, on a file or on a line of it",
		Description: "For members of the workspace and above. A comment is about a path, whether there is a file or not. Lengths are counted in Unicode code points.",
		Errors:      []*fault.Error{fault.Invalid(fault.Field("body", checkBody(" "))), ErrNotFound, ErrDenied, fault.ErrConflict},
	}, s.handleComment)
	httpapi.Private(r, httpapi.Operation{
		ID: "listComments", Method: http.MethodGet, Path: commentsPath, Tag: tagComments,
		Summary:     "The comments on a project",
		Description: "Oldest first, as a conversation is read; always paged, 50 a page if limit is absent. A page of the comments on one path may have fewer than limit, even none, and a nextCursor. For members of the workspace.",
		Errors:      []*fault.Error{ErrNotFound, ErrDenied},
	}, s.handleComments)
	httpapi.Private(r, httpapi.Operation{
		ID: "deleteComment", Method: http.MethodDelete, Path: commentPath, Tag: tagComments,
		Summary:     "Delete a comment",
		Description: "For its author, as long as they may write in the workspace, and for admins and owners.",
		Errors:      []*fault.Error{ErrNotFound, errNoComment, ErrDenied, fault.ErrConflict},
	}, s.handleUncomment)
}

func (s *Service) handleFeed(ctx context.Context, _ httpapi.Caller, in *feedInput) (*feedOutput, error) {
	out := &feedOutput{}
	var err error
	out.Body.Events, out.Body.NextCursor, err = s.feed(ctx, in.ProjectID, logPage(in.PageInput))
	return out, err
}

func (s *Service) handleComment(ctx context.Context, _ httpapi.Caller, in *newCommentInput) (*commentOutput, error) {
	c, err := s.comment(ctx, in.ProjectID, newComment(in.Body))
	if err != nil {
		return nil, err
	}
	return &commentOutput{c.item()}, nil
}

func (s *Service) handleComments(ctx context.Context, _ httpapi.Caller, in *commentsInput) (*commentsOutput, error) {
	comments, next, err := s.comments(ctx, in.ProjectID, in.Path, logPage(in.PageInput))
	if err != nil {
		return nil, err
	}
	out := &commentsOutput{}
	out.Body.Comments, out.Body.NextCursor = make([]commentItem, len(comments)), next
	for i, c := range comments {
		out.Body.Comments[i] = c.item()
	}
	return out, nil
}

func (s *Service) handleUncomment(ctx context.Context, _ httpapi.Caller, in *commentInput) (*doneOutput, error) {
	if err := s.uncomment(ctx, in.ProjectID, in.CommentID); err != nil {
		return nil, err
	}
	return &doneOutput{commentDeleted}, nil
}
