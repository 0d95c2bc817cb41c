package limit

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"devplatform/shared/async"
	"devplatform/shared/db"
	"devplatform/shared/fault"
)

// OperationRule limits the operations of a subject that are in progress at the same time.
type OperationRule struct {
	Name  string // part of the keys in the table: do not change it, and do not use it for another rule
	Limit int
	// Lease is the time after which an operation no longer counts, even if it has not ended because its process crashed.
	// It must be longer than the longest operation.
	Lease time.Duration
	Full  *fault.Error // the error if the limit is reached
}

// Operations are the operations of one subject that are in progress under one rule.
type Operations struct {
	rule OperationRule
	key  db.Key
}

// Operations returns the operations in progress of a subject, such as an ID, under a rule.
func (c *Counters) Operations(rule OperationRule, subject string) Operations {
	return Operations{rule: rule, key: db.OperationsKey(rule.Name, subject)}
}

// Operation is an operation in progress. The zero Operation has ended.
type Operation struct {
	store  store
	places []place
}

// place is the entry of one operation in Operations.
type place struct {
	Operations

	entry string // the end of the lease in milliseconds since 1970, a space, and a random text
}

// Begin starts an operation: it counts one attempt with each counter, and adds the operation to each of inProgress, all
// in one transaction. If one of the limits is reached, it changes nothing. It makes one call to storage, and more if it
// has to remove operations whose leases have expired. The caller must call End when the operation ends.
// Errors: ErrTooMany and OperationRule.Full, both with Retry-After; the error classes of db.
func (c *Counters) Begin(ctx context.Context, inProgress []Operations, counters ...Counter) (op Operation, err error) {
	err = db.Retry(ctx, "begin an operation", func(ctx context.Context) error {
		now := c.now()
		var writes []db.Write
		for _, counter := range counters {
			writes = append(writes, c.store.hitWrite(counter, 1))
		}
		op = Operation{store: c.store}
		for _, o := range inProgress {
			joined, write := c.Join(o)
			op.places, writes = append(op.places, joined.places...), append(writes, write)
		}
		err := c.store.client.TransactOnce(ctx, writes...)
		if !errors.Is(err, db.ErrConditionFailed) {
			return err
		}
		attempt := Attempt{at: now}
		for i, counter := range counters {
			if db.FailedAt(err, i) {
				counter.hits = counter.rule.Limit
				attempt.counters = append(attempt.counters, counter)
			}
		}
		if len(attempt.counters) > 0 {
			return attempt.Status().tooMany().WithCause(err)
		}
		for i, o := range inProgress {
			if at := len(counters) + i; db.FailedAt(err, at) {
				if err := c.MakeRoom(ctx, o, db.OldItem(err, at)); err != nil {
					return err
				}
			}
		}
		return fmt.Errorf("%w: expired leases were removed: %w", db.ErrStale, err)
	})
	return op, err
}

// Join returns a new operation, and the write that adds it to o, for a caller that begins the operation in a
// transaction of its own. The condition of the write fails if the limit is reached. The caller then calls MakeRoom.
func (c *Counters) Join(o Operations) (Operation, db.Write) {
	until := c.now().Add(o.rule.Lease)
	p := place{Operations: o, entry: strconv.FormatInt(until.UnixMilli(), 10) + " " + rand.Text()}
	return Operation{store: c.store, places: []place{p}}, c.store.enter(p, until)
}

// MakeRoom removes the operations whose leases have expired from o. item is the stored item that the failed write of
// Join returned. If MakeRoom returns nil, the caller can try again, with a new operation.
// Errors: OperationRule.Full with Retry-After if no lease has expired; the error classes of db.
func (c *Counters) MakeRoom(ctx context.Context, o Operations, item db.Item) error {
	return c.store.removeExpired(ctx, o, item, c.now())
}

// End ends the operation, even if ctx has ended. If End fails, the operation counts until its lease expires.
func (o Operation) End(ctx context.Context) error {
	if len(o.places) == 0 {
		return nil
	}
	ctx, cancel := async.Detach(ctx, endTime)
	defer cancel()
	return o.store.client.Transact(ctx, o.EndWrites()...)
}

// EndWrites returns the writes that end the operation as part of a transaction. They have no condition, and have no
// effect if the operation has ended.
func (o Operation) EndWrites() []db.Write {
	writes := make([]db.Write, len(o.places))
	for i, p := range o.places {
		writes[i] = o.store.remove(p.Operations, p.entry)
	}
	return writes
}

// operationsRecord is Operations as it is stored. The attribute names are part of the data format.
type operationsRecord struct {
	Entries   []string `dynamodbav:"entries,stringset,omitempty"`
	ExpiresAt int64    `dynamodbav:"expiresAt"` // the end of the latest lease
}

var attrEntries = expression.Name("entries")

// enter returns the write that adds an entry. Its condition fails if the limit is reached.
func (s store) enter(p place, until time.Time) db.Write {
	update := expression.Add(attrEntries, entrySet(p.entry)).
		Set(expression.Name(db.AttrExpiresAt), expression.Value(until.Unix()+1))
	belowLimit := attrEntries.AttributeNotExists().Or(attrEntries.Size().LessThan(expression.Value(p.rule.Limit)))
	return s.table.Update(p.key, update).If(belowLimit).WithOld()
}

// remove returns the write that removes entries. Entries that do not exist are ignored.
func (s store) remove(o Operations, entries ...string) db.Write {
	return s.table.Update(o.key, expression.Delete(attrEntries, entrySet(entries...)))
}

func entrySet(entries ...string) expression.ValueBuilder {
	return expression.Value(&types.AttributeValueMemberSS{Value: entries})
}

// removeExpired removes the entries whose leases have expired from an item that was read. If there are none, it returns
// the error of the rule.
func (s store) removeExpired(ctx context.Context, o Operations, item db.Item, now time.Time) error {
	stored, err := db.Decode[operationsRecord](item)
	if err != nil {
		return err
	}
	var expired []string
	first := o.rule.Lease // until the first lease expires
	for _, entry := range stored.Entries {
		text, _, _ := strings.Cut(entry, " ")
		until, err := strconv.ParseInt(text, 10, 64)
		left := time.UnixMilli(until).Sub(now)
		if err != nil || left <= 0 || left > 2*o.rule.Lease { // the clock of another machine was far ahead
			expired = append(expired, entry)
		}
		first = min(first, left)
	}
	if len(expired) == 0 {
		return Status{Reset: first}.WithRetryAfter(o.rule.Full)
	}
	_, err = s.client.Do(ctx, s.remove(o, expired...))
	return err
}
