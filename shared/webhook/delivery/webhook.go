package delivery

import (
	"errors"
	"slices"
	"time"

	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/id"
)

// Webhook is a subscription of a workspace, as stored. The attribute names are part of the data format.
//
// Package webhook changes the settings, on the condition of Revision. This package updates the attributes of Health and
// disables the webhook, on the condition of Generation. It also updates the attributes of Turns.
type Webhook struct {
	ID          string `dynamodbav:"id"`
	WorkspaceID string `dynamodbav:"workspaceId"`
	// AccountID is the ID of the user who owned the workspace when the webhook was created, of several owners the first
	// one. The deliveries of one account share the capacity of the lanes.
	AccountID   string   `dynamodbav:"accountId"`
	ProjectID   string   `dynamodbav:"projectId,omitempty"` // only events of this project; "": all events
	URL         string   `dynamodbav:"url"`
	Events      []string `dynamodbav:"events"` // types, groups such as project.*, or *
	Description string   `dynamodbav:"description"`
	Active      bool     `dynamodbav:"active"`
	// DeactivatedAt is the time of the latest deactivation by a user; nil if there was none. ActivatedAt is the time of
	// the activation after it; nil if there was none. The webhook receives no events that occurred between these times.
	DeactivatedAt *clock.Timestamp `dynamodbav:"deactivatedAt,omitempty"`
	ActivatedAt   *clock.Timestamp `dynamodbav:"activatedAt,omitempty"`
	// DisabledReason is the human-readable reason why the service disabled the webhook. It is "" if the service did
	// not disable it.
	DisabledReason string `dynamodbav:"disabledReason,omitempty"`
	// Secret is the current secret, sealed. Previous contains the replaced secrets that are still valid, newest first.
	Secret   string           `dynamodbav:"secret"`
	Previous []PreviousSecret `dynamodbav:"previous,omitempty"`
	// CreatedBy is the ID of the user who created the webhook, or who activated it later. While the webhook is active,
	// this user is an admin or owner of the workspace (see package revocation). CreatedByName is the username.
	CreatedBy     string          `dynamodbav:"createdBy"`
	CreatedByName string          `dynamodbav:"createdByName"`
	CreatedAt     clock.Timestamp `dynamodbav:"createdAt"`
	UpdatedAt     clock.Timestamp `dynamodbav:"updatedAt"`
	Revision      int             `dynamodbav:"revision"` // counts the changes of the settings
	// Generation counts the changes after which the endpoint is treated as a new one: a new URL, or an activation. The
	// result of an attempt does not change the health of a later generation.
	Generation int `dynamodbav:"generation"`
	Health
	Turns
}

// PreviousSecret is a secret that was replaced, sealed.
type PreviousSecret struct {
	Sealed string          `dynamodbav:"sealed"`
	Until  clock.Timestamp `dynamodbav:"until"`
}

// DecodeWebhook decodes a stored webhook. It returns an error if the item is not a complete webhook, or if its IDs are
// not valid or do not match its key. The service could not store its deliveries or send messages about it.
func DecodeWebhook(item db.Item) (Webhook, error) {
	w, err := db.Decode[Webhook](item)
	if err == nil && (db.WebhookKey(w.WorkspaceID, w.ID) != db.KeyOf(item) || !id.User.Valid(w.AccountID)) {
		err = errors.New("delivery: the IDs of a stored webhook are not valid")
	}
	return w, err
}

// wants reports whether the webhook subscribes to an event of its workspace. at is the time of the event. A webhook
// that the service has disabled still subscribes: its deliveries are stored as failed, so that they can be recovered.
func (w Webhook) wants(e event.Record, at time.Time) bool {
	otherProject := w.ProjectID != "" && w.ProjectID != e.ProjectID
	if otherProject || w.CreatedAt.Time().After(at) || w.wasDeactivated(at) {
		return false
	}
	return slices.ContainsFunc(w.Events, func(pattern string) bool { return event.Matches(pattern, e.Type) })
}

// wasDeactivated reports whether a user had deactivated the webhook at the given time. It considers only the latest
// deactivation.
func (w Webhook) wasDeactivated(at time.Time) bool {
	return w.DeactivatedAt != nil && !at.Before(w.DeactivatedAt.Time()) &&
		(w.ActivatedAt == nil || at.Before(w.ActivatedAt.Time()))
}

// inactiveReason returns the human-readable reason why nothing is sent to a webhook that is not active.
func (w Webhook) inactiveReason() string {
	if w.DisabledReason != "" {
		return "the webhook was disabled: " + w.DisabledReason
	}
	return "the webhook is not active"
}
