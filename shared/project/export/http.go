package export

import (
	"net/http"

	"devplatform/shared/archive"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/limit"
	"devplatform/shared/project/file"
	"devplatform/shared/workspace"
)

var tag = httpapi.Tag{
	Name: "Exports",
	Description: "An export is a zip archive of the current files of a project. Start it, read it until its status is " +
		"ready, and download the archive from its URL. " +
		"An export can be downloaded for about a day.",
}

const exportsPath = "/api/projects/{id}/exports"

// Register adds the endpoints of exports.
func (s *Service) Register(r *httpapi.Routes) {
	httpapi.Private(r, httpapi.Operation{
		ID: "startExport", Method: http.MethodPost, Path: exportsPath, Tag: tag, Status: http.StatusAccepted,
		Summary: "Start an export of the current files",
		Description: "Each state of the files has one export. If it is running or ready, the response is this export, " +
			"and the request does not count. A failed export is started again. The number of exports that a user can start " +
			"in one hour is limited. Requires membership in the workspace.",
		Errors: []*fault.Error{workspace.ErrProjectNotFound, workspace.ErrDenied, limit.ErrTooMany, fault.ErrConflict},
	}, s.StartExport)
	httpapi.Private(r, httpapi.Operation{
		ID: "readExport", Method: http.MethodGet, Path: exportsPath + "/{exportId}", Tag: tag,
		Summary: "Read the state of an export",
		Description: "If the status is ready, the response has a new URL. The names of the files in the archive are " +
			"their paths without the leading slash. Files with names that not every system can store, such as con or a?b, " +
			"or that differ only in case from another name, have other names in the archive, which then contains a list of " +
			"them, RENAMED.txt. If the files changed before the archive was written, it contains the newer files. Requires " +
			"membership in the workspace.",
		Errors: []*fault.Error{workspace.ErrProjectNotFound, errNotFound, workspace.ErrDenied},
	}, s.readExport)
}

// StartExportOutput is the output of StartExport.
type StartExportOutput struct{ Body archive.ExportRef }

type readExportInput struct {
	file.InProject
	ExportID string `path:"exportId" doc:"The export's ID" example:"exp_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
}

type readExportOutput struct{ Body archive.ExportItem }
