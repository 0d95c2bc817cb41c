// Package removal removes the data of workspaces and accounts that have ended. It has the record of a removal, and the
// worker that makes the attempts. The packages of the data do the work. A removal can take many attempts: nothing
// limits its time, and it ends only when all data is gone.
//
// The transaction that ends a workspace or an account adds the record. From then on, nothing reads the data, so the
// removal is not urgent. It begins after Delay, when everything that was in progress has ended: requests, answers of
// the assistant, builds, and the fan-out of events. So an attempt does not race against writes that began before the
// end, and transactions that begin later fail.
//
// A worker claims a record before an attempt. Its lease is a random token with an end. The lease is longer than the
// time limit of the function, and is not renewed. So two workers never work on the same removal. After a crash of the
// worker, its lease expires. Every step of a removal is idempotent, so the next attempt continues.
//
// Removals are not jobs of package job, for two reasons. The function of jobs runs the code of users' builds, so its
// role must not allow it to delete all data of a workspace. And a removal works for minutes: it would take the place of
// the builds of other users, whose number is limited. Removals share the index "due" of the projects table with jobs.
package removal

import (
	"errors"
	"time"

	"devplatform/shared/clock"
	"devplatform/shared/db"
)

// Kind is the kind of the object that a removal removes.
type Kind string

// The kinds.
const (
	Workspace Kind = "workspace"
	Account   Kind = "account"
)

const (
	// Delay is the time from the end of a workspace or an account until its removal begins. It is longer than the time
	// limit of every function that writes the data of users.
	Delay = 3 * time.Minute
	// LeaseTime is the duration of a lease. It is longer than the time limit of the function.
	LeaseTime = 6 * time.Minute
	// maxWait is the longest wait between two attempts.
	maxWait = 8 * time.Minute
	// duePartition is the only partition of removals in the index "due".
	duePartition = "REMOVALS"
)

// errLost reports that the worker does not hold the lease of the removal.
var errLost = errors.New("removal: the lease is lost")

// record is a removal as it is stored in the projects table under db.RemovalKey. The attribute names are part of the
// data format.
type record struct {
	Kind    Kind            `dynamodbav:"kind"`
	ID      string          `dynamodbav:"id"`      // of the workspace or the user
	EndedAt clock.Timestamp `dynamodbav:"endedAt"` // when the workspace or the account ended
	// Lease is the token of the worker that has claimed the removal. "" if no worker has.
	Lease string `dynamodbav:"lease,omitempty"`
	// Attempts is the number of attempts that began.
	Attempts int `dynamodbav:"attempts"`
	// Due and DueAt are the keys of the index "due". No worker can claim the removal before DueAt.
	Due   string          `dynamodbav:"due"`
	DueAt clock.Timestamp `dynamodbav:"dueAt"`
}

// Create returns the write that adds the removal of a workspace or an account, by its ID. Error: db.ErrConditionFailed
// or db.ErrStale, as of any Create, if there is one already.
func Create(projects db.Table, kind Kind, id string, now time.Time) db.Write {
	return projects.Create(db.RemovalKey(id), record{
		Kind: kind, ID: id, EndedAt: clock.Stamp(now), Due: duePartition, DueAt: clock.Stamp(now.Add(Delay)),
	})
}

// wait returns the wait after a failed attempt: one minute, doubled with each further attempt, up to maxWait.
func (r record) wait() time.Duration {
	const maxDoublings = 10 // more than enough to reach maxWait
	return min(time.Minute<<min(max(r.Attempts-1, 0), maxDoublings), maxWait)
}
