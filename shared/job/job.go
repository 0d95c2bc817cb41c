// Package job runs work that a request starts and a worker finishes in the background, such as builds and exports. It
// contains the code that all kinds of jobs share. The packages of the kinds do the work, and store its outcome.
//
// Calls run in one direction: the Worker (worker.go) calls the Store (store.go), which has the writes and the
// conditions.
//
// # The record and the message
//
// A job is an item of the projects table. The transaction that stores a request adds it, and the transaction that
// stores the outcome ends it, which deletes the item. So there is a job as long as there is work to do. A message only
// wakes a worker: it can be lost, late or repeated. Sweep sends a message for each job that is due: after ResendAfter
// if no worker has begun, and when the lease of a worker has expired.
//
// # The lease
//
// A worker claims a job before it begins. Its lease is a random token in the item, with an end. Every write of the
// worker has the condition that the item still has the token, so a worker that has lost its lease changes nothing. It
// loses the lease if the job is replaced, for example because a user canceled it, and if another worker claims the job
// after the end of the lease. Leases are not renewed: they are longer than the time limit of the function, so that a
// lease never expires while the worker runs. Long work is done in several attempts.
package job

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/go-json-experiment/json"

	"devplatform/shared/clock"
	"devplatform/shared/id"
)

const (
	// LeaseTime is the duration of a lease. It is longer than the time limit of the function.
	LeaseTime = 100 * time.Second
	// ResendAfter is the time after which a new job is due, because its message was probably lost.
	ResendAfter = time.Minute
	// maxInterruptions is the maximum number of interrupted attempts. The next attempt makes the job fail.
	maxInterruptions = 2
	// maxTime is the maximum age of a job. An attempt after this time makes the job fail.
	maxTime = 15 * time.Minute
	// duePartition is the only partition of the index "due".
	duePartition = "JOBS"
)

// Errors of jobs.
var (
	// ErrLost reports that the worker does not hold the lease of the job. It must stop.
	ErrLost = errors.New("job: the lease is lost")
	// ErrBusy reports that a job must wait, because its account has reached a limit of jobs in progress.
	ErrBusy = errors.New("job: the account has too many jobs in progress")
	// ErrNotClaimable reports that a job has ended, or that another worker holds its lease.
	ErrNotClaimable = errors.New("job: ended, or claimed by another worker")
)

// Job is a job as it is stored in the projects table under db.JobKey. The attribute names are part of the data format.
type Job struct {
	// OwnerID is the ID of the project or the user to which the record belongs.
	OwnerID string `dynamodbav:"ownerId"`
	// ID is the ID of the record that the job is about. A record has at most one job.
	ID   string `dynamodbav:"id"`
	Kind string `dynamodbav:"kind"`
	// Group is the message group: the user whose jobs must not delay the jobs of others.
	Group string `dynamodbav:"group"`

	// Lease is the token of the worker that has claimed the job. "" if no worker has, or if the last one has released it.
	Lease string `dynamodbav:"lease,omitempty"`
	// LeaseEnds is the time before which no other worker can claim the job.
	LeaseEnds *clock.Timestamp `dynamodbav:"leaseEnds,omitempty"`
	// Attempts is the number of attempts that have not ended: the current attempt, and the interrupted attempts.
	Attempts int `dynamodbav:"attempts"`

	// Due and DueAt are the keys of the index "due".
	Due   string          `dynamodbav:"due"`
	DueAt clock.Timestamp `dynamodbav:"dueAt"`
	// OverdueSince is the time at which the job was due when a sweep first woke it.
	OverdueSince *clock.Timestamp `dynamodbav:"overdueSince,omitempty"`
	// StartedAt is the time at which the first attempt began.
	StartedAt *clock.Timestamp `dynamodbav:"startedAt,omitempty"`
}

// New returns a job that a message should start at once (see Send). If the message is lost, the job is due after
// ResendAfter.
func New(kind, ownerID, recordID, group string, now time.Time) Job {
	return Job{
		OwnerID: ownerID, ID: recordID, Kind: kind, Group: group,
		Due: duePartition, DueAt: clock.Stamp(now.Add(ResendAfter)),
	}
}

// After returns a copy of the job that is due at the time at. No worker can claim the copy before that time.
func (j Job) After(at time.Time) Job {
	j.DueAt = clock.Stamp(at)
	j.LeaseEnds = &j.DueAt
	return j
}

// age returns how long the job has been in progress or overdue: the time since its first attempt began, or since it was
// due if none has begun. It is 0 before that time.
func (j Job) age(now time.Time) time.Duration {
	since := j.DueAt
	switch {
	case j.StartedAt != nil:
		since = *j.StartedAt
	case j.OverdueSince != nil:
		since = *j.OverdueSince
	}
	return max(0, now.Sub(since.Time()))
}

// isExhausted reports whether a job that was claimed must fail instead of being tried again.
func (j Job) isExhausted(now time.Time) bool {
	return j.Attempts > maxInterruptions || j.age(now) > maxTime
}

// message is the body of a message that wakes a worker for a job.
type message struct {
	OwnerID string `json:"ownerId"`
	ID      string `json:"id"`
}

// Send sends the message of a new job, through a function that sends a body with a message group. If that fails, Send
// logs a warning, and the next sweep after ResendAfter sends the message.
func (j Job) Send(ctx context.Context, send func(ctx context.Context, body, group string) error, logger *slog.Logger) {
	if err := j.trySend(ctx, send); err != nil {
		logger.WarnContext(ctx, "the message of a job was not sent", "kind", j.Kind, "owner", j.OwnerID, "id", j.ID,
			"cause", err.Error())
	}
}

func (j Job) trySend(ctx context.Context, send func(ctx context.Context, body, group string) error) error {
	body, err := json.Marshal(message{j.OwnerID, j.ID})
	if err != nil {
		return err
	}
	return send(ctx, string(body), j.Group)
}

// parseMessage parses the body of a message. It reports false if the body is not valid.
func parseMessage(body string) (m message, ok bool) {
	err := json.Unmarshal([]byte(body), &m)
	return m, err == nil && (id.Project.Valid(m.OwnerID) || id.User.Valid(m.OwnerID)) &&
		(id.Deployment.Valid(m.ID) || id.Export.Valid(m.ID))
}
