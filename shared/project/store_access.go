package project

import (
	"context"

	"devplatform/shared/db"
	"devplatform/shared/workspace"
)

// open reads a project by its id: first what tells its workspace, then the record, the workspace and the user's place in it.
// Error: db.ErrNotFound, when there is no such project.
func (s store) open(ctx context.Context, projectID, userID string, more []db.Key) (opened, error) {
	var o opened
	treeKey := db.TreeKey(projectID)
	found, err := s.projects.BatchGet(ctx, append([]db.Key{treeKey}, more...)...)
	if err != nil {
		return o, err
	}
	if found[treeKey] == nil {
		return o, db.ErrNotFound
	}
	o.found = found
	if o.tree, err = decode[treeRecord](found[treeKey]); err != nil {
		return o, err
	}
	member := db.MemberKey(o.tree.WorkspaceID, userID)
	project := db.ProjectKey(o.tree.WorkspaceID, projectID)
	place := db.WorkspaceKey(o.tree.WorkspaceID)
	items, err := s.projects.BatchGet(ctx, member, project, place)
	if err != nil {
		return o, err
	}
	if items[project] == nil || items[place] == nil {
		return o, db.ErrNotFound // deleted between the two reads
	}
	if o.project, err = decode[projectRecord](items[project]); err != nil {
		return o, err
	}
	if o.place, err = decode[workspace.Workspace](items[place]); err != nil || items[member] == nil {
		return o, err
	}
	o.member, err = decode[workspace.Membership](items[member])
	return o, err
}
