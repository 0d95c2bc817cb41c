// Package cleanup removes the stored data of deleted projects, sets the expiry of replaced file contents, and removes
// objects without a record. It runs in the background. The events of these changes and a schedule start it.
package cleanup

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"devplatform/shared/archive"
	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/lambdafn"
	"devplatform/shared/objectstore"
	"devplatform/shared/project/content"
	"devplatform/shared/removal"
)

// Deps are the dependencies of a Cleanup.
type Deps struct {
	DB            *db.Client
	Projects      db.Table
	Contents      db.Table
	Conversations db.Table
	Bucket        objectstore.Bucket
	Clock         clock.Clock
	Logger        *slog.Logger
	// Sleep waits, and returns false if the context ends first. nil means retry.Sleep. Tests replace it.
	Sleep func(context.Context, time.Duration) bool
}

// Cleanup handles the events of changes. Events are delivered at least once and can be late. Every step is idempotent
// and can be interrupted at any point.
//
// The content that an event reports as replaced is never used again. Every save stores its bytes under a new content
// ID, even a save that restores an old version. Only a rename reuses a content ID: one transaction creates the new file
// and deletes the old file, and its events report no replaced content. So at most one file has a given content ID, and
// the event that reports it as replaced was written by the transaction that removed it from that file. After that, only
// replaced versions refer to the content. They expire at most 30 days after the event, and so do the chunks. The expiry
// depends only on the event, so a late or repeated event has the same result. Contents that are objects have no such
// events: Sweep removes them.
type Cleanup struct {
	store  store
	now    clock.Clock
	logger *slog.Logger
}

// New returns a Cleanup. It makes no calls to storage.
func New(d Deps) *Cleanup {
	return &Cleanup{
		store: store{
			client: d.DB, projects: d.Projects, contents: d.Contents, conversations: d.Conversations, bucket: d.Bucket,
			Deleter: removal.Deleter{Sleep: d.Sleep},
		},
		now: d.Clock, logger: d.Logger,
	}
}

// Handle handles a record of the events table's stream. Most records need no cleanup. Errors: lambdafn.ErrPoison for an
// invalid event; db.ErrUnavailable, after which a retry continues where this call stopped.
func (c *Cleanup) Handle(ctx context.Context, r lambdafn.StreamRecord) error {
	if r.EventName != "INSERT" { // after its creation, an event is never updated, only deleted
		return nil
	}
	e, err := event.FromItem(r.NewImage)
	if err != nil {
		return fmt.Errorf("%w: cleanup: decoding an event: %w", lambdafn.ErrPoison, err)
	}
	switch e.Type {
	case event.ProjectDeleted:
		err = c.RemoveProject(ctx, e.ProjectID)
	case event.FileUpdated, event.FileDeleted:
		err = c.expireReplaced(ctx, e)
	default:
		return nil
	}
	if errors.Is(err, errInvalidEvent) {
		return fmt.Errorf("%w: cleanup of project %q for event %s: %w", lambdafn.ErrPoison, e.ProjectID, e.ID, err)
	}
	return err
}

// errInvalidEvent is returned for an event that is malformed or contradicts the stored data.
var errInvalidEvent = errors.New("cleanup: invalid event")

// expireReplaced sets the expiry of the content that an event reports as replaced. The content expires
// content.Retention after the time of the event. Errors: errInvalidEvent; db.ErrUnavailable.
func (c *Cleanup) expireReplaced(ctx context.Context, e event.Record) error {
	if e.Replaced == nil || e.Replaced.Chunks == 0 {
		return nil
	}
	at, err := e.Timestamp()
	if err != nil {
		return fmt.Errorf("%w: %w", errInvalidEvent, err)
	}
	if at.IsZero() {
		return fmt.Errorf("%w: the timestamp is zero", errInvalidEvent)
	}
	chunk := content.Ref{ContentID: e.Replaced.ID, Chunks: e.Replaced.Chunks}.ChunkKey(e.ProjectID)
	if chunk.IsZero() {
		return fmt.Errorf("%w: content ID %q with %d chunks", errInvalidEvent, e.Replaced.ID, e.Replaced.Chunks)
	}
	return c.store.expireChunk(ctx, chunk, at.Add(content.Retention))
}

// RemoveProject deletes all stored data of a deleted project, except its jobs. A project is deleted if its tree does
// not exist. Errors: errInvalidEvent if the project exists; db.ErrUnavailable.
//
// The records are the project's items in the projects table. A record is deleted after its chunks. So after an
// interruption the remaining chunks can still be found through the records, without reading up to 200 MiB of contents.
// Finally, DeleteAll deletes chunks without a record: the chunks of versions that expired earlier. If a save is in
// progress, its object can be stored after the project's objects were removed. Its transaction fails, and Sweep removes
// the object.
func (c *Cleanup) RemoveProject(ctx context.Context, projectID string) error {
	exists, err := c.store.exists(ctx, projectID)
	if err != nil {
		return err
	}
	if exists {
		return fmt.Errorf("%w: the project exists", errInvalidEvent)
	}
	began, ctx := c.now(), db.CountCalls(ctx)
	removed, err := c.store.removeRecords(ctx, projectID)
	if err != nil {
		return err
	}
	objects := 0
	for _, prefix := range []string{content.ProjectObjects(projectID), archive.Objects(projectID)} {
		n, err := c.store.bucket.DeletePrefix(ctx, prefix)
		if err != nil {
			return err
		}
		objects += n
	}
	messages := 0
	for _, rest := range []struct {
		table db.Table
		count *int
	}{{c.store.contents, &removed.chunks}, {c.store.conversations, &messages}, {c.store.projects, &removed.records}} {
		n, err := c.store.DeleteAll(ctx, rest.table, db.ProjectPartition(projectID), db.Key.IsJob)
		if err != nil {
			return err
		}
		*rest.count += n
	}
	c.logger.InfoContext(ctx, "a deleted project was cleaned up", "project", projectID,
		"records", removed.records, "chunks", removed.chunks, "objects", removed.objects+objects, "messages", messages,
		"durationMs", c.now().Sub(began).Milliseconds(), "dynamodbCalls", db.Calls(ctx))
	return nil
}
