package file

import (
	"slices"

	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/project/path"
	"devplatform/shared/workspace"
)

var tag = httpapi.Tag{
	Name: "Files",
	Description: "The files of a project, with the versions of the last 30 days. To avoid overwriting the changes of " +
		"others, set the header If-Match to the etag that you read with the file. " +
		"To make several changes in one transaction, send them as one batch. " +
		"In a batch, set the field etag of the operation instead of the header.",
}

const filesPath = "/api/projects/{id}/files"

// InProject is the path parameter of the endpoints whose paths contain a project's ID.
type InProject struct {
	ProjectID string `path:"id" doc:"The project's ID" example:"prj_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
}

// Register adds the endpoints of files.
func (s *Service) Register(r *httpapi.Routes) {
	s.registerFiles(r)
	s.registerHistory(r)
	s.registerUploads(r)
}

// writeErrors are the documented errors of all requests that change files. quotaErrors are the errors of requests that
// can exceed a quota. saveErrors contains both.
var (
	writeErrors = []*fault.Error{
		workspace.ErrProjectNotFound, workspace.ErrDenied, httpapi.ErrIfMatch, httpapi.ErrIfNoneMatch, fault.ErrConflict,
	}
	saveErrors  = append(slices.Clone(quotaErrors), writeErrors...)
	quotaErrors = []*fault.Error{
		errFileQuota(defaultQuotas), errStorageQuota(defaultQuotas), errOldQuota(defaultQuotas),
		errWrittenQuota(defaultQuotas),
	}
	defaultQuotas  = DefaultQuotas()
	errInvalidPath = fault.Invalid(fault.Field("path", path.Check("src/app.ts")))
)
