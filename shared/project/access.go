package project

import (
	"context"
	"errors"

	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/workspace"
)

// opened is a project as a caller may see it.
type opened struct {
	project projectRecord
	tree    treeRecord
	member  workspace.Membership // zero for somebody from outside, who reads a public project
	place   workspace.Workspace
	// found are the other items that were asked for, from the project's own partition.
	found map[db.Key]db.Item
}

// ErrNotFound is the answer about a project that does not exist, or that the caller may not know of.
var ErrNotFound = fault.New(fault.CodeProjectNotFound, "There is no such project.")

// ErrDenied is the answer to a caller who may know of a project, but not do this to it.
var ErrDenied = fault.New(fault.CodeAccessDenied, "You may not do this in this workspace.")

// isMember reports whether the caller belongs to the project's workspace.
func (o opened) isMember() bool { return o.member.Role != "" }

// open reads a project for an action, and more items of its partition with it, in two calls. What the caller may not know
// of is PROJECT_NOT_FOUND, what they see and may not do is ACCESS_DENIED. Somebody from outside gets through to read
// a public project only with openPublic.
func (s *Service) open(ctx context.Context, projectID string, action workspace.Action, more ...db.Key) (opened, error) {
	o, err := s.openPublic(ctx, projectID, more...)
	if err != nil {
		return o, err
	}
	if !o.member.Role.May(action) {
		return o, ErrDenied
	}
	return o, nil
}

// openPublic is open for the calls that any signed-in user may make on a public project (API.md, calls 9 and 12).
func (s *Service) openPublic(ctx context.Context, projectID string, more ...db.Key) (opened, error) {
	o, err := s.store.open(ctx, projectID, httpapi.CallerFrom(ctx).UserID, more)
	if errors.Is(err, db.ErrNotFound) || (err == nil && !o.visible(httpapi.CallerFrom(ctx).UserID)) {
		return opened{}, ErrNotFound
	}
	return o, err
}

// visible reports whether the project exists for a user.
func (o opened) visible(userID string) bool {
	if o.project.Visibility == Public {
		return true
	}
	return visibleTo(o.project, o.member.Role, userID)
}

// visibleTo reports whether a member with a role, "" for none, sees a project in the lists.
func visibleTo(p projectRecord, role workspace.Role, userID string) bool {
	if !role.May(workspace.Read) {
		return false
	}
	return p.Visibility != Private || p.CreatedBy == userID || role.May(workspace.Moderate)
}
