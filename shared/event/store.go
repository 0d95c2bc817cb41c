package event

import (
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"

	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/id"
)

// Retention is how long events are kept.
const Retention = 30 * 24 * time.Hour

// Record is an event as stored: an item of the events table, and the new image in that table's stream. The payload is
// kept as the text that subscribers are sent.
type Record struct {
	ID          string `dynamodbav:"id"`
	Type        Type   `dynamodbav:"type"`
	WorkspaceID string `dynamodbav:"workspaceId"`
	ProjectID   string `dynamodbav:"projectId,omitempty"`
	Payload     Text   `dynamodbav:"payload"`
	// Replaced is the content that the change has put out of use, for the clean-up; nil if it is still in use or there is none.
	Replaced  *Content `dynamodbav:"replaced,omitempty"`
	ExpiresAt int64    `dynamodbav:"expiresAt"` // seconds since 1970
}

// FromItem reads a stored event, or the new image that the events table's stream shows of one. Error: it is none.
func FromItem(item db.Item) (Record, error) {
	r, err := db.Decode[Record](item)
	if err != nil {
		return Record{}, fmt.Errorf("event: record: %w", err)
	}
	if !id.Event.Valid(r.ID) || r.Type == "" || r.WorkspaceID == "" || r.Payload == "" {
		return Record{}, errors.New("event: record: id, type, workspace or payload is missing")
	}
	return r, nil
}

// Happened is when the event happened, as every subscriber is told. The time in its id may be some milliseconds before that.
// Error: the payload does not say.
func (r Record) Happened() (time.Time, error) {
	var told struct {
		Timestamp *clock.Timestamp `json:"timestamp"`
	}
	if err := json.Unmarshal([]byte(r.Payload), &told); err != nil || told.Timestamp == nil {
		return time.Time{}, errors.New("event: record: the payload has no readable timestamp") // the decoder's error may quote
	}
	return told.Timestamp.Time(), nil
}

// Content names a stored content: a project's id is known from the event.
type Content struct {
	ID     string `dynamodbav:"id"`
	Chunks int    `dynamodbav:"chunks"`
}

// Change is an event to be.
type Change struct {
	Type        Type
	WorkspaceID string
	ProjectID   string // "" for what belongs to no project
	Data        Data
	Replaced    *Content
}

// Outbox makes the writes that carry events.
type Outbox struct {
	Events db.Table
	IDs    *id.Generator
}

// Add is the write of the event that the change, made at a time, is. It goes into the change's own transaction.
// Error: an event without its actor or without what its type is about, which subscribers rely on.
func (o Outbox) Add(c Change, at time.Time) (db.Write, error) {
	if kinds[c.Type].from != change || !c.Type.complete(c.Data) || c.WorkspaceID == "" {
		return db.Write{}, fmt.Errorf("event: %q is no change's, or lacks its actor, its workspace or what it is about", c.Type)
	}
	payload := Payload{ID: o.IDs.New(id.Event), Type: c.Type, Timestamp: clock.Stamp(at), Data: c.Data}
	text, err := payload.text()
	if err != nil {
		return db.Write{}, err
	}
	item, err := db.Encode(Record{
		ID: payload.ID, Type: c.Type, WorkspaceID: c.WorkspaceID, ProjectID: c.ProjectID,
		Payload: text, Replaced: c.Replaced, ExpiresAt: at.Add(Retention).Unix(),
	})
	if err != nil {
		return db.Write{}, err
	}
	key := db.ProjectEventKey(c.ProjectID, payload.ID)
	if c.ProjectID == "" {
		key = db.WorkspaceEventKey(c.WorkspaceID, payload.ID)
	}
	return o.Events.Create(key, item), nil
}
