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

// Operation is an operation in progress. The zero Operation has ended. If it is limited by several rules, it has an
// entry for each of them.
type Operation struct {
	store   *Counters
	entries []entry
}

// entry is the record of an operation under one rule.
type entry struct {
	key  db.Key
	text string // the end of the lease in milliseconds since 1970, a space, and a random text
}

// Begin starts an operation: it counts one attempt with each counter, and adds the operation to each of inProgress, all
// in one transaction. If one of the limits is reached, it changes nothing. It makes one call to storage, and more if it
// has to remove operations whose leases have expired. The caller must call End when the operation ends.
// Errors: ErrTooMany and OperationRule.Full, both with Retry-After; the error classes of db.
func (c *Counters) Begin(ctx context.Context, inProgress []Operations, counters ...Counter) (op Operation, err error) {
	err = db.Retry(ctx, "begin an operation", func(ctx context.Context) error {
		now := c.now()
		attempt := Attempt{at: now} // the counters that have reached their limits
		tx := c.db.Tx()
		for _, counter := range counters {
			tx.Add(c.hitWrite(counter, 1).ElseFunc(func(db.Item) error {
				counter.hits = counter.rule.Limit
				attempt.counters = append(attempt.counters, counter)
				return nil
			}))
		}
		op = Operation{store: c}
		for _, o := range inProgress {
			added, write := c.Join(o)
			op.entries = append(op.entries, added.entries...)
			tx.Add(write)
		}
		err := tx.CommitOnce(ctx)
		if len(attempt.counters) > 0 {
			return c.tooMany(attempt.Status()) // not with err, which is db.ErrStale
		}
		return c.RetryIfExpired(ctx, err)
	})
	return op, err
}

// Join returns a new operation, and the write that adds it to o, for a caller that begins the operation in a
// transaction of its own. The caller must pass the error of the transaction to RetryIfExpired.
func (c *Counters) Join(o Operations) (Operation, db.Write) {
	until := c.now().Add(o.rule.Lease)
	e := entry{key: o.key, text: strconv.FormatInt(until.UnixMilli(), 10) + " " + rand.Text()}
	update := expression.Add(attrEntries, entrySet(e.text)).
		Set(expression.Name(db.AttrExpiresAt), expression.Value(until.Unix()+1))
	belowLimit := attrEntries.AttributeNotExists().Or(attrEntries.Size().LessThan(expression.Value(o.rule.Limit)))
	write := c.table.Update(o.key, update).If(belowLimit).ElseFunc(func(stored db.Item) error {
		return &fullError{o, stored}
	})
	return Operation{store: c, entries: []entry{e}}, write
}

// fullError reports that the limit of operations in progress is reached.
type fullError struct {
	Operations

	stored db.Item
}

func (e *fullError) Error() string { return "limit: too many operations in progress: " + e.rule.Name }

// RetryIfExpired returns the error of a transaction with the write of Join. If the limit of operations was reached, it
// removes the operations whose leases have expired, and returns db.ErrStale, so that the caller tries again with a new
// operation. Errors: OperationRule.Full with Retry-After if no lease has expired; the error classes of db.
func (c *Counters) RetryIfExpired(ctx context.Context, err error) error {
	full, isFull := errors.AsType[*fullError](err)
	if !isFull {
		return err
	}
	stored, err := db.Decode[operationsRecord](full.stored)
	if err != nil {
		return err
	}
	now, wait := c.now(), full.rule.Lease // wait is the time until the first lease expires
	var expired []string
	for _, text := range stored.Entries {
		end, _, _ := strings.Cut(text, " ")
		until, err := strconv.ParseInt(end, 10, 64)
		left := time.UnixMilli(until).Sub(now)
		if err != nil || left <= 0 || left > 2*full.rule.Lease { // the clock of another machine was far ahead
			expired = append(expired, text)
		}
		wait = min(wait, left)
	}
	if len(expired) == 0 {
		return Status{Reset: wait}.WithRetryAfter(full.rule.Full)
	}
	if _, err := c.db.Do(ctx, c.remove(full.key, expired...)); err != nil {
		return err
	}
	return fmt.Errorf("%w: expired leases were removed", db.ErrStale)
}

// End ends the operation, even if ctx has ended. If End fails, the operation counts until its lease expires.
func (o Operation) End(ctx context.Context) error {
	if len(o.entries) == 0 {
		return nil
	}
	ctx, cancel := async.Detach(ctx, endTimeout)
	defer cancel()
	return o.store.db.Tx(o.EndWrites()...).Commit(ctx)
}

// EndWrites returns the writes that end the operation as part of a transaction. They have no condition, and have no
// effect if the operation has ended.
func (o Operation) EndWrites() []db.Write {
	writes := make([]db.Write, len(o.entries))
	for i, e := range o.entries {
		writes[i] = o.store.remove(e.key, e.text)
	}
	return writes
}

// operationsRecord is Operations as it is stored. The attribute names are part of the data format.
type operationsRecord struct {
	Entries   []string `dynamodbav:"entries,stringset,omitempty"`
	ExpiresAt int64    `dynamodbav:"expiresAt"` // the end of the latest lease
}

var attrEntries = expression.Name("entries")

// remove returns the write that removes entries. Entries that do not exist are ignored.
func (c *Counters) remove(key db.Key, texts ...string) db.Write {
	return c.table.Update(key, expression.Delete(attrEntries, entrySet(texts...)))
}

func entrySet(texts ...string) expression.ValueBuilder {
	return expression.Value(&types.AttributeValueMemberSS{Value: texts})
}
