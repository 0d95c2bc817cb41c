// Package record has the record of a workspace, for everything that acts for a workspace without a session: deliveries
// of webhooks, builds, exports and sites. The record decides whether they may act. A workspace without a record has
// ended: its data is removed later, and until then nothing may use it. The package is separate from package workspace,
// which links the HTTP edge, so that the functions of streams and queues do not link it.
package record

import (
	"context"

	"devplatform/shared/clock"
	"devplatform/shared/db"
)

// Workspace is the record of a workspace, in the projects table under db.WorkspaceKey. The attribute names are part of
// the data format.
type Workspace struct {
	ID        string          `dynamodbav:"id"`
	Name      string          `dynamodbav:"name"`
	Personal  bool            `dynamodbav:"personal"`
	Owners    int             `dynamodbav:"owners"`   // number of owners, at least one
	Members   int             `dynamodbav:"members"`  // number of members, including the owners
	Projects  int             `dynamodbav:"projects"` // number of projects
	CreatedAt clock.Timestamp `dynamodbav:"createdAt"`

	// SuspendedOwners is the number of owners whose accounts are suspended.
	SuspendedOwners int `dynamodbav:"suspendedOwners,omitempty"`
}

// IsReadOnly reports whether the accounts of all owners are suspended. Then nobody can change the workspace, nothing is
// built or delivered, and its sites show the page of a blocked site.
func (w Workspace) IsReadOnly() bool { return w.SuspendedOwners > 0 && w.SuspendedOwners >= w.Owners }

// MayAct reports whether deliveries may be made and builds may run for the workspace. A nil Workspace has ended.
func (w *Workspace) MayAct() bool { return w != nil && !w.IsReadOnly() }

// Decode decodes the record of a workspace. It returns nil for a nil item, which means that the workspace has ended.
func Decode(item db.Item) (*Workspace, error) {
	if item == nil {
		return nil, nil
	}
	w, err := db.Decode[Workspace](item)
	return &w, err
}

// Read reads the records of workspaces from the projects table, and returns them by ID. It omits workspaces that have
// ended, and damaged records. It makes one call to storage for each 100 workspaces. Callers that read other items at
// the same time read db.WorkspaceKey with them, and call Decode.
func Read(ctx context.Context, projects db.Table, workspaceIDs ...string) (map[string]Workspace, error) {
	keys := make([]db.Key, len(workspaceIDs))
	for i, workspaceID := range workspaceIDs {
		keys[i] = db.WorkspaceKey(workspaceID)
	}
	items, err := projects.BatchGet(ctx, keys...)
	if err != nil {
		return nil, err
	}
	found := make(map[string]Workspace, len(items))
	for i, key := range keys {
		if items[key] == nil {
			continue
		}
		if w, ok := db.DecodeListed(ctx, items[key], db.Decode[Workspace]); ok {
			found[workspaceIDs[i]] = w
		}
	}
	return found, nil
}
