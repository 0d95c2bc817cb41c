package site

import (
	"context"
	"errors"
	"sync"
	"time"

	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/workspace/record"
)

const (
	// workspaceInterval is the minimum time between two reads of a workspace's record.
	workspaceInterval = 30 * time.Second
	// workspaceValid is the time for which a record that was read decides, if no later read succeeds. So a site is
	// offline within this time after its workspace has ended.
	workspaceValid = time.Minute
	// maxWorkspaces is the maximum number of records in memory. The next record replaces them all.
	maxWorkspaces = 10_000
)

// workspaces reads the records of the workspaces of sites, and keeps them in memory for workspaceInterval.
type workspaces struct {
	projects db.Table
	clock    clock.Clock

	mu   sync.Mutex
	byID map[string]knownWorkspace
}

// knownWorkspace is a record as it was read. It is nil if the workspace had ended.
type knownWorkspace struct {
	record *record.Workspace
	readAt time.Time
}

// get returns the record of a workspace, nil if the workspace has ended. Error: db.ErrUnavailable if the record cannot
// be read, and was last read more than workspaceValid ago.
func (w *workspaces) get(ctx context.Context, workspaceID string) (*record.Workspace, error) {
	now := w.clock()
	w.mu.Lock()
	known := w.byID[workspaceID]
	w.mu.Unlock()
	if now.Sub(known.readAt) < workspaceInterval {
		return known.record, nil
	}
	limited, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	item, err := w.projects.Get(limited, db.WorkspaceKey(workspaceID))
	if errors.Is(err, db.ErrNotFound) {
		item, err = nil, nil
	}
	var read *record.Workspace
	if err == nil {
		read, err = record.Decode(item)
	}
	if err != nil {
		if now.Sub(known.readAt) < workspaceValid {
			return known.record, nil
		}
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.byID) >= maxWorkspaces {
		clear(w.byID)
	}
	w.byID[workspaceID] = knownWorkspace{read, now}
	return read, nil
}
