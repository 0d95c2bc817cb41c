package workspace

import "devplatform/shared/httpapi"

var tag = httpapi.Tag{
	Name: "Workspaces",
	Description: "A workspace has projects, webhooks and members. The role of a member defines what the member may do. Every user has a personal workspace. " +
		"The roles are owner, admin, member and viewer. Each role includes the permissions of the roles after it.",
}

// Register adds the endpoints of workspaces, their members and invitations.
func (s *Service) Register(r *httpapi.Routes) {
	s.registerWorkspaces(r)
	s.registerMembers(r)
	s.registerInvitations(r)
}
