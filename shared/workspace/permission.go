package workspace

// Action is something that a role may or may not do. Every endpoint of the service that belongs to a workspace asks for
// one of these; what a role may do is said nowhere but in the table below.
type Action string

// The actions of API.md §3.
const (
	// Read sees the workspace, its members and what its members may see of its projects.
	Read Action = "read"
	// Write makes and changes projects, files, comments and chats.
	Write Action = "write"
	// DeleteOwnProject deletes a project that the caller created.
	DeleteOwnProject Action = "delete-own-project"
	// Moderate sees private projects of others, deletes any project and any comment.
	Moderate Action = "moderate"
	// ManageMembers adds, changes and removes members, none above the caller's own role.
	ManageMembers Action = "manage-members"
	// ManageWebhooks makes, sees and changes webhooks.
	ManageWebhooks Action = "manage-webhooks"
)

// permissions is the one table of who may do what.
var permissions = map[Role]map[Action]bool{
	Viewer: {Read: true},
	Member: {Read: true, Write: true, DeleteOwnProject: true},
	Admin:  {Read: true, Write: true, DeleteOwnProject: true, Moderate: true, ManageMembers: true, ManageWebhooks: true},
	Owner:  {Read: true, Write: true, DeleteOwnProject: true, Moderate: true, ManageMembers: true, ManageWebhooks: true},
}

// May reports whether the role allows the action. An unknown role allows nothing.
func (r Role) May(a Action) bool { return permissions[r][a] }

// ranks orders the roles; what is no role has rank 0.
var ranks = map[Role]int{Viewer: 1, Member: 2, Admin: 3, Owner: 4}

// Covers reports whether other is no higher than the role: nobody grants, changes or removes a role above their own.
func (r Role) Covers(other Role) bool { return ranks[other] > 0 && ranks[r] >= ranks[other] }
