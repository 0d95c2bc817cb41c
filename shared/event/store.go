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

// Retention is the time after which events expire.
const Retention = 30 * 24 * time.Hour

// Record is a stored event: an item of the events table, and the new image in that table's stream.
type Record struct {
	ID          string `dynamodbav:"id"`
	Type        Type   `dynamodbav:"type"`
	WorkspaceID string `dynamodbav:"workspaceId"`
	ProjectID   string `dynamodbav:"projectId,omitempty"`
	Payload     Text   `dynamodbav:"payload"`
	// Replaced is the file content that the change replaced. The cleanup sets its expiry. Replaced is nil if the change
	// replaced no content, or if the replaced content is still in use.
	Replaced  *Content `dynamodbav:"replaced,omitempty"`
	ExpiresAt int64    `dynamodbav:"expiresAt"` // seconds since 1970
}

// FromItem decodes a stored event, or its new image in the events table's stream. It returns an error if the item is
// not a complete event.
func FromItem(item db.Item) (Record, error) {
	r, err := db.Decode[Record](item)
	if err != nil {
		return Record{}, fmt.Errorf("event: record: %w", err)
	}
	if !id.Event.Valid(r.ID) || r.Type == "" || r.WorkspaceID == "" || r.Payload == "" {
		return Record{}, errors.New("event: record: id, type, workspaceId or payload is missing or not valid")
	}
	return r, nil
}

// Timestamp returns the timestamp in the payload. The time in the event's ID may be some milliseconds later.
// Timestamp returns an error if the payload has no valid timestamp.
func (r Record) Timestamp() (time.Time, error) {
	var payload struct {
		Timestamp *clock.Timestamp `json:"timestamp"`
	}
	if err := json.Unmarshal([]byte(r.Payload), &payload); err != nil || payload.Timestamp == nil {
		// The decoder's error may contain a part of the payload.
		return time.Time{}, errors.New("event: record: the payload has no valid timestamp")
	}
	return payload.Timestamp.Time(), nil
}

// Content identifies a stored file content of the event's project.
type Content struct {
	ID     string `dynamodbav:"id"`
	Chunks int    `dynamodbav:"chunks"`
}

// Change is a change that emits an event.
type Change struct {
	Type        Type
	WorkspaceID string
	ProjectID   string // "" if the change belongs to no project
	Data        Data
	Replaced    *Content
}

// Outbox creates the writes that store events.
type Outbox struct {
	Events db.Table
	IDs    *id.Generator
}

// Add returns the write that stores the event of a change. The write must be part of the transaction of the change. at
// is the time of the change. Add returns an error if the actor, the subject or the workspace is missing, or if changes
// do not emit events of the type.
func (o Outbox) Add(c Change, at time.Time) (db.Write, error) {
	if c.Type == WebhookTest || !c.Type.accepts(c.Data) || c.WorkspaceID == "" {
		return db.Write{}, fmt.Errorf("event: %q: the actor, the workspace or the subject is missing, or changes do not emit this type", c.Type)
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
	return o.Events.Create(KeyOf(c.WorkspaceID, c.ProjectID, payload.ID), item), nil
}

// KeyOf returns the key of an event in the events table. projectID is "" if the event belongs to no project.
func KeyOf(workspaceID, projectID, eventID string) db.Key {
	if projectID == "" {
		return db.WorkspaceEventKey(workspaceID, eventID)
	}
	return db.ProjectEventKey(projectID, eventID)
}
