package workspace

import (
	"strconv"
	"unicode"
	"unicode/utf8"

	"devplatform/shared/fault"
	"devplatform/shared/invisible"
)

// MaxNameChars is the maximum length of a name, in Unicode code points.
const MaxNameChars = 100

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
	case chars == 0 || chars > MaxNameChars:
		return "must be 1 to " + strconv.Itoa(MaxNameChars) + " characters long"
	case control:
		return "must not contain control characters"
	case !visible:
		return "must not be blank"
	}
	return invisible.Check(name)
}

// ErrNotFound reports that a workspace does not exist, or that the caller is not a member of it.
var ErrNotFound = fault.New(fault.CodeWorkspaceNotFound,
	"The workspace does not exist, or you do not have access to it.")

var (
	errMemberNotFound = fault.New(fault.CodeMemberNotFound,
		"The user is not a member of this workspace. List the members to see their user IDs.")
	errRoleTooHigh = fault.New(fault.CodeAccessDenied,
		"You cannot grant, change or remove a role above your own. Ask a member with a higher role.")
	errAlreadyMember = fault.New(fault.CodeConflict,
		"The user is already a member of this workspace. To change the role, update the member.")
	errLastOwner = fault.New(fault.CodeConflict,
		"A workspace must have an owner. Make another member an owner first.")
	errPersonalOwner = fault.New(fault.CodeConflict,
		"The user of a personal workspace must remain an owner of it.")
)

// errCallerQuota returns the error for a caller who creates a workspace and has reached the limit.
func errCallerQuota(quota int) *fault.Error {
	return fault.New(fault.CodeQuotaExceeded,
		"You have reached the limit of "+strconv.Itoa(quota)+" workspaces. Leave a workspace first.")
}

// errMemberQuota returns the error for adding a user who has reached the limit.
func errMemberQuota(quota int) *fault.Error {
	return fault.New(fault.CodeQuotaExceeded,
		"The user has reached the limit of "+strconv.Itoa(quota)+" workspaces. The user must leave a workspace first.")
}

// The functions below decide about changes of memberships. caller is the caller's membership. target is the membership
// to change, or nil if the user is not a member.

// checkAdd returns an error if the caller may not add a member with a role.
func checkAdd(caller Membership, role Role) error {
	switch {
	case !caller.Role.May(ManageMembers):
		return ErrDenied
	case !caller.Role.Covers(role):
		return errRoleTooHigh
	}
	return nil
}

// checkRoleChange returns an error if the caller may not give the target a role. The transaction that writes
// the change checks that an owner remains.
func checkRoleChange(caller Membership, target *Membership, role Role) error {
	switch {
	case !caller.Role.May(ManageMembers):
		return ErrDenied
	case target == nil:
		return errMemberNotFound
	case !caller.Role.Covers(target.Role) || !caller.Role.Covers(role):
		return errRoleTooHigh
	case target.Personal && role != Owner:
		return errPersonalOwner
	}
	return nil
}

// checkRemove returns an error if the caller may not remove the target. Every member may leave.
func checkRemove(caller Membership, target *Membership) error {
	leaving := target != nil && target.UserID == caller.UserID
	switch {
	case !leaving && !caller.Role.May(ManageMembers):
		return ErrDenied
	case target == nil:
		return errMemberNotFound
	case !caller.Role.Covers(target.Role):
		return errRoleTooHigh
	case target.Personal:
		return errPersonalOwner
	}
	return nil
}
