package webhook

import (
	"context"
	"errors"

	"devplatform/shared/db"
	"devplatform/shared/workspace"
)

// places reads who is who, where: the items of the projects table that decide on webhooks. Nothing here is written by this slice.
type places struct{ projects db.Table }

// memberships are a user's places in all their workspaces.
func (p places) memberships(ctx context.Context, userID string) ([]workspace.Membership, error) {
	items, err := p.projects.QueryAll(ctx, db.MembershipsOf(userID))
	if err != nil {
		return nil, err
	}
	return db.DecodeAll[workspace.Membership](items)
}

// role is what a user may do in a workspace, "" if they are not in it or there is none.
func (p places) role(ctx context.Context, workspaceID, userID string) (workspace.Role, error) {
	item, err := p.projects.Get(ctx, db.MemberKey(workspaceID, userID))
	if errors.Is(err, db.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	member, err := db.Decode[workspace.Membership](item)
	return member.Role, err
}

// projectPlace is what decides whether somebody knows of a project: attributes of the records that package project stores.
type projectPlace struct {
	WorkspaceID string `dynamodbav:"workspaceId"`
	Visibility  string `dynamodbav:"visibility"`
	CreatedBy   string `dynamodbav:"createdBy"`
}

// The visibilities that decide here; package project has them all.
const (
	privateProject = "private"
	publicProject  = "public"
)

// project reads where a project is, and what a user may do there. Error: db.ErrNotFound.
func (p places) project(ctx context.Context, projectID, userID string) (place projectPlace, role workspace.Role, err error) {
	item, err := p.projects.Get(ctx, db.TreeKey(projectID))
	if err != nil {
		return place, "", err
	}
	tree, err := db.Decode[projectPlace](item)
	if err != nil {
		return place, "", err
	}
	record, member := db.ProjectKey(tree.WorkspaceID, projectID), db.MemberKey(tree.WorkspaceID, userID)
	found, err := p.projects.BatchGet(ctx, record, member)
	if err != nil {
		return place, "", err
	}
	if found[record] == nil {
		return place, "", db.ErrNotFound // deleted between the two reads
	}
	if place, err = db.Decode[projectPlace](found[record]); err != nil || found[member] == nil {
		return place, "", err
	}
	m, err := db.Decode[workspace.Membership](found[member])
	return place, m.Role, err
}

// knownTo reports whether a project exists for a user with a role in its workspace (API.md §4).
func (p projectPlace) knownTo(userID string, role workspace.Role) bool {
	switch {
	case p.Visibility == publicProject, role.May(workspace.Moderate):
		return true
	case !role.May(workspace.Read):
		return false
	}
	return p.Visibility != privateProject || p.CreatedBy == userID
}
