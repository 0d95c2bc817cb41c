// Package cleanup removes what deleted projects leave in storage, and lets replaced contents expire. It does what no
// request waits for, after the events of the changes.
package cleanup

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"devplatform/shared/awsclient"
	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/lambdafn"
	"devplatform/shared/project/content"
)

// Deps are the dependencies of a Cleanup.
type Deps struct {
	DB            *db.Client
	Projects      db.Table
	Contents      db.Table
	Conversations db.Table
	Clock         clock.Clock
	Logger        *slog.Logger
	// Sleep waits, and reports false if the context ended first. nil means awsclient.Sleep; tests do not wait.
	Sleep func(context.Context, time.Duration) bool
}

// Cleanup handles the events of changes. Events arrive at least once, and may be late. Every step can be repeated, and
// can be interrupted at any point.
//
// A content that an event names as replaced is never used again. Each save stores its bytes under a new ID, also a
// save that restores an old version. Only a rename reuses an ID: in one transaction it creates a file and deletes the
// other one, and its events name no content. So at most one file has an ID, and the event that names the ID was
// written in the transaction that took it from that file. Only replaced versions still refer to the content. They
// expire 30 days after the event at the latest, like its chunks. The expiry depends only on the event, so a late or
// repeated event has the same result.
type Cleanup struct {
	store  store
	now    clock.Clock
	logger *slog.Logger
}

// New returns a Cleanup. It does no input or output.
func New(d Deps) *Cleanup {
	if d.Sleep == nil {
		d.Sleep = awsclient.Sleep
	}
	return &Cleanup{
		store: store{
			client: d.DB, projects: d.Projects, contents: d.Contents, conversations: d.Conversations, sleep: d.Sleep,
		},
		now: d.Clock, logger: d.Logger,
	}
}

// Handle does what a record of the events table's stream requires, which may be nothing. Errors: lambdafn.ErrPoison
// for an invalid event; db.ErrUnavailable, after which a retry continues where this call stopped.
func (c *Cleanup) Handle(ctx context.Context, r lambdafn.StreamRecord) error {
	if r.EventName != "INSERT" { // events never change; they only expire
		return nil
	}
	e, err := event.FromItem(r.NewImage)
	if err != nil {
		return fmt.Errorf("%w: nothing was cleaned up: %w", lambdafn.ErrPoison, err)
	}
	switch e.Type {
	case event.ProjectDeleted:
		err = c.remove(ctx, e.ProjectID)
	case event.FileUpdated, event.FileDeleted:
		err = c.expire(ctx, e)
	default:
		return nil
	}
	if errors.Is(err, errInvalidEvent) {
		return fmt.Errorf("%w: nothing was cleaned up of %q for %s: %w", lambdafn.ErrPoison, e.ProjectID, e.ID, err)
	}
	return err
}

// errInvalidEvent reports an event that no change can have written.
var errInvalidEvent = errors.New("cleanup: invalid event")

// expire lets the chunks of the content that an event names as replaced expire content.Retention after the event.
// Errors: errInvalidEvent; db.ErrUnavailable.
func (c *Cleanup) expire(ctx context.Context, e event.Record) error {
	if e.Replaced == nil {
		return nil
	}
	at, err := e.Happened()
	if err != nil {
		return fmt.Errorf("%w: %w", errInvalidEvent, err)
	}
	if at.IsZero() {
		return fmt.Errorf("%w: its timestamp is zero", errInvalidEvent)
	}
	chunks := content.Ref{ContentID: e.Replaced.ID, Chunks: e.Replaced.Chunks}.Keys(e.ProjectID)
	if len(chunks) != e.Replaced.Chunks {
		return fmt.Errorf("%w: a content %q of %d chunks", errInvalidEvent, e.Replaced.ID, e.Replaced.Chunks)
	}
	return c.store.expireChunks(ctx, chunks, at.Add(content.Retention))
}

// remove deletes everything that is stored of a deleted project. Errors: errInvalidEvent if the project exists;
// db.ErrUnavailable.
//
// A record is deleted after the chunks that it names. So after an interruption the chunks can still be found without
// reading the contents, which may be 200 MiB. In the end, sweep finds chunks that no record names, because their
// version has expired before them.
func (c *Cleanup) remove(ctx context.Context, projectID string) error {
	exists, err := c.store.exists(ctx, projectID)
	if err != nil {
		return err
	}
	if exists {
		return fmt.Errorf("%w: the project exists", errInvalidEvent)
	}
	began, ctx := c.now(), db.CountCalls(ctx)
	records, chunks, err := c.store.removeRecords(ctx, projectID)
	if err != nil {
		return err
	}
	tables := []db.Table{c.store.contents, c.store.conversations, c.store.projects}
	swept := make([]int, len(tables))
	for i, table := range tables {
		if swept[i], err = c.store.sweep(ctx, table, projectID); err != nil {
			return err
		}
	}
	c.logger.InfoContext(ctx, "a deleted project was cleaned up", "project", projectID,
		"records", records+swept[2], "chunks", chunks+swept[0], "messages", swept[1],
		"durationMs", c.now().Sub(began).Milliseconds(), "dynamodbCalls", db.Calls(ctx))
	return nil
}
