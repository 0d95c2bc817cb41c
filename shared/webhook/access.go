package webhook

import (
	"context"
	"errors"

	"devplatform/shared/async"
	"devplatform/shared/db"
	"devplatform/shared/httpapi"
	"devplatform/shared/workspace"
)

// checkWorkspace returns an error if the caller may not do an action with the webhooks of a workspace.
// Errors: workspace.ErrNotFound, workspace.ErrDenied, workspace.ErrReadOnly.
func (s *Service) checkWorkspace(
	ctx context.Context, caller httpapi.Caller, workspaceID string, action workspace.Action,
) error {
	member, err := s.store.Membership(ctx, caller.UserID, workspaceID)
	if err != nil {
		return err
	}
	return member.Check(action)
}

// workspaceOfNew returns the ID of the workspace of a new webhook: the project's workspace if the request names a
// project, otherwise the requested workspace, or the caller's personal workspace if none is requested. It returns an
// error if the caller may not manage webhooks there.
func (s *Service) workspaceOfNew(
	ctx context.Context, caller httpapi.Caller, workspaceID, projectID *string,
) (string, error) {
	if projectID == nil {
		member, err := s.store.MembershipOrPersonal(ctx, caller.UserID, workspaceID)
		if err == nil {
			err = member.Check(workspace.ManageWebhooks)
		}
		return member.WorkspaceID, err
	}
	project, err := s.store.Project(ctx, caller.UserID, *projectID, workspace.ManageWebhooks)
	if err != nil {
		return "", err
	}
	if workspaceID != nil && *workspaceID != project.WorkspaceID {
		return "", errOtherWorkspace
	}
	return project.WorkspaceID, nil
}

// readIfAllowed finds the workspace of a webhook and calls read. While read runs, it checks whether the caller may do
// the action with the webhook. If both fail, it returns the error of the check. It makes two calls to storage in
// addition to the calls of read. Errors: errNoWebhook if the webhook does not exist or the caller is not a member of
// its workspace, workspace.ErrDenied, workspace.ErrReadOnly, the errors of read.
func (s *Service) readIfAllowed(
	ctx context.Context, caller httpapi.Caller, webhookID string, action workspace.Action,
	read func(workspaceID string) error,
) error {
	workspaceID, err := s.store.workspaceOf(ctx, webhookID)
	if errors.Is(err, db.ErrNotFound) {
		return errNoWebhook
	}
	if err != nil {
		return err
	}
	var reading async.Group
	reading.Go(func() error { return read(workspaceID) })
	err = s.checkWorkspace(ctx, caller, workspaceID, action)
	readErr := reading.Wait()
	if errors.Is(err, workspace.ErrNotFound) {
		return errNoWebhook
	}
	if err != nil {
		return err
	}
	return readErr
}
