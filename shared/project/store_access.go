package project

import (
	"context"

	"devplatform/shared/db"
	"devplatform/shared/workspace"
)

// open reads a project by its id: first what tells its workspace, then the record, the workspace and the user's place in it.
// Error: db.ErrNotFound, when there is no such project.
func (s store) open(ctx context.Context, projectID, userID string, more []db.Key) (opened, error) {
	o, err := s.readTree(ctx, projectID, more)
	if err != nil {
		return o, err
	}
	_, err = s.readPlace(ctx, projectID, userID, &o, nil)
	return o, err
}

// readTree reads what tells a project's workspace, and more items of the project's partition with it.
// Error: db.ErrNotFound, when there is no such project.
func (s store) readTree(ctx context.Context, projectID string, more []db.Key) (o opened, err error) {
	tree := db.TreeKey(projectID)
	if o.found, err = s.projects.BatchGet(ctx, append(more, tree)...); err != nil {
		return o, err
	}
	if o.found[tree] == nil {
		return o, db.ErrNotFound
	}
	o.tree, err = db.Decode[treeRecord](o.found[tree])
	return o, err
}

// readPlace reads the project's record, the workspace and the user's place in it into o, whose tree is known, and more items
// of the table with them.
func (s store) readPlace(ctx context.Context, projectID, userID string, o *opened, more []db.Key) (map[db.Key]db.Item, error) {
	member := db.MemberKey(o.tree.WorkspaceID, userID)
	project := db.ProjectKey(o.tree.WorkspaceID, projectID)
	place := db.WorkspaceKey(o.tree.WorkspaceID)
	found, err := s.projects.BatchGet(ctx, append(more, member, project, place)...)
	if err != nil {
		return nil, err
	}
	if found[project] == nil || found[place] == nil {
		return nil, db.ErrNotFound // deleted between the two reads
	}
	if o.project, err = db.Decode[projectRecord](found[project]); err != nil {
		return nil, err
	}
	if o.place, err = db.Decode[workspace.Workspace](found[place]); err != nil || found[member] == nil {
		return found, err
	}
	o.member, err = db.Decode[workspace.Membership](found[member])
	return found, err
}
