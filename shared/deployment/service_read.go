package deployment

import (
	"context"
	"encoding/hex"
	"errors"
	"maps"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"

	"devplatform/shared/async"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/objectstore"
	"devplatform/shared/site"
	"devplatform/shared/workspace"
)

// Filter selects the deployments of a list. An empty field matches all.
type Filter struct {
	Status Status
	Target Target
}

func (f Filter) matches(d Deployment) bool {
	return d.Status != Removing && (f.Status == "" || f.Status == d.Status) && (f.Target == "" || f.Target == d.Target)
}

// List returns a page of the deployments of a project, newest first, and the cursor of the next page. It makes three
// calls to storage. Errors: PROJECT_NOT_FOUND, ACCESS_DENIED; VALIDATION_FAILED if the cursor is not from this list.
func (s *Service) List(
	ctx context.Context, caller httpapi.Caller, projectID string, f Filter, page httpapi.PageInput,
) ([]DeploymentItem, string, error) {
	scope := httpapi.ListScope(caller, "deployments", projectID, string(f.Status), string(f.Target))
	read := func(ctx context.Context, after string, n int) ([]DeploymentItem, error) {
		o, all, err := s.readAll(ctx, caller, projectID)
		if err != nil {
			return nil, err
		}
		views := []DeploymentItem{}
		for _, d := range slices.Backward(all) {
			if len(views) < n && f.matches(d) && (after == "" || d.ID < after) {
				views = append(views, s.view(d, o.site))
			}
		}
		return views, nil
	}
	return httpapi.ReadPage(ctx, s.cursors, scope, page, read, func(v DeploymentItem) string { return v.ID })
}

// readAll reads all deployments of a project, oldest first. There are few, because old ones are removed.
func (s *Service) readAll(
	ctx context.Context, caller httpapi.Caller, projectID string,
) (o opened, all []Deployment, err error) {
	group, groupCtx := async.WithContext(ctx)
	group.Go(func() (err error) {
		o, err = s.open(groupCtx, caller, projectID, "", workspace.Read)
		return err
	})
	group.Go(func() error {
		items, err := s.store.Projects.QueryAll(db.Beside(groupCtx), db.DeploymentsOf(projectID))
		if err != nil {
			return err
		}
		all, err = db.DecodeAll[Deployment](items)
		return err
	})
	return o, all, group.Wait()
}

// Get returns a deployment. Errors: PROJECT_NOT_FOUND, ACCESS_DENIED, DEPLOYMENT_NOT_FOUND.
func (s *Service) Get(
	ctx context.Context, caller httpapi.Caller, projectID, deploymentID string,
) (DeploymentItem, error) {
	o, err := s.open(ctx, caller, projectID, deploymentID, workspace.Read)
	return s.view(o.deployment, o.site), err
}

// Log returns a page of the log of a deployment, oldest line first, and the cursor of the next page. Errors:
// PROJECT_NOT_FOUND, ACCESS_DENIED, DEPLOYMENT_NOT_FOUND; VALIDATION_FAILED if the cursor is not from this list.
func (s *Service) Log(
	ctx context.Context, caller httpapi.Caller, projectID, deploymentID string, page httpapi.PageInput,
) ([]LogLine, string, error) {
	type numbered struct {
		LogLine

		n int
	}
	scope := httpapi.ListScope(caller, "deployment-log", projectID, deploymentID)
	read := func(ctx context.Context, after string, n int) ([]numbered, error) {
		key := db.DeploymentLogKey(projectID, deploymentID)
		o, err := s.open(ctx, caller, projectID, deploymentID, workspace.Read, key)
		if err != nil {
			return nil, err
		}
		log, err := db.Decode[logRecord](o.Items[key])
		if err != nil {
			return nil, err
		}
		first, _ := strconv.Atoi(after) // 0 for the first page
		var lines []numbered
		all := log.all()
		for i := first; i < min(len(all), first+n); i++ {
			lines = append(lines, numbered{all[i], i + 1})
		}
		return lines, nil
	}
	found, next, err := httpapi.ReadPage(ctx, s.cursors, scope, page, read,
		func(l numbered) string { return strconv.Itoa(l.n) })
	lines := make([]LogLine, len(found))
	for i, l := range found {
		lines[i] = l.LogLine
	}
	return lines, next, err
}

// Files returns a page of the files of the output of a deployment, in path order, and the cursor of the next page. A
// deployment that is not ready has no files. Errors: PROJECT_NOT_FOUND, ACCESS_DENIED, DEPLOYMENT_NOT_FOUND;
// VALIDATION_FAILED if the cursor is not from this list.
func (s *Service) Files(
	ctx context.Context, caller httpapi.Caller, projectID, deploymentID string, page httpapi.PageInput,
) ([]DeploymentFile, string, error) {
	scope := httpapi.ListScope(caller, "deployment-files", projectID, deploymentID)
	read := func(ctx context.Context, after string, n int) ([]DeploymentFile, error) {
		o, err := s.open(ctx, caller, projectID, deploymentID, workspace.Read)
		if err != nil || o.deployment.Status != Ready {
			return []DeploymentFile{}, err
		}
		m, err := s.manifest(ctx, o.deployment)
		if err != nil {
			return nil, err
		}
		views := []DeploymentFile{}
		for _, path := range slices.Sorted(maps.Keys(m.Files)) {
			if path > after && len(views) < n {
				f := m.Files[path]
				views = append(views, DeploymentFile{
					Path: path, Size: f.Size, SHA256: hex.EncodeToString(f.SHA256[:]), ContentType: f.ContentType,
				})
			}
		}
		return views, nil
	}
	return httpapi.ReadPage(ctx, s.cursors, scope, page, read, func(f DeploymentFile) string { return f.Path })
}

// manifest reads the manifest of a ready deployment. Errors: DEPLOYMENT_NOT_FOUND if it was removed meanwhile;
// SERVICE_UNAVAILABLE.
func (s *Service) manifest(ctx context.Context, d Deployment) (m manifest, err error) {
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
