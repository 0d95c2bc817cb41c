package workspace

import (
	"strconv"
	"unicode"
	"unicode/utf8"

	"devplatform/shared/fault"
)

// MaxNameChars is the length of a name, in Unicode code points.
const MaxNameChars = 100

// CheckName says what is wrong with the name of a workspace or of a project, or "". A name is kept as it was sent: nothing is trimmed.
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

// ErrNotFound is the answer about a workspace that does not exist, or that the caller may not know of.
var ErrNotFound = fault.New(fault.CodeWorkspaceNotFound, "There is no such workspace.")

var (
	errNoMember    = fault.New(fault.CodeMemberNotFound, "There is no such member in this workspace.")
	errRank        = fault.New(fault.CodeAccessDenied, "Nobody can grant, change or remove a role above their own.")
	errMember      = fault.New(fault.CodeConflict, "That person is a member of this workspace already.")
	errLastOwner   = fault.New(fault.CodeConflict, "A workspace keeps its last owner. Make another member an owner first.")
	errOwnPersonal = fault.New(fault.CodeConflict, "A personal workspace keeps the person it belongs to as an owner.")
	errMeanwhile   = fault.New(fault.CodeConflict, "Somebody else changed the members at the same time. Please try again.")
)

// The quota's two answers: to the person who uses it up, and to somebody who adds one who has.
func errOwnQuota(quota int) *fault.Error {
	return fault.New(fault.CodeQuotaExceeded,
		"The quota of "+strconv.Itoa(quota)+" workspaces a user is used up.")
}

func errTheirQuota(quota int) *fault.Error {
	return fault.New(fault.CodeQuotaExceeded,
		"That person is in "+strconv.Itoa(quota)+" workspaces, which is the quota of a user. They have to leave one first.")
}

// What follows decides on what was read: by is the caller's membership, of the member that it is about.

// decideAdd says why by may not add a member with a role, or nil.
func decideAdd(by Membership, role Role) error {
	switch {
	case !by.Role.May(ManageMembers):
		return ErrDenied
	case !by.Role.Covers(role):
		return errRank
	}
	return nil
}

// decideRole says why by may not give a member, nil if there is none such, another role, or nil. That the last owner stays is a
// condition of the write.
func decideRole(by Membership, of *Membership, role Role) error {
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

// decideRemove says why by may not remove a member, nil if there is none such, or nil. Whoever is in may leave.
func decideRemove(by Membership, of *Membership) error {
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
