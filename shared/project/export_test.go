package project

// The names that tests of this package use although they are not exported.
type (
	ProjectRecord = projectRecord
	SlugRecord    = slugRecord
	CommentRecord = commentRecord
)

const (
	OpenedInterval  = openedInterval
	MaxCommentReads = maxCommentReads
)

var SlugOf = slugOf
