package project

import (
	"fmt"

	"devplatform/shared/db"
	"devplatform/shared/fault"
)

// Errors of this package, in addition to the errors of package workspace.
var (
	errCommentNotFound = fault.New(fault.CodeCommentNotFound,
		"The comment does not exist. List the comments of the project to see their IDs.")
	errSlugTaken = fmt.Errorf("%w: the slug is taken", db.ErrStale)
)

func errQuota(quota int) *fault.Error {
	return fault.New(fault.CodeQuotaExceeded,
		fmt.Sprintf("The workspace has reached its limit of %d projects. Delete a project first.", quota))
}
