package workspace

import (
	"strconv"
	"unicode"
	"unicode/utf8"

	"devplatform/shared/fault"
)

// MaxNameChars is the length of a name, in Unicode code points.
const MaxNameChars = 100

// CheckName returns the rule that the name of a workspace or a project breaks, or "". Names are stored as they were
// sent.
func CheckName(name string) string {
	chars := utf8.RuneCountInString(name)
	visible, control := false, false
	for _, r := range name {
		visible = visible || (unicode.IsPrint(r) && r != ' ')
		control = control || unicode.IsControl(r)
	}
	switch {
	case chars == 0 || chars > MaxNameChars:
		return "must be 1 to " + strconv.Itoa(MaxNameChars) + " characters long"
	case control:
		return "must not contain control characters"
	case !visible:
		return "must not be blank"
	}
	return ""
}

// ErrNotFound reports a workspace that does not exist, or that the caller is not a member of.
var ErrNotFound = fault.New(fault.CodeWorkspaceNotFound, "There is no such workspace.")

var (
	errNoMember    = fault.New(fault.CodeMemberNotFound, "There is no such member in this workspace.")
	errRank        = fault.New(fault.CodeAccessDenied, "You cannot grant, change or remove a role above your own.")
	errMember      = fault.New(fault.CodeConflict, "The user is a member of this workspace already.")
	errLastOwner   = fault.New(fault.CodeConflict, "A workspace keeps its last owner. Make another member an owner first.")
	errOwnPersonal = fault.New(fault.CodeConflict, "A personal workspace keeps the user it belongs to as an owner.")
)

// errOwnQuota is for a user who creates a workspace, errTheirQuota for a user who adds another user.
func errOwnQuota(quota int) *fault.Error {
	return fault.New(fault.CodeQuotaExceeded,
		"The quota of "+strconv.Itoa(quota)+" workspaces a user is used up.")
}

func errTheirQuota(quota int) *fault.Error {
	return fault.New(fault.CodeQuotaExceeded,
		"That person is in "+strconv.Itoa(quota)+" workspaces, which is the quota of a user. They have to leave one first.")
}

// The functions below decide on memberships that were read. by is the caller's membership, of the one to change, nil
// if the user is not a member.

// checkAdd returns an error if the caller may not add a member with a role.
func checkAdd(by Membership, role Role) error {
	switch {
	case !by.Role.May(ManageMembers):
		return ErrDenied
	case !by.Role.Covers(role):
		return errRank
	}
	return nil
}

// checkRoleChange returns an error if the caller may not give a member a role. The write checks that an owner remains.
func checkRoleChange(by Membership, of *Membership, role Role) error {
	switch {
	case !by.Role.May(ManageMembers):
		return ErrDenied
	case of == nil:
		return errNoMember
	case !by.Role.Covers(of.Role) || !by.Role.Covers(role):
		return errRank
	case of.Personal && role != Owner:
		return errOwnPersonal
	}
	return nil
}

// checkRemove returns an error if the caller may not remove a member. Every member may leave.
func checkRemove(by Membership, of *Membership) error {
	leaving := of != nil && of.UserID == by.UserID
	switch {
	case !leaving && !by.Role.May(ManageMembers):
		return ErrDenied
	case of == nil:
		return errNoMember
	case !by.Role.Covers(of.Role):
		return errRank
	case of.Personal:
		return errOwnPersonal
	}
	return nil
}
