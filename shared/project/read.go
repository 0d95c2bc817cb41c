package project

import (
	"context"
	"errors"
	"time"

	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/httpapi"
	"devplatform/shared/project/file"
	"devplatform/shared/workspace"
)

// Read returns a project with the first page of its files, and the cursor of the next page. If the caller is a member
// of the workspace, Read updates lastOpenedAt. Error: PROJECT_NOT_FOUND.
func (s *Service) Read(
	ctx context.Context, caller httpapi.Caller, projectID string,
) (details ProjectDetails, files []file.FileItem, next string, err error) {
	access, files, err := workspace.ReadWith(ctx, s.store.Access, caller.UserID, projectID, workspace.View,
		func(ctx context.Context, _ map[db.Key]db.Item) (files []file.FileItem, err error) {
			files, next, err = s.files.FirstPage(ctx, caller, projectID)
			return files, err
		})
	if err != nil {
		return details, nil, "", err
	}
	o, err := newOpened(access)
	if err != nil {
		return details, nil, "", err
	}
	return s.read(ctx, o), files, next, nil
}

// ReadWithoutFiles is like Read, without the files. Error: PROJECT_NOT_FOUND.
func (s *Service) ReadWithoutFiles(
	ctx context.Context, caller httpapi.Caller, projectID string,
) (ProjectDetails, error) {
	o, err := s.open(ctx, caller, projectID, workspace.View)
	if err != nil {
		return ProjectDetails{}, err
	}
	return s.read(ctx, o), nil
}

// read returns a project after it has updated lastOpenedAt.
func (s *Service) read(ctx context.Context, o opened) ProjectDetails {
	o.record.LastOpenedAt = s.updateLastOpened(ctx, o)
	return o.record.details(o.Workspace.Name, s.sites)
}

const (
	// openedInterval is the minimum time between two updates of a project's lastOpenedAt.
	openedInterval = time.Minute
	// openedTimeout is the timeout for the update of lastOpenedAt. After a timeout, the next read updates it.
	openedTimeout = 500 * time.Millisecond
)

// updateLastOpened updates lastOpenedAt if a member opened the project, and returns the stored time. It logs a failure
// and does not return it.
func (s *Service) updateLastOpened(ctx context.Context, o opened) clock.Timestamp {
	now, last := s.now(), o.record.LastOpenedAt
	if o.Member.Role == "" || now.Sub(last.Time()) < openedInterval {
		return last
	}
	ctx, cancel := context.WithTimeout(ctx, openedTimeout)
	defer cancel()
	if err := s.store.updateLastOpened(ctx, o.record, now); err != nil {
		if !errors.Is(err, db.ErrConditionFailed) { // db.ErrConditionFailed: a concurrent read has updated it
			s.logger.WarnContext(ctx, "lastOpenedAt of a project was not stored", "project", o.ProjectID, "error", err)
		}
		return last
	}
	return clock.Stamp(now)
}
