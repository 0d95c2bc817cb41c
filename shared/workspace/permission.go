package workspace

import "devplatform/shared/httpapi"

// Action is an action that requires a permission. Every endpoint for a workspace or its content requires one action.
// The map permissions is the only definition of the actions that a role may perform.
type Action string

// The actions.
const (
	// View reads a project and its current files. ProjectAccess.Check allows it to all users who can see the project.
	View Action = "view"
	// Read reads the workspace, its members, and its projects with their versions, comments and events.
	Read Action = "read"
	// Write creates and changes projects, files, comments and chats.
	Write Action = "write"
	// DeleteOwnProject deletes a project that the caller created.
	DeleteOwnProject Action = "delete-own-project"
	// Moderate reads the private projects of other users, and deletes any project and any comment.
	Moderate Action = "moderate"
	// ManageMembers adds, changes and removes members whose role is not above the caller's.
	ManageMembers Action = "manage-members"
	// ReadWebhooks reads webhooks and their deliveries.
	ReadWebhooks Action = "read-webhooks"
	// ManageWebhooks creates, changes and tests webhooks, and sends deliveries again.
	ManageWebhooks Action = "manage-webhooks"
)

// permissions maps each role to its allowed actions.
var permissions = map[Role]map[Action]bool{
	Viewer: {View: true, Read: true},
	Member: {View: true, Read: true, Write: true, DeleteOwnProject: true},
	Admin:  allActions,
	Owner:  allActions,
}

var allActions = map[Action]bool{
	View: true, Read: true, Write: true, DeleteOwnProject: true, Moderate: true, ManageMembers: true,
	ReadWebhooks: true, ManageWebhooks: true,
}

// reads are the actions that change nothing.
var reads = map[Action]bool{View: true, Read: true, ReadWebhooks: true}

// May reports whether the role allows the action. An unknown role allows no action.
func (r Role) May(a Action) bool { return permissions[r][a] }

// Check returns nil if the member may do the action now. An action that the role allows is rejected if it changes
// something and the workspace is read-only. Errors: ErrDenied, ErrReadOnly, AUTH_SUSPENDED.
func (m Membership) Check(a Action) error {
	switch {
	case !m.Role.May(a):
		return ErrDenied
	case m.Suspended: // suspended since the session was read
		return httpapi.ErrSuspended
	case m.ReadOnly && !reads[a]:
		return ErrReadOnly
	}
	return nil
}

// ranks maps each role to its rank. An unknown role has rank 0.
var ranks = map[Role]int{Viewer: 1, Member: 2, Admin: 3, Owner: 4}

// Covers reports whether other is a known role that is not above r. Members cannot grant, change or remove a role above
// their own.
func (r Role) Covers(other Role) bool { return ranks[other] > 0 && ranks[r] >= ranks[other] }
