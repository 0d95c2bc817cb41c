package deployment

import (
	"context"
	"encoding/hex"
	"errors"
	"maps"
	"slices"

	"github.com/go-json-experiment/json"

	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/objectstore"
	"devplatform/shared/site"
	"devplatform/shared/workspace"
)

// ListFiles returns a page of the files of the output of a deployment, in path order, and the cursor of the next page.
// A deployment that is not ready has no files. Errors: PROJECT_NOT_FOUND, ACCESS_DENIED, DEPLOYMENT_NOT_FOUND;
// VALIDATION_FAILED if the cursor is not from this list.
func (s *Service) ListFiles(
	ctx context.Context, caller httpapi.Caller, projectID, deploymentID string, page httpapi.PageInput,
) ([]DeploymentFile, string, error) {
	scope := httpapi.ListScope(caller, "deployment-files", projectID, deploymentID)
	read := func(ctx context.Context, after string, n int) ([]DeploymentFile, error) {
		p, err := s.open(ctx, caller, projectID, deploymentID, workspace.Read)
		if err != nil || p.deployment.Status != Ready {
			return []DeploymentFile{}, err
		}
		m, err := s.readManifest(ctx, p.deployment)
		if err != nil {
			return nil, err
		}
		items := []DeploymentFile{}
		for _, path := range slices.Sorted(maps.Keys(m.Files)) {
			if path > after && len(items) < n {
				f := m.Files[path]
				items = append(items, DeploymentFile{
					Path: path, Size: f.Size, SHA256: hex.EncodeToString(f.SHA256[:]), ContentType: f.ContentType,
				})
			}
		}
		return items, nil
	}
	return httpapi.ReadPage(ctx, s.cursors, scope, page, read, func(f DeploymentFile) string { return f.Path })
}

// readManifest reads the manifest of a ready deployment. Errors: DEPLOYMENT_NOT_FOUND if it was removed meanwhile;
// SERVICE_UNAVAILABLE.
func (s *Service) readManifest(ctx context.Context, d Deployment) (m site.Manifest, err error) {
	data, err := s.bucket.Get(ctx, site.ManifestKey(d.ID, d.Manifest))
	switch {
	case errors.Is(err, objectstore.ErrNotFound):
		return m, errNotFound.WithCause(err)
	case errors.Is(err, objectstore.ErrUnavailable):
		return m, fault.ErrUnavailable.WithCause(err)
	case err != nil:
		return m, err
	}
	return m, json.Unmarshal(data, &m)
}
