package project

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/go-json-experiment/json"

	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/lambdafn"
	"devplatform/shared/project/content"
)

// CleanupDeps are what the clean-up is built on.
type CleanupDeps struct {
	DB            *db.Client
	Projects      db.Table
	Contents      db.Table
	Conversations db.Table
	Clock         clock.Clock
	Logger        *slog.Logger
}

// Cleanup does what no request waits for: it removes what a deleted project held, and lets a content that has gone out of
// use expire together with the version that still shows it. Events tell it what to do, at least once and perhaps late; all it
// does can be done again, and can be broken off anywhere and begun anew.
//
// That a content named as replaced is out of use for good holds by how contents are written: each save stores its bytes under a new
// id, also when it restores a version or makes a deleted file anew. A rename alone carries an id on, from the one file that has
// it to another, in a transaction that makes the one and deletes the other; its events name no content. So an id is in
// at most one file, and the event that names it was written, on the condition that the file still had it, in the very transaction
// that took it away. No later write brings it back. What shows it still are versions, none of which outlives the event by
// more than the 30 days that the chunks are given. However late or often the event comes, it gives the same moment.
type Cleanup struct {
	store  cleanupStore
	now    clock.Clock
	logger *slog.Logger
}

// NewCleanup builds the clean-up. It does no input or output.
func NewCleanup(d CleanupDeps) *Cleanup {
	return &Cleanup{
		store: cleanupStore{client: d.DB, projects: d.Projects, contents: d.Contents, conversations: d.Conversations, pause: pause},
		now:   d.Clock, logger: d.Logger,
	}
}

// Handle does what a record of the events' stream asks for, which may be nothing. Errors: lambdafn.ErrPoison, of one that makes no sense;
// those of storage's classes, where trying again goes on where it broke off.
func (c *Cleanup) Handle(ctx context.Context, r lambdafn.StreamRecord) error {
	if r.EventName != "INSERT" { // an event is never changed, and expires
		return nil
	}
	happened, err := event.FromItem(r.NewImage)
	if err != nil {
		return fmt.Errorf("%w: nothing was cleaned up: %w", lambdafn.ErrPoison, err)
	}
	switch happened.Type {
	case event.ProjectDeleted:
		err = c.remove(ctx, happened.ProjectID)
	case event.FileUpdated, event.FileDeleted:
		err = c.expire(ctx, happened)
	default:
		return nil
	}
	if errors.Is(err, errEvent) {
		return fmt.Errorf("%w: nothing was cleaned up of %q for %s: %w", lambdafn.ErrPoison, happened.ProjectID, happened.ID, err)
	}
	return err
}

// errEvent says that an event can't be what a change has written.
var errEvent = errors.New("project: no event of a change")

// expire gives the chunks of the content that an event names as replaced 30 days from the event on. Errors: errEvent, storage's.
func (c *Cleanup) expire(ctx context.Context, happened event.Record) error {
	if happened.Replaced == nil {
		return nil
	}
	var payload struct {
		Timestamp clock.Timestamp `json:"timestamp"`
	}
	if err := json.Unmarshal([]byte(happened.Payload), &payload); err != nil || payload.Timestamp.IsZero() {
		return fmt.Errorf("%w: no time: %w", errEvent, err)
	}
	chunks := chunkKeys(happened.ProjectID, contentRef{happened.Replaced.ID, happened.Replaced.Chunks})
	if len(chunks) != happened.Replaced.Chunks {
		return fmt.Errorf("%w: a content %q of %d chunks", errEvent, happened.Replaced.ID, happened.Replaced.Chunks)
	}
	return c.store.expireChunks(ctx, chunks, payload.Timestamp.Time().Add(versionRetention))
}

// remove takes away everything that is kept of a project which is gone. Errors: errEvent, if it is not; storage's.
//
// A record goes after the chunks that it names, so that these can be found again after an interruption without the contents, of
// up to 200 MiB, being read. What no record names (chunks whose version has expired before them) is found in the end.
func (c *Cleanup) remove(ctx context.Context, projectID string) error {
	switch there, err := c.store.exists(ctx, projectID); {
	case err != nil:
		return err
	case there:
		return fmt.Errorf("%w: the project is there", errEvent)
	}
	began, ctx := c.now(), db.CountCalls(ctx)
	var sum removed
	after := db.Key{}
	for {
		part, next, err := c.store.held(ctx, projectID, after)
		if err != nil {
			return err
		}
		if err := c.store.remove(ctx, c.store.contents, part.chunks); err != nil {
			return err
		}
		if err := c.store.remove(ctx, c.store.projects, part.records); err != nil {
			return err
		}
		sum.add(len(part.records), len(part.chunks), 0)
		if next.IsZero() {
			break
		}
		after = next
	}
	if err := c.sweep(ctx, projectID, &sum); err != nil {
		return err
	}
	c.logger.InfoContext(ctx, "a deleted project was cleaned up", "project", projectID,
		"records", sum.records, "chunks", sum.chunks, "messages", sum.messages,
		"durationMs", c.now().Sub(began).Milliseconds(), "dynamodbCalls", db.Calls(ctx))
	return nil
}

// sweep removes what is left under the project's id, in every table that may have something.
func (c *Cleanup) sweep(ctx context.Context, projectID string, sum *removed) error {
	contents, err := c.store.sweep(ctx, c.store.contents, projectID)
	if err != nil {
		return err
	}
	messages, err := c.store.sweep(ctx, c.store.conversations, projectID)
	if err != nil {
		return err
	}
	records, err := c.store.sweep(ctx, c.store.projects, projectID)
	sum.add(records, contents, messages)
	return err
}

// removed counts what was taken away, for the log; what had gone before is counted, too, where something named it.
type removed struct{ records, chunks, messages int }

func (r *removed) add(records, chunks, messages int) {
	r.records, r.chunks, r.messages = r.records+records, r.chunks+chunks, r.messages+messages
}

// contentRef is what a file's or a version's record says of its content; other records have none.
type contentRef struct {
	Content string `dynamodbav:"content"`
	Chunks  int    `dynamodbav:"chunks"`
}

// chunkKeys address the chunks of a content; none of what can't be one.
func chunkKeys(projectID string, ref contentRef) []db.Key {
	if ref.Chunks < 0 || ref.Chunks > content.MaxChunks {
		return nil
	}
	keys := make([]db.Key, 0, ref.Chunks)
	for n := range ref.Chunks {
		key := db.ChunkKey(projectID, ref.Content, n)
		if key.IsZero() {
			return nil
		}
		keys = append(keys, key)
	}
	return keys
}
