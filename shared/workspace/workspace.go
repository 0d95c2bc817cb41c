// Package workspace implements workspaces, their members, invitations and the permissions of roles. Projects and
// webhooks belong to a workspace, but are in other packages. All packages use Access (access.go) to decide who may see
// or change a project.
//
// The package is the example of the shape of all slices: service.go has the Service and its dependencies, errors.go the
// errors, limits.go the limits, <resource>.go a type with its rules, http_<resource>.go its endpoints with their
// handlers, and store*.go the access to DynamoDB. A handler is the use case of its endpoint. It decides with pure
// functions, calls the store, and writes a change on the condition that the records on which it decided have not
// changed.
package workspace

import (
	"strconv"
	"unicode"
	"unicode/utf8"

	"devplatform/shared/clock"
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

// Details are a workspace and a user's membership in it.
type Details struct {
	Workspace  Workspace
	Membership Membership
}
