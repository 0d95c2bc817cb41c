// Package workspace implements workspaces, their members, invitations and the permissions of roles. Projects and
// webhooks belong to a workspace, but are in other packages. All packages use Access (access.go) to decide who may see
// or change a project.
//
// The package is the example of the shape of all slices: service.go has the Service and its dependencies, errors.go the
// errors, <resource>.go a type with its rules and use cases, http_<resource>.go its endpoints, and store*.go the access
// to DynamoDB. A use case is the handler of its endpoint, unless other code needs it, too. It decides with pure
// functions and calls the store. It writes a change on the condition that the records on which it decided have not
// changed.
package workspace

import (
	"context"
	"strconv"
	"unicode"
	"unicode/utf8"

	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
	"devplatform/shared/invisible"
	"devplatform/shared/workspace/record"
)

// Role is the role of a member in a workspace. Each role has all permissions of the lower roles.
type Role string

// The roles, highest first.
const (
	Owner  Role = "owner"
	Admin  Role = "admin"
	Member Role = "member"
	Viewer Role = "viewer"
)

// Workspace is the record of a workspace.
type Workspace = record.Workspace

// DeletedUser is the username that replaces the username of a user whose account was deleted. No user can have it.
const DeletedUser = "deleted"

// Membership is the membership of a user in a workspace. It is stored twice, under the workspace and under the user,
// in one transaction, so that both can be listed with consistent reads. The attribute names are part of the data
// format.
type Membership struct {
	WorkspaceID string          `dynamodbav:"workspaceId"`
	UserID      string          `dynamodbav:"userId"`
	Username    string          `dynamodbav:"username"`
	Role        Role            `dynamodbav:"role"`
	AddedAt     clock.Timestamp `dynamodbav:"addedAt"`

	// Name is the name of the workspace. It is not stored in the membership, but read from the workspace's record, so
	// that a new name is effective on the next request. Access.Complete adds it.
	Name string `dynamodbav:"-"`
	// CreatedAt is a copy of the workspace's field, which never changes.
	CreatedAt clock.Timestamp `dynamodbav:"createdAt"`

	// ReadOnly reports whether the workspace is read-only. Like Name, it is not stored in the membership.
	ReadOnly bool `dynamodbav:"-"`

	// Suspended reports that the account of the user is suspended. Operators set it (see IsReadOnly).
	Suspended bool `dynamodbav:"suspended,omitempty"`

	// Personal means that this is the user's own personal workspace. The user remains an owner of it. Every user has
	// exactly one personal workspace. The field is false for other members of that workspace.
	Personal bool `dynamodbav:"personal"`

	// InvitedEmail is the address of the invitation that the user accepted, and Email the address of the user's account at
	// that time. They are stored only if they differ, or if Email was not confirmed: someone may have forwarded the
	// invitation. Admins can see them.
	InvitedEmail string `dynamodbav:"invitedEmail,omitempty"`
	Email        string `dynamodbav:"email,omitempty"`
}

// position returns the membership's position in the user's list of workspaces.
func (m Membership) position() string { return listPosition(m.WorkspaceID, m.Personal) }

// listPosition returns the sort key of a workspace in a user's list: the user's personal workspace first, then the
// others by ID, which is the order in which they were created.
func listPosition(workspaceID string, personal bool) string {
	if personal {
		return "0" + workspaceID
	}
	return "1" + workspaceID
}

// personalName returns the name of a user's personal workspace.
func personalName(username string) string { return username + "'s workspace" }

// maxName is the maximum length of the name of a workspace or a project, in Unicode code points.
const maxName = 100

// CheckName checks the name of a workspace or a project. It returns the rule that the name breaks, or "" if the name is
// valid.
func CheckName(name string) string {
	chars := utf8.RuneCountInString(name)
	visible, control := false, false
	for _, r := range name {
		visible = visible || (unicode.IsPrint(r) && r != ' ')
		control = control || unicode.IsControl(r)
	}
	switch {
	case chars == 0 || chars > maxName:
		return "must be 1 to " + strconv.Itoa(maxName) + " characters long"
	case control:
		return "must not contain control characters"
	case !visible:
		return "must not be blank"
	}
	return invisible.Check(name)
}

// handleCreateWorkspace creates a workspace with the caller as its owner.
func (s *Service) handleCreateWorkspace(
	ctx context.Context, caller httpapi.Caller, in *createWorkspaceInput,
) (*workspaceOutput, error) {
	at := clock.Stamp(s.now())
	w := Workspace{ID: s.ids.New(id.Workspace), Name: in.Body.Name, Owners: 1, Members: 1, CreatedAt: at}
	owner := Membership{
		WorkspaceID: w.ID, UserID: caller.UserID, Username: caller.Account().Username, Role: Owner, AddedAt: at,
		Name: w.Name, CreatedAt: at,
	}
	tx := s.store.client.Tx(creationWrites(s.store.Projects, w, owner)...)
	tx.Add(s.store.countUp(owner.UserID))
	if err := tx.Commit(ctx); err != nil {
		return nil, err
	}
	return &workspaceOutput{owner.item()}, nil
}

// Details are a workspace and the caller's membership in it.
type Details struct {
	Workspace  Workspace
	Membership Membership
}

func (s *Service) handleReadWorkspace(
	ctx context.Context, caller httpapi.Caller, in *readWorkspaceInput,
) (*detailsOutput, error) {
	d, err := s.store.read(ctx, caller.UserID, in.ID)
	if err != nil {
		return nil, err
	}
	return d.output(), nil
}

// handleUpdateWorkspace changes the name of a workspace. If there is no new name, it writes nothing.
func (s *Service) handleUpdateWorkspace(
	ctx context.Context, caller httpapi.Caller, in *updateWorkspaceInput,
) (*detailsOutput, error) {
	var d Details
	err := db.Retry(ctx, "rename a workspace", func(ctx context.Context) (err error) {
		if d, err = s.store.read(ctx, caller.UserID, in.ID); err != nil {
			return err
		}
		if err := d.Membership.Check(ManageMembers); err != nil {
			return err
		}
		name := in.Body.Name
		if name == nil || *name == d.Workspace.Name {
			return nil
		}
		d.Workspace.Name, d.Membership.Name = *name, *name
		return s.store.rename(ctx, d)
	})
	if err != nil {
		return nil, err
	}
	return d.output(), nil
}

// handleDeleteWorkspace ends a workspace. From then on, nothing of it can be read, delivered, built or visited, and it
// does not count for its members' limits after its removal. The removal deletes its data in the background.
func (s *Service) handleDeleteWorkspace(
	ctx context.Context, caller httpapi.Caller, in *deleteWorkspaceInput,
) (*httpapi.DoneOutput, error) {
	err := db.Retry(ctx, "delete a workspace", func(ctx context.Context) error {
		d, err := s.store.read(ctx, caller.UserID, in.ID)
		if err != nil {
			return err
		}
		now := s.now()
		switch {
		case d.Membership.Role != Owner:
			return ErrDenied
		case d.Workspace.Personal:
			return errDeletePersonal
		case !caller.IsFresh(now):
			return httpapi.ErrNotFresh
		case in.Body.Confirm != d.Workspace.Name:
			return errConfirm
		}
		return s.store.end(ctx, d, now)
	})
	return httpapi.ReplyDone("The workspace has been deleted. Its data will be removed within 24 hours.", err)
}

// handleListWorkspaces returns a page of the caller's workspaces, the personal workspace first.
func (s *Service) handleListWorkspaces(
	ctx context.Context, caller httpapi.Caller, in *workspacesInput,
) (*workspacesOutput, error) {
	scope := httpapi.ListScope(caller, "workspaces")
	after, err := s.cursors.Open(ctx, scope, in.Cursor)
	if err != nil {
		return nil, err
	}
	all, err := s.store.UserWorkspaces(ctx, caller.UserID)
	if err != nil {
		return nil, err
	}
	items := []WorkspaceItem{}
	for _, d := range all {
		if d.Membership.position() > after {
			items = append(items, d.Membership.item())
		}
	}
	out := &workspacesOutput{}
	out.Body.Workspaces, out.Body.NextCursor, err = httpapi.CutPage(ctx, s.cursors, scope, items, in.Limit,
		func(w WorkspaceItem) string { return listPosition(w.ID, w.Personal) })
	return out, err
}
