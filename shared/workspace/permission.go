package workspace

// Action is something that a role may or may not do. Every endpoint that belongs to a workspace asks for one of them.
// The table below is the only place that says what a role may do.
type Action string

// The actions.
const (
	// View reads a project and its current files. ProjectAccess.Check allows it to every user who sees the project.
	View Action = "view"
	// Read reads the workspace, its members, and all that members may see of its projects.
	Read Action = "read"
	// Write creates and changes projects, files, comments and chats.
	Write Action = "write"
	// DeleteOwnProject deletes a project that the caller created.
	DeleteOwnProject Action = "delete-own-project"
	// Moderate sees the private projects of other users, and deletes any project and any comment.
	Moderate Action = "moderate"
	// ManageMembers adds, changes and removes members, but no role above the caller's own.
	ManageMembers Action = "manage-members"
	// ManageWebhooks creates, reads and changes webhooks.
	ManageWebhooks Action = "manage-webhooks"
)

// permissions are the actions of each role.
var permissions = map[Role]map[Action]bool{
	Viewer: {View: true, Read: true},
	Member: {View: true, Read: true, Write: true, DeleteOwnProject: true},
	Admin:  everything,
	Owner:  everything,
}

var everything = map[Action]bool{
	View: true, Read: true, Write: true, DeleteOwnProject: true, Moderate: true, ManageMembers: true, ManageWebhooks: true,
}

// May reports whether the role allows the action. An unknown role allows nothing.
func (r Role) May(a Action) bool { return permissions[r][a] }

// ranks orders the roles. An unknown role has rank 0.
var ranks = map[Role]int{Viewer: 1, Member: 2, Admin: 3, Owner: 4}

// Covers reports whether other is a known role that is not above r. Members cannot grant, change or remove a role above
// their own.
func (r Role) Covers(other Role) bool { return ranks[other] > 0 && ranks[r] >= ranks[other] }
