package workspace

import "time"

// MaxMemberships is the maximum number of workspaces of a user, including the personal workspace.
const MaxMemberships = 50

// The limits of invitations.
const (
	// InvitationsPerDay is the number of invitations that a user can create in one day (UTC).
	InvitationsPerDay = 20
	// maxOpenInvitations is the maximum number of open invitations of a workspace.
	maxOpenInvitations = 50
	// invitationLifetime is the time after which an invitation expires.
	invitationLifetime = 7 * 24 * time.Hour
	// repeatAfter is the time after which the same invitation can be created again.
	repeatAfter = 5 * time.Minute
)
