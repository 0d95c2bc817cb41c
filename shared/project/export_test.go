package project

// The names that tests of this package use although they are not exported.
type (
	ProjectRecord = projectRecord
	SlugRecord    = slugRecord
	CommentRecord = commentRecord

	NewProjectInput      = newProjectInput
	ProjectSettingsInput = projectSettingsInput
)

const (
	OpenedInterval  = openedInterval
	MaxCommentReads = maxCommentReads
)

var (
	SlugOf        = slugOf
	CreateProject = (*Service).createProject
	UpdateProject = (*Service).updateProject
)
