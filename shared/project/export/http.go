package export

import (
	"context"
	"net/http"

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
	}, s.handleStartExport)
	httpapi.Private(r, httpapi.Operation{
		ID: "readExport", Method: http.MethodGet, Path: exportsPath + "/{exportId}", Tag: tag,
		Summary: "Read the state of an export",
		Description: "If the status is ready, the response has a new URL. The names of the files in the archive are " +
			"their paths without the leading slash. Files with names that not every system can store, such as con or a?b, " +
			"or that differ only in case from another name, have other names in the archive, which then contains a list of " +
			"them, RENAMED.txt. If the files changed before the archive was written, it contains the newer files. Requires " +
			"membership in the workspace.",
		Errors: []*fault.Error{workspace.ErrProjectNotFound, errNotFound, workspace.ErrDenied},
	}, s.handleReadExport)
}

type startExportInput struct{ file.InProject }

// ExportRef is an export that was started, as clients see it.
type ExportRef struct {
	ID     string `json:"id" doc:"The export's ID" example:"exp_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Status Status `json:"status" enum:"running,ready" doc:"The state of the export" example:"running"`
}

type startExportOutput struct{ Body ExportRef }

func (s *Service) handleStartExport(
	ctx context.Context, caller httpapi.Caller, in *startExportInput,
) (*startExportOutput, error) {
	started, err := s.Start(ctx, caller, in.ProjectID)
	if err != nil {
		return nil, err
	}
	return &startExportOutput{started}, nil
}

type readExportInput struct {
	file.InProject
	ExportID string `path:"exportId" doc:"The export's ID" example:"exp_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
}

// ExportItem is an export as clients see it.
type ExportItem struct {
	ID     string `json:"id" doc:"The export's ID" example:"exp_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Status Status `json:"status" enum:"running,ready,failed" doc:"The state of the export. An export that is not ready after 15 minutes has failed" example:"ready"`
	URL    string `json:"url,omitzero" doc:"The URL of the archive, if it is ready. It needs no session, is valid for 5 minutes, and delivers an attachment" example:"https://bucket.s3.eu-central-1.amazonaws.com/exports/prj_01K9ZQ3V7M8T5XW2ABCDEFGHJK/exp_01K9ZQ3V7M8T5XW2ABCDEFGHJK?X-Amz-Signature=0123456789abcdef"`
	Size   int    `json:"size,omitzero" doc:"The size of the archive in bytes, if it is ready" example:"48213"`
}

type readExportOutput struct{ Body ExportItem }

func (s *Service) handleReadExport(
	ctx context.Context, caller httpapi.Caller, in *readExportInput,
) (*readExportOutput, error) {
	item, err := s.Get(ctx, caller, in.ProjectID, in.ExportID)
	if err != nil {
		return nil, err
	}
	return &readExportOutput{item}, nil
}
