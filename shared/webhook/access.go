package webhook

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"

	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/workspace"
)

// administers says why the caller may not work on the webhooks of a workspace, or nil. Who is not in it learns nothing but unknown.
func (s *Service) administers(ctx context.Context, workspaceID string, unknown *fault.Error) error {
	role, err := s.places.role(ctx, workspaceID, httpapi.CallerFrom(ctx).UserID)
	if err != nil {
		return err
	}
	return decideAccess(role, unknown)
}

// decideAccess says why somebody with a role, "" for none, may not work on webhooks, or nil.
func decideAccess(role workspace.Role, unknown *fault.Error) error {
	switch {
	case !role.May(workspace.Read):
		return unknown
	case !role.May(workspace.ManageWebhooks):
		return errDenied
	}
	return nil
}

// beside finds a webhook's workspace, and reads something of the webhook while it is found out whether the caller may work on
// it: 3 calls to storage if the reading is 1. What the caller may not know of is WEBHOOK_NOT_FOUND, for members below admin
// it is ACCESS_DENIED.
func (s *Service) beside(ctx context.Context, webhookID string, read func(ctx context.Context, workspaceID string) error) error {
	workspaceID, err := s.store.workspaceOf(ctx, webhookID)
	if errors.Is(err, db.ErrNotFound) {
		return errNoWebhook
	}
	if err != nil {
		return err
	}
	var readErr error
	var reads errgroup.Group
	reads.Go(func() error { return s.administers(ctx, workspaceID, errNoWebhook) })
	reads.Go(func() error {
		readErr = read(ctx, workspaceID)
		return nil
	})
	if err := reads.Wait(); err != nil {
		return err //nolint:wrapcheck // our own, from administers
	}
	return readErr
}

// open reads a webhook that the caller may work on.
func (s *Service) open(ctx context.Context, webhookID string) (w Webhook, err error) {
	err = s.beside(ctx, webhookID, func(ctx context.Context, workspaceID string) error {
		var err error
		w, err = s.store.webhook(ctx, workspaceID, webhookID)
		if errors.Is(err, db.ErrNotFound) {
			return errNoWebhook
		}
		return err
	})
	return w, err
}

// settle finds where a new webhook belongs, and that the caller may make one there: the project's workspace, else the one that
// was named, else the caller's personal one.
func (s *Service) settle(ctx context.Context, workspaceID, projectID *string) (string, error) {
	switch {
	case projectID != nil:
		return s.settleProject(ctx, workspaceID, *projectID)
	case workspaceID != nil:
		return *workspaceID, s.administers(ctx, *workspaceID, workspace.ErrNotFound)
	}
	all, err := s.places.memberships(ctx, httpapi.CallerFrom(ctx).UserID)
	if err != nil {
		return "", err
	}
	for _, member := range all {
		if member.Personal {
			return member.WorkspaceID, nil
		}
	}
	return "", workspace.ErrNotFound
}

func (s *Service) settleProject(ctx context.Context, workspaceID *string, projectID string) (string, error) {
	caller := httpapi.CallerFrom(ctx)
	place, role, err := s.places.project(ctx, projectID, caller.UserID)
	if errors.Is(err, db.ErrNotFound) {
		return "", errNoProject
	}
	if err != nil {
		return "", err
	}
	switch {
	case !place.knownTo(caller.UserID, role):
		return "", errNoProject
	case !role.May(workspace.ManageWebhooks):
		return "", errDenied
	case workspaceID != nil && *workspaceID != place.WorkspaceID:
		return "", fault.Invalid(fault.Field("workspaceId", "must be the project's workspace, or absent"))
	}
	return place.WorkspaceID, nil
}
