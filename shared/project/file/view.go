package file

import (
	"context"

	"devplatform/shared/db"
	"devplatform/shared/httpapi"
	"devplatform/shared/workspace"
)

// Project describes a project that another package opened for a user.
type Project struct {
	Name      string `dynamodbav:"name"`
	Framework string `dynamodbav:"framework"`
}

// Open reads a project and checks that the caller may do the action. It makes two calls to storage.
// Errors: PROJECT_NOT_FOUND, ACCESS_DENIED.
func (s *Service) Open(
	ctx context.Context, caller httpapi.Caller, projectID string, action workspace.Action,
) (Project, error) {
	access, err := s.Locate(ctx, projectID)
	if err != nil {
		return Project{}, err
	}
	return s.OpenLocated(ctx, caller, access, action)
}

// Locate makes the first call of Open, and also reads more items. If the project does not exist, it returns these items
// with PROJECT_NOT_FOUND.
func (s *Service) Locate(ctx context.Context, projectID string, more ...db.Ref) (workspace.ProjectAccess, error) {
	return s.store.Locate(ctx, projectID, more...)
}

// OpenLocated makes the second call of Open, for the result of Locate.
func (s *Service) OpenLocated(
	ctx context.Context, caller httpapi.Caller, access workspace.ProjectAccess, action workspace.Action,
) (Project, error) {
	access, err := s.store.Load(ctx, caller.UserID, access, action)
	if err != nil {
		return Project{}, err
	}
	return db.Decode[Project](access.Items[db.ProjectKey(access.WorkspaceID, access.ProjectID)])
}

// View reads the current state of a project's files for another package. Its methods do not check access. Call them
// only for a user whose call of Open succeeded.
type View struct {
	projectID string
	store     store
}

// View returns a View of a project. It makes no calls to storage.
func (s *Service) View(projectID string) *View { return &View{projectID, s.store} }

// List returns all files in path order. It makes one call to storage for each MB of their records.
func (v *View) List(ctx context.Context) ([]File, error) {
	return v.store.list(ctx, v.projectID, "", "", 0)
}

// Read returns the contents of files, keyed by path. It makes one call to DynamoDB for every hundred chunks, and one to
// S3 for each object. The result does not contain files of more than 1 MiB, and no file whose content was deleted after
// its record was read.
func (v *View) Read(ctx context.Context, files ...File) (map[string][]byte, error) {
	if files = withoutLarge(files); len(files) == 0 {
		return nil, nil
	}
	byID, err := v.store.contentsOf(ctx, v.projectID, files...)
	if err != nil {
		return nil, err
	}
	contents := make(map[string][]byte, len(files))
	for _, f := range files {
		if data, found := byID[f.ContentID]; found {
			contents[f.Path] = data
		}
	}
	return contents, nil
}

// ProjectExists returns a condition check. Its transaction fails if the project does not exist.
func (s *Service) ProjectExists(projectID string) db.Write { return s.store.ProjectExists(projectID) }
