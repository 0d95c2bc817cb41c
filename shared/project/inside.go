package project

import (
	"context"
	"errors"

	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/workspace"
)

// View is a project as it was when it was opened for somebody, for slices that work on what is in it. Its methods read what is asked
// for when it is asked for; files that changed since are found changed.
type View struct {
	ID, Name, Description, Framework string
	// Files is how many files there are.
	Files int

	service *Service
}

// FileInfo is a file without its content.
type FileInfo struct {
	Path string
	Size int // bytes
	// ETag is its version, as If-Match takes it.
	ETag string

	record fileRecord
}

// Open reads a project for an action of the caller's, in two calls. Errors: PROJECT_NOT_FOUND, ACCESS_DENIED; storage's classes.
func (s *Service) Open(ctx context.Context, projectID string, action workspace.Action) (*View, error) {
	o, err := s.open(ctx, projectID, action)
	if err != nil {
		return nil, err
	}
	return &View{
		ID: o.project.ID, Name: o.project.Name, Description: o.project.Description, Framework: o.project.Framework,
		Files: o.tree.Files, service: s,
	}, nil
}

// List reads the records of the first files by path, in one call for a thousand of them. Error: storage's classes.
func (v *View) List(ctx context.Context, limit int) ([]FileInfo, error) {
	files, _, err := v.service.store.listFiles(ctx, v.ID, fileListRequest{limit: limit})
	if err != nil {
		return nil, err
	}
	infos := make([]FileInfo, len(files))
	for i, f := range files {
		infos[i] = f.info()
	}
	return infos, nil
}

// Stat reads the records of the files at some paths, in a call for a hundred of them; what does not exist is absent, and so is what is
// no path. Error: storage's classes.
func (v *View) Stat(ctx context.Context, paths ...string) (map[string]FileInfo, error) {
	keys := fileKeys{}
	keys.add(v.ID, paths...)
	found, err := v.service.store.projects.BatchGet(ctx, keys.keys()...)
	if err != nil {
		return nil, err
	}
	records := map[string]fileRecord{}
	if err := keys.decode(found, records); err != nil {
		return nil, err
	}
	infos := make(map[string]FileInfo, len(records))
	for p, record := range records {
		infos[p] = file{Path: p, fileRecord: record}.info()
	}
	return infos, nil
}

// HasInside reports whether there are files that need a path to be a folder, in one call. Error: storage's classes.
func (v *View) HasInside(ctx context.Context, folder string) (bool, error) {
	paths, err := v.service.store.pathsInside(ctx, v.ID, folder, 1)
	return len(paths) > 0, err
}

// Read reads the contents of files, by path, in a call for a hundred chunks. A file that was replaced or deleted since its record was
// read may be absent. Error: storage's classes.
func (v *View) Read(ctx context.Context, files ...FileInfo) (map[string][]byte, error) {
	if len(files) == 0 {
		return nil, nil
	}
	wanted := make([]file, len(files))
	for i, f := range files {
		wanted[i] = file{Path: f.Path, fileRecord: f.record}
	}
	chunks, err := v.service.store.readContents(ctx, v.ID, wanted...)
	if err != nil {
		return nil, err
	}
	contents := make(map[string][]byte, len(files))
	for _, f := range wanted {
		data, err := f.join(chunks)
		if errors.Is(err, errMet) {
			continue
		}
		if err != nil {
			return nil, err
		}
		contents[f.Path] = data
	}
	return contents, nil
}

func (f file) info() FileInfo {
	return FileInfo{Path: f.Path, Size: f.Size, ETag: etag(f.Version), record: f.fileRecord}
}

// Operation is one of a batch on a project's files, of text (API.md §5).
type Operation struct {
	// Op is create, update, delete or rename.
	Op string
	// Path is the file's; of a rename the old one, To the new one.
	Path, To string
	// Content is that of a create or update.
	Content string
	// ETag is the version that an update, a delete or a rename needs to find; empty: any.
	ETag string
}

// errBatch is the answer to a batch that another slice made and that no client could have sent.
var errBatch = fault.New(fault.CodeValidationFailed, "These changes break a rule of files or batches.")

// Change does operations on a project's files for the caller, all or none, with an event for each file, as files/batch does.
// Errors: VALIDATION_FAILED, for what no batch may be; PROJECT_NOT_FOUND, ACCESS_DENIED, FILE_NOT_FOUND, CONFLICT, PRECONDITION_FAILED,
// QUOTA_EXCEEDED, whose messages say which operation; storage's classes.
func (s *Service) Change(ctx context.Context, projectID string, changes []Operation) error {
	batch := make([]batchOperation, len(changes))
	for i, c := range changes {
		batch[i] = batchOperation{Action: fileAction(c.Op), Path: c.Path, To: c.To, ETag: c.ETag}
		if batch[i].needsContent() {
			batch[i].Content = &changes[i].Content
		}
	}
	if problems := checkBatch(batch); problems != nil {
		return errBatch.WithCause(fault.Invalid(problems...))
	}
	_, err := s.changeBatch(ctx, projectID, batch)
	return err
}

// StillThere is a write that changes nothing, for transactions of other slices: it fails once the project is gone.
func (s *Service) StillThere(projectID string) db.Write {
	return s.store.projects.Check(db.TreeKey(projectID), s.store.projects.Exists())
}
