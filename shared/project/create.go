package project

import (
	"context"
	"errors"
	"fmt"

	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
	"devplatform/shared/workspace"
)

// Draft is a project to create.
type Draft struct {
	WorkspaceID *string // nil means the caller's personal workspace
	Name        string
	Description string
	Framework   string
	Visibility  Visibility
}

func errQuota(quota int) *fault.Error {
	return fault.New(fault.CodeQuotaExceeded,
		fmt.Sprintf("The workspace has reached its limit of %d projects. Delete a project first.", quota))
}

// Create creates a project with a slug that is unique in its workspace.
// Errors: WORKSPACE_NOT_FOUND, ACCESS_DENIED, QUOTA_EXCEEDED, CONFLICT.
func (s *Service) Create(ctx context.Context, caller httpapi.Caller, in Draft) (ProjectDetails, error) {
	member, err := s.store.MembershipOrPersonal(ctx, caller.UserID, in.WorkspaceID)
	if err != nil {
		return ProjectDetails{}, err
	}
	if !member.Role.May(workspace.Write) {
		return ProjectDetails{}, workspace.ErrDenied
	}
	now := s.now()
	at := clock.Stamp(now)
	p := projectRecord{
		ID: s.ids.New(id.Project), WorkspaceID: member.WorkspaceID, Name: in.Name, Description: in.Description,
		Framework: in.Framework, Visibility: in.Visibility, CreatedBy: caller.UserID,
		CreatedAt: at, UpdatedAt: at, LastOpenedAt: at, Revision: 1,
	}
	slugs := slugChooser{store: s.store, workspaceID: p.WorkspaceID, base: slugOf(p.Name)}
	err = db.Retry(ctx, "create a project", func(ctx context.Context) error {
		return slugs.write(ctx, func(slug string) error {
			p.Slug = slug
			e, err := s.event(event.ProjectCreated, caller, p, now)
			if err != nil {
				return err
			}
			return s.store.createProject(ctx, p, e)
		})
	})
	if errors.Is(err, errFull) {
		err = errQuota(s.store.quota).WithCause(err)
	}
	return p.details(member.Name, s.sites), err
}
