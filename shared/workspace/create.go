package workspace

import (
	"context"
	"errors"

	"devplatform/shared/clock"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
)

// Create creates a workspace with the caller as its owner. The name must be valid.
// Errors: QUOTA_EXCEEDED, CONFLICT.
func (s *Service) Create(ctx context.Context, caller httpapi.Caller, name string) (Membership, error) {
	at := clock.Stamp(s.now())
	w := Workspace{ID: s.ids.New(id.Workspace), Name: name, Owners: 1, CreatedAt: at}
	owner := Membership{
		WorkspaceID: w.ID, UserID: caller.UserID, Username: caller.Account().Username, Role: Owner, AddedAt: at,
		Name: name, CreatedAt: at,
	}
	err := s.store.create(ctx, w, owner)
	if errors.Is(err, errFull) {
		return Membership{}, errCallerQuota(s.quota).WithCause(err)
	}
	return owner, err
}
