// Package limit counts what somebody does in a fixed window of time and refuses what is too much: RATE_LIMITED (API.md §1).
// Which things are limited, and how many are allowed, is not known here. Sign-in has stricter counters of its own, which give back
// what succeeds (package account).
package limit

import (
	"context"
	"strconv"
	"time"

	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/fault"
)

// Counters are kept in a table, where they expire.
type Counters struct {
	store store
	now   clock.Clock
}

// New keeps counters in a table.
func New(client *db.Client, table db.Table, now clock.Clock) *Counters {
	return &Counters{store: store{client: client, table: table}, now: now}
}

// Take counts one more of what a rule limits for a subject, an id, unless limit of it were counted in the window that the present
// moment lies in; windows are aligned to 1970. A rule's name is part of what is stored.
// Exact under concurrency; where the answer to a write is lost, one may count twice.
// Errors: *fault.Error RATE_LIMITED with Retry-After, in whole seconds to the window's end; db.ErrUnavailable, db.ErrInvalidKey.
func (c *Counters) Take(ctx context.Context, rule, subject string, limit int, window time.Duration) error {
	write, refusal := c.Write(rule, subject, limit, window)
	full, err := c.store.hit(ctx, write)
	if full {
		return refusal
	}
	return err
}

// Write is Take as a part of somebody's transaction, on an item of the counters' table: it counts only if all the rest is done as
// well, and never twice. Refusal is what to answer where the write's condition failed.
func (c *Counters) Write(rule, subject string, limit int, window time.Duration) (w db.Write, refusal error) {
	now := c.now().UTC()
	starts := now.Truncate(window)
	ends := starts.Add(window)
	wait := int((ends.Sub(now) + time.Second - 1) / time.Second)
	return c.store.hitWrite(db.CounterKey(rule, starts, subject), limit, ends),
		ErrTooMany.WithHeader("Retry-After", strconv.Itoa(max(wait, 1)))
}

// ErrTooMany is the answer to whoever comes too often, but for its Retry-After.
var ErrTooMany = fault.New(fault.CodeRateLimited, "That is too often. Try again in a while.")
