package workspace

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"devplatform/shared/async"
	"devplatform/shared/db"
	"devplatform/shared/workspace/record"
)

// Visibility defines which users can see a project.
type Visibility string

// The visibilities.
const (
	Private Visibility = "private" // its creator, and the workspace's admins and owners
	Team    Visibility = "team"    // all members of the workspace
	Public  Visibility = "public"  // all signed-in users; non-members see only its settings and current files
)

// ProjectAccess has the stored data that decides what a user may do with a project. For CanSee, the fields UserID,
// Visibility, CreatedBy and Member are sufficient.
type ProjectAccess struct {
	UserID      string     `dynamodbav:"-"`
	ProjectID   string     `dynamodbav:"-"`
	WorkspaceID string     `dynamodbav:"workspaceId"`
	Name        string     `dynamodbav:"name"` // of the project
	Visibility  Visibility `dynamodbav:"visibility"`
	CreatedBy   string     `dynamodbav:"createdBy"` // user ID
	// Workspace is the workspace's record.
	Workspace Workspace `dynamodbav:"-"`
	// Member is the user's membership in the workspace. It is zero if the user is not a member.
	Member Membership `dynamodbav:"-"`
	// Items has all items that were read, by key: the project's tree and record, and the items that the caller
	// requested.
	Items map[db.Key]db.Item `dynamodbav:"-"`
}

// CanSee reports whether the user can see the project.
func (a ProjectAccess) CanSee() bool {
	switch {
	case a.Visibility == Public, a.Member.Role.May(Moderate):
		return true
	case a.Visibility == Private:
		return a.CreatedBy == a.UserID && a.Member.Role.May(Read)
	}
	return a.Member.Role.May(Read)
}

// Check returns nil if the user may do the action with the project. It is the only implementation of project access
// rules. Errors: ErrProjectNotFound if the user cannot see the project; ErrDenied if the user can see the project but
// may not do the action; ErrReadOnly and AUTH_SUSPENDED, see Membership.Check.
func (a ProjectAccess) Check(action Action) error {
	if !a.CanSee() {
		return ErrProjectNotFound
	}
	if action == DeleteOwnProject && a.CreatedBy != a.UserID {
		action = Moderate // only moderators may delete the project of another user
	}
	if action == View {
		return nil
	}
	return a.Member.Check(action)
}

// Access reads memberships and project access from the projects table. Every package that checks a role or access to a
// project uses it. It does not cache anything, so a role change is effective on the next request.
type Access struct{ Projects db.Table }

// Memberships returns the user's memberships: the personal workspace first, then the others in the order in which the
// workspaces were created. The memberships have no names of workspaces, see Complete. It makes one call to storage.
func (s Access) Memberships(ctx context.Context, userID string) ([]Membership, error) {
	items, err := s.Projects.QueryAll(ctx, db.MembershipsOf(userID))
	if err != nil {
		return nil, err
	}
	list := db.DecodeAll(ctx, items, db.DecodeByID(func(m Membership) string { return m.WorkspaceID }))
	slices.SortFunc(list, func(a, b Membership) int { return cmp.Compare(a.position(), b.position()) })
	return list, nil
}

// Complete adds to memberships what only the records of the workspaces have: the names, and whether the workspaces are
// read-only. It omits memberships in workspaces that have ended. It makes one call to storage for each 100 memberships.
func (s Access) Complete(ctx context.Context, members []Membership) ([]Membership, error) {
	all, err := s.withRecords(ctx, members)
	complete := make([]Membership, len(all))
	for i, d := range all {
		complete[i] = d.Membership
	}
	return complete, err
}

// UserWorkspaces returns the workspaces of a user, in the order of Memberships. It omits workspaces that have ended. It
// makes one call to storage, and another one for each 100 memberships.
func (s Access) UserWorkspaces(ctx context.Context, userID string) ([]Details, error) {
	members, err := s.Memberships(ctx, userID)
	if err != nil {
		return nil, err
	}
	return s.withRecords(ctx, members)
}

// withRecords reads the records of the workspaces of memberships. It omits workspaces that have ended.
func (s Access) withRecords(ctx context.Context, members []Membership) ([]Details, error) {
	ids := make([]string, len(members))
	for i, m := range members {
		ids[i] = m.WorkspaceID
	}
	records, err := record.Read(ctx, s.Projects, ids...)
	if err != nil {
		return nil, err
	}
	all := make([]Details, 0, len(members))
	for _, m := range members {
		if w, ok := records[m.WorkspaceID]; ok {
			m.Name, m.ReadOnly = w.Name, w.IsReadOnly()
			all = append(all, Details{w, m})
		}
	}
	return all, nil
}

// Membership returns the user's membership in a workspace. It makes one call to storage.
// Error: ErrNotFound if the user is not a member.
func (s Access) Membership(ctx context.Context, userID, workspaceID string) (Membership, error) {
	d, err := s.read(ctx, userID, workspaceID)
	return d.Membership, err
}

// read is like Membership, and also returns the workspace.
func (s Access) read(ctx context.Context, userID, workspaceID string) (d Details, err error) {
	member, workspace := db.MemberKey(workspaceID, userID), db.WorkspaceKey(workspaceID)
	items, err := s.Projects.BatchGet(ctx, member, workspace)
	if err == nil {
		d.Workspace, d.Membership, err = memberOf(items[workspace], items[member])
	}
	return d, err
}

// memberOf decodes a workspace and a membership in it. Error: ErrNotFound if the workspace does not exist, or if the
// user is not a member.
func memberOf(workspace, member db.Item) (w Workspace, m Membership, err error) {
	if workspace == nil || member == nil {
		return w, m, ErrNotFound
	}
	if w, err = db.Decode[Workspace](workspace); err != nil {
		return w, m, err
	}
	m, err = db.Decode[Membership](member)
	if err == nil && !m.Role.May(Read) {
		return w, m, ErrNotFound
	}
	m.Name, m.ReadOnly = w.Name, w.IsReadOnly()
	return w, m, err
}

// MembershipOrPersonal returns the user's membership in a workspace, or in the user's personal workspace if
// workspaceID is nil. It makes one call to storage, and a second one if workspaceID is nil. Error: ErrNotFound.
func (s Access) MembershipOrPersonal(ctx context.Context, userID string, workspaceID *string) (Membership, error) {
	if workspaceID != nil {
		return s.Membership(ctx, userID, *workspaceID)
	}
	all, err := s.Memberships(ctx, userID)
	if err != nil {
		return Membership{}, err
	}
	personal := slices.IndexFunc(all, func(m Membership) bool { return m.Personal })
	if personal < 0 {
		return Membership{}, ErrNotFound
	}
	return s.Membership(ctx, userID, all[personal].WorkspaceID)
}

// Project checks that a user may do an action with a project, and reads the items with the given keys. It makes two
// calls to storage. Errors: the errors of ProjectAccess.Check.
func (s Access) Project(
	ctx context.Context, userID, projectID string, action Action, keys ...db.Key,
) (ProjectAccess, error) {
	a, err := s.Locate(ctx, projectID, s.Projects.Refs(keys...)...)
	if err != nil {
		return a, err
	}
	return s.Load(ctx, userID, a, action)
}

// ReadWith is like Project, and calls read at the same time as the second call to storage. read receives the result of
// the first call. If access is denied, ReadWith cancels the context of read, so that the response time does not depend
// on the data, and returns no result. Errors: the errors of Project and of read.
func ReadWith[T any](
	ctx context.Context, s Access, userID, projectID string, action Action,
	read func(ctx context.Context, located ProjectAccess) (T, error), keys ...db.Key,
) (a ProjectAccess, result T, err error) {
	var none T
	located, err := s.Locate(ctx, projectID, s.Projects.Refs(keys...)...)
	if err != nil {
		return located, none, err
	}
	readCtx, stop := context.WithCancel(ctx)
	defer stop()
	var reading async.Group
	reading.Go(func() (err error) {
		result, err = read(readCtx, located)
		return err
	})
	if a, err = s.Load(ctx, userID, located, action); err != nil {
		stop()
	}
	readErr := reading.Wait()
	if err != nil {
		return a, none, err
	}
	return a, result, readErr
}

// Locate makes the first call of Project: it finds the workspace of a project, and reads more items, which may be in
// any table. If the project does not exist, it returns these items with ErrProjectNotFound. Locate does not check
// access: call Load before the project is shown or changed.
func (s Access) Locate(ctx context.Context, projectID string, more ...db.Ref) (ProjectAccess, error) {
	tree := db.TreeKey(projectID)
	items, err := s.Projects.BatchGetWith(ctx, more, tree)
	if err != nil {
		return ProjectAccess{}, err
	}
	if items[tree] == nil {
		return ProjectAccess{Items: items}, ErrProjectNotFound
	}
	a, err := db.Decode[ProjectAccess](items[tree])
	a.ProjectID, a.Items = projectID, items
	return a, err
}

// Load makes the second call of Project: it returns the access of a user to a project that Locate has found, adds more
// items, which may be in any table, and checks the action. Errors: the errors of ProjectAccess.Check;
// ErrProjectNotFound also if the project was deleted after Locate.
func (s Access) Load(
	ctx context.Context, userID string, located ProjectAccess, action Action, more ...db.Ref,
) (a ProjectAccess, err error) {
	member, workspace := db.MemberKey(located.WorkspaceID, userID), db.WorkspaceKey(located.WorkspaceID)
	project := db.ProjectKey(located.WorkspaceID, located.ProjectID)
	items, err := s.Projects.BatchGetWith(ctx, more, member, project, workspace)
	if err != nil {
		return a, err
	}
	if items[project] == nil || items[workspace] == nil {
		return a, ErrProjectNotFound
	}
	maps.Copy(items, located.Items)
	if a, err = db.Decode[ProjectAccess](items[project]); err != nil {
		return a, err
	}
	a.UserID, a.ProjectID, a.Items = userID, located.ProjectID, items
	if a.Workspace, err = db.Decode[Workspace](items[workspace]); err != nil {
		return a, err
	}
	if a.Member, err = db.Decode[Membership](items[member]); err != nil { // zero if there is no item
		return a, err
	}
	a.Member.ReadOnly = a.Workspace.IsReadOnly()
	return a, a.Check(action)
}

// ChangeError returns the error of a write whose condition failed because a project's record or tree has changed.
// stored is the item, or nil if it was deleted. Errors: ErrProjectNotFound, db.ErrStale.
func ChangeError(stored db.Item) error {
	if stored == nil {
		return ErrProjectNotFound
	}
	return db.ErrStale
}

// Exists returns a check that a workspace has not ended. Error of the check: ErrNotFound.
func (s Access) Exists(workspaceID string) db.Write {
	return s.Projects.Check(db.WorkspaceKey(workspaceID), s.Projects.Exists()).Else(ErrNotFound)
}

// ProjectExists returns a check that a project exists. Error of the check: ErrProjectNotFound.
func (s Access) ProjectExists(projectID string) db.Write {
	return s.Projects.Check(db.TreeKey(projectID), s.Projects.Exists()).Else(ErrProjectNotFound)
}
