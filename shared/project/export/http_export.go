package export

import (
	"cmp"
	"context"
	"net/http"

	"devplatform/shared/archive"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/job"
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

// StartExport starts an export of the current files of a project. If the files in their current state have an export
// that is running or ready, StartExport returns this export and does not count.
func (s *Service) StartExport(
	ctx context.Context, caller httpapi.Caller, in *file.InProject,
) (*StartExportOutput, error) {
	projectID := in.ProjectID
	var record archive.Record
	var exportJob job.Job
	var isNew bool
	err := db.Retry(ctx, "start an export", func(ctx context.Context) (err error) {
		if record, err = s.exportOfFiles(ctx, caller, projectID); err != nil {
			return err
		}
		now := s.now()
		status := record.StatusAt(now)
		isNew = status != archive.Running && status != archive.Ready
		if !isNew {
			return nil
		}
		old := record
		record = archive.NewRecord(record.ID, now)
		// Users are the message groups, so that a user with many exports does not delay the others.
		exportJob = job.New(Kind, projectID, record.ID, caller.UserID, now)
		return s.store.client.Tx(
			s.store.ProjectExists(projectID), s.store.Put(projectID, record, old),
			s.counters.Write(s.rule, caller.UserID), s.store.Jobs.Add(exportJob),
		).CommitOnce(ctx)
	})
	if err == nil && isNew {
		exportJob.Send(ctx, s.send, s.logger)
	}
	return &StartExportOutput{record.Ref()}, err
}

// exportOfFiles returns the export of a project's files in their current state. If there is none, it returns a record
// that has only an ID. Errors: PROJECT_NOT_FOUND, ACCESS_DENIED.
func (s *Service) exportOfFiles(ctx context.Context, caller httpapi.Caller, projectID string) (archive.Record, error) {
	access, err := s.store.Locate(ctx, projectID)
	if err != nil {
		return archive.Record{}, err
	}
	tree, err := db.Decode[file.Tree](access.Items[db.TreeKey(projectID)])
	if err != nil {
		return archive.Record{}, err
	}
	id := exportID(projectID, tree.Revision)
	key := db.ExportKey(projectID, id)
	access, err = s.store.Load(ctx, caller.UserID, access, workspace.Read, s.store.Projects.Ref(key))
	if err != nil {
		return archive.Record{}, err
	}
	r, err := db.Decode[archive.Record](access.Items[key])
	r.ID = id
	return r, err
}

// readExport returns an export, and the URL of its archive if it is ready.
func (s *Service) readExport(
	ctx context.Context, caller httpapi.Caller, in *readExportInput,
) (*readExportOutput, error) {
	key := db.ExportKey(in.ProjectID, in.ExportID)
	access, err := s.store.Project(ctx, caller.UserID, in.ProjectID, workspace.Read, key)
	if err != nil {
		return nil, err
	}
	if access.Items[key] == nil {
		return nil, errNotFound
	}
	r, err := db.Decode[archive.Record](access.Items[key])
	if err != nil {
		return nil, err
	}
	project, err := db.Decode[struct {
		Slug string `dynamodbav:"slug"`
	}](access.Items[db.ProjectKey(access.WorkspaceID, in.ProjectID)])
	if err != nil {
		return nil, err
	}
	item, err := r.Item(ctx, s.bucket, cmp.Or(project.Slug, "project")+".zip", contentType, s.now())
	return &readExportOutput{item}, err
}
