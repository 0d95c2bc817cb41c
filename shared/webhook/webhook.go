package webhook

import (
	"time"

	"devplatform/shared/clock"
)

// Webhook is a subscription as stored: an item of its workspace. Attribute names are part of the data format.
//
// Two kinds of writers change it. Its owners' settings are read, changed and stored on the condition of Revision; the
// pipeline updates only the attributes of Health, on the condition of Generation.
type Webhook struct {
	ID          string   `dynamodbav:"id"`
	WorkspaceID string   `dynamodbav:"workspaceId"`
	ProjectID   string   `dynamodbav:"projectId,omitempty"` // only this project's events; "": all of the workspace
	URL         string   `dynamodbav:"url"`
	Events      []string `dynamodbav:"events"` // types, groups such as project.*, or *
	Description string   `dynamodbav:"description"`
	Active      bool     `dynamodbav:"active"`
	// DisabledReason says, for people, why the service switched the webhook off; "" if it did not.
	DisabledReason string `dynamodbav:"disabledReason,omitempty"`
	// Secret is the newest secret, sealed. Previous are those before it, newest first, each good for as long as it says.
	Secret    string          `dynamodbav:"secret"`
	Previous  []oldSecret     `dynamodbav:"previous,omitempty"`
	CreatedBy string          `dynamodbav:"createdBy"`
	CreatedAt clock.Timestamp `dynamodbav:"createdAt"`
	UpdatedAt clock.Timestamp `dynamodbav:"updatedAt"`
	Revision  int             `dynamodbav:"revision"` // counts the changes of settings
	// Generation counts what makes the endpoint another one: a new url, a return to active. What an attempt tells of the
	// health of one generation says nothing about the next.
	Generation int `dynamodbav:"generation"`
	Health
}

// oldSecret is a secret that was replaced, sealed.
type oldSecret struct {
	Sealed string          `dynamodbav:"sealed"`
	Until  clock.Timestamp `dynamodbav:"until"`
}

// Health is what the latest attempts say about an endpoint. The zero Health is that of one that nothing is known of.
type Health struct {
	// Timeouts counts time-outs in a row, and failures that took about as long. From maxTimeouts on only a success takes it back.
	Timeouts int `dynamodbav:"timeouts,omitempty"`
	// Failures counts the failed attempts since the last success, FailingSince is when the first of them began.
	Failures     int              `dynamodbav:"failures,omitempty"`
	FailingSince *clock.Timestamp `dynamodbav:"failingSince,omitempty"`
	// LastAt and LastStatus are those of the latest attempt; of successes at most one a minute is noted.
	LastAt     *clock.Timestamp `dynamodbav:"lastAt,omitempty"`
	LastStatus Status           `dynamodbav:"lastStatus,omitempty"`
	// ProbeUntil is when the one delivery that an unhealthy endpoint may be tried with has had its time.
	ProbeUntil *clock.Timestamp `dynamodbav:"probeUntil,omitempty"`
}

// Limits of API.md §7.
const (
	maxWebhooks = 20 // a workspace
	// secretOverlap is how long a secret stays good after it was replaced.
	secretOverlap = 24 * time.Hour
	// maxTimeouts in a row make an endpoint unhealthy.
	maxTimeouts = 3
)
