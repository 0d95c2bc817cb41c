package project

import "devplatform/shared/clock"

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
