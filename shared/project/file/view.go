package file

import "context"

// View reads the current state of a project's files for another package. Its methods do not check access: show the
// results only to a user who may read the project.
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
