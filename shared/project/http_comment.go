package project

import (
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
		Summary: "Create a comment",
		Description: "A comment is about a project, a file or a line of a file. The file does not have to exist. " +
			"Requires the role member or higher in the workspace. Lengths are counted in Unicode code points.",
		Errors: []*fault.Error{
			fault.Invalid(fault.Field("body", checkBody(" "))),
			workspace.ErrProjectNotFound, workspace.ErrDenied, fault.ErrConflict,
		},
	}, s.handleCreateComment)
	httpapi.Private(r, httpapi.Operation{
		ID: "listComments", Method: http.MethodGet, Path: commentsPath, Tag: tagComments,
		Summary: "List the comments on a project",
		Description: "Returns the comments oldest first. The list is always paged; the default limit is 50. If path is " +
			"set, a page can contain fewer comments than limit, or none, although it has a nextCursor. Requires membership " +
			"in the workspace.",
		Errors: []*fault.Error{workspace.ErrProjectNotFound, workspace.ErrDenied},
	}, s.handleListComments)
	httpapi.Private(r, httpapi.Operation{
		ID: "deleteComment", Method: http.MethodDelete, Path: commentPath, Tag: tagComments,
		Summary:     "Delete a comment",
		Description: "Admins and owners can delete any comment. Members can delete their own comments.",
		Errors: []*fault.Error{
			workspace.ErrProjectNotFound, errCommentNotFound, workspace.ErrDenied, fault.ErrConflict,
		},
	}, s.handleDeleteComment)
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
