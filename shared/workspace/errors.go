package workspace

import (
	"strconv"

	"devplatform/shared/fault"
)

// ErrNotFound reports that a workspace does not exist, or that the caller is not a member of it.
var ErrNotFound = fault.New(fault.CodeWorkspaceNotFound,
	"The workspace does not exist, or you do not have access to it.")

var (
	errMemberNotFound = fault.New(fault.CodeMemberNotFound,
		"The user is not a member of this workspace. List the members to see their user IDs.")
	errRoleTooHigh = fault.New(fault.CodeAccessDenied,
		"You cannot grant, change or remove a role above your own. Ask a member with a higher role.")
	errInvitationNotFound = fault.New(fault.CodeInvitationNotFound,
		"The invitation does not exist, or it has ended. Ask an admin of the workspace for a new one.")
	errTokenInvalid = fault.New(fault.CodeCodeInvalid,
		"The link is wrong, has expired, was already used, or was replaced by a newer one. Ask for a new invitation.")
	errSelfMember = fault.New(fault.CodeConflict,
		"You are already a member of this workspace.")
	errInvitedRecently = fault.New(fault.CodeRateLimited,
		"The user was invited a moment ago. Please wait before you invite the user again.")
	errInvitationQuota = fault.New(fault.CodeQuotaExceeded,
		"The workspace has reached the limit of "+strconv.Itoa(maxOpenInvitations)+
			" open invitations. Revoke an invitation first.")
	errAlreadyMember = fault.New(fault.CodeConflict,
		"The user is already a member of this workspace. To change the role, update the member.")
	errLastOwner = fault.New(fault.CodeConflict,
		"A workspace must have an owner. Make another member an owner first.")
	errDeletePersonal = fault.New(fault.CodeConflict,
		"A personal workspace cannot be deleted alone. It is deleted together with the account of its user.")
	errConfirm       = fault.Invalid(fault.Field("confirm", "must be exactly the name of the workspace"))
	errPersonalOwner = fault.New(fault.CodeConflict,
		"The user of a personal workspace must remain an owner of it.")
)

// errCallerQuota returns the error for creating or joining a workspace if the caller has reached the limit.
func errCallerQuota(quota int) *fault.Error {
	return fault.New(fault.CodeQuotaExceeded,
		"You have reached the limit of "+strconv.Itoa(quota)+" workspaces. Leave a workspace first.")
}

// Errors of access to a project. A user who cannot see a project cannot learn that it exists.
var (
	ErrProjectNotFound = fault.New(fault.CodeProjectNotFound,
		"The project does not exist, or you do not have access to it.")
	ErrDenied = fault.New(fault.CodeAccessDenied,
		"Your role in the workspace does not allow this. Ask an admin or owner of the workspace.")
	// ErrReadOnly reports that nothing in the workspace can be changed.
	ErrReadOnly = fault.New(fault.CodeAccessDenied,
		"The workspace is read-only, because the accounts of all its owners are suspended.")
)

// errUserNotFound is the documented example of the error that People returns for an unknown username.
var errUserNotFound = fault.New(fault.CodeUserNotFound, "The user does not exist. Check the username.")
