package quota

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"devplatform/shared/clock"
	"devplatform/shared/db"
)

// store stores generations and usage.
type store struct {
	client *db.Client
	table  db.Table
}

// Usage is the usage of a user, or of one shard of all users together, in a month.
type Usage struct {
	// Input and Output are the numbers of tokens that models have read and generated.
	Input  int `dynamodbav:"input"`
	Output int `dynamodbav:"output"`
	// Taken is the number of used and reserved tokens.
	Taken int `dynamodbav:"taken"`
	// Calls is the number of chat and generate calls.
	Calls int `dynamodbav:"calls"`
}

// generation is the record of an answer that is in progress or that ended in the last 24 hours. The record of an answer
// in progress expires after the end of its month. Until then, its reservation can be released if the function crashed.
type generation struct {
	ID     string `dynamodbav:"id"`
	Tokens int    `dynamodbav:"tokens"`
	Month  string `dynamodbav:"month"`
	// Shard is the shard of the usage of all users in which the tokens are also reserved, from 1; 0 if there is none.
	Shard     int             `dynamodbav:"shard"`
	StartedAt clock.Timestamp `dynamodbav:"startedAt"`
	Cancelled bool            `dynamodbav:"cancelled,omitempty"`
	End       ending          `dynamodbav:"end,omitempty"`
}

// ending describes how a generation ended; "" while it is in progress.
type ending string

const (
	endSettled  ending = "settled"
	endReleased ending = "released" // the generation was considered crashed
)

// Attributes that are updated individually.
const (
	attrInput     = "input"
	attrOutput    = "output"
	attrTaken     = "taken"
	attrCalls     = "calls"
	attrEnd       = "end"
	attrCancelled = "cancelled"
)

// refusedError reports why a reservation was refused. If no field is set, a reservation for the same answer
// already exists.
type refusedError struct {
	// user is the usage of the user if too few of the user's tokens remain, otherwise nil.
	user *Usage
	// global reports that too few tokens of all users together remain in the shard of the reservation.
	global bool
}

func (e *refusedError) Error() string { return "quota: the reservation was refused" }

// reserve reserves the tokens of r. minute is the write that counts the call towards the rate limit, and begin is the
// write that begins the generation in progress.
// Errors: the errors of these writes; *refusedError; the error classes of db.
func (s store) reserve(
	ctx context.Context, r Reservation, limits Limits, now time.Time, minute, begin db.Write,
) error {
	month := r.month()
	record, err := db.Encode(generation{
		ID: r.MessageID, Tokens: r.Tokens, Month: month.String(), Shard: r.shard, StartedAt: clock.Stamp(now),
	})
	if err != nil {
		return err
	}
	record[db.AttrExpiresAt] = db.ExpiresAt(month.End().Add(keptAfterEnd).Unix())
	refused := &refusedError{}
	tx := s.client.Tx(minute, begin,
		s.table.Create(db.GenerationKey(r.UserID, r.MessageID), record),
		s.take(db.UsageKey(r.UserID, month.String()), r.Tokens, limits.MonthlyTokens).
			ElseFunc(func(stored db.Item) error {
				usage, err := db.Decode[Usage](stored)
				refused.user = &usage
				return err
			}))
	if r.shard > 0 {
		key := db.GlobalUsageKey(month.String(), r.shard)
		tx.Add(s.take(key, r.Tokens, limits.shardLimit(r.shard)).ElseFunc(func(db.Item) error {
			refused.global = true
			return nil
		}))
	}
	err = tx.CommitOnce(ctx)
	if errors.Is(err, db.ErrStale) {
		return refused
	}
	return err
}

// globalUsage returns the used and reserved tokens of all users in a month, for each shard, beginning with shard 1. It
// reads all shards that can exist, because the number of shards can have changed in the month.
func (s store) globalUsage(ctx context.Context, month Month) (taken [maxShards]int, err error) {
	var keys [maxShards]db.Key
	for i := range keys {
		keys[i] = db.GlobalUsageKey(month.String(), i+1)
	}
	items, err := s.table.BatchGet(ctx, keys[:]...)
	if err != nil {
		return taken, err
	}
	for i, key := range keys {
		usage, err := db.Decode[Usage](items[key])
		if err != nil {
			return taken, err
		}
		taken[i] = usage.Taken
	}
	return taken, nil
}

// take returns the write that counts a call and reserves its tokens in the usage of a month. Its condition is that the
// used and reserved tokens do not exceed the limit.
func (s store) take(key db.Key, tokens, limit int) db.Write {
	taken := expression.Name(attrTaken)
	fits := taken.LessThanEqual(expression.Value(limit - tokens))
	if tokens <= limit {
		fits = fits.Or(expression.AttributeNotExists(taken))
	}
	update := expression.Add(taken, expression.Value(tokens)).Add(expression.Name(attrCalls), expression.Value(1))
	return s.table.Update(key, update).If(fits)
}

// settlementWrite is a Settlement with the data that its writes depend on.
type settlementWrite struct {
	Settlement
	// released reports whether the reserved tokens have already been released.
	released bool
	at       time.Time
}

// errEnded reports that a generation has ended or was cancelled.
var errEnded = errors.New("quota: the generation has ended")

// settle settles a reservation and also executes the given writes in the same transaction. If a condition of these
// writes fails, settle writes nothing and returns its error. Otherwise, if the condition of endGeneration fails, it
// writes nothing and returns the stored record of the generation, or a zero record if it has expired.
func (s store) settle(ctx context.Context, end settlementWrite, more []db.Write) (before *generation, err error) {
	month := end.month().String()
	tx := s.client.Tx(more...)
	tx.Add(
		s.endGeneration(end).ElseFunc(func(stored db.Item) error {
			found, err := db.Decode[generation](stored)
			if err != nil {
				return err
			}
			before = &found
			return errEnded
		}),
		s.count(db.UsageKey(end.UserID, month), end),
	)
	if end.shard > 0 {
		tx.Add(s.count(db.GlobalUsageKey(month, end.shard), end))
	}
	tx.Add(end.operation.EndWrites()...)
	if err = tx.CommitOnce(ctx); errors.Is(err, errEnded) {
		return before, nil
	}
	return nil, err
}

// endGeneration returns the write that marks a generation as settled. Its condition is that the generation is in
// progress and, if UnlessCancelled is set, was not cancelled. If end.released is set, the condition is instead that the
// generation was released.
func (s store) endGeneration(end settlementWrite) db.Write {
	ended := expression.Name(attrEnd)
	condition := expression.AttributeNotExists(ended)
	switch {
	case end.released:
		condition = ended.Equal(expression.Value(endReleased))
	case end.UnlessCancelled:
		condition = condition.And(expression.AttributeNotExists(expression.Name(attrCancelled)))
	}
	return s.setEnd(end.UserID, end.MessageID, endSettled, end.at).If(condition)
}

// setEnd returns the write that sets the end of an existing generation and the time when its record expires.
func (s store) setEnd(userID, messageID string, end ending, at time.Time) db.Write {
	update := expression.Set(expression.Name(attrEnd), expression.Value(end)).
		Set(expression.Name(db.AttrExpiresAt), expression.Value(at.Add(keptAfterEnd).Unix()))
	return s.table.Update(db.GenerationKey(userID, messageID), update).If(s.table.Exists())
}

// count returns the write that replaces the reserved tokens with the used tokens in the usage of a month.
func (s store) count(key db.Key, end settlementWrite) db.Write {
	reserved := end.Tokens
	if end.released {
		reserved = 0
	}
	return s.table.Update(key, expression.
		Add(expression.Name(attrTaken), expression.Value(end.Used.Input+end.Used.Output-reserved)).
		Add(expression.Name(attrInput), expression.Value(end.Used.Input)).
		Add(expression.Name(attrOutput), expression.Value(end.Used.Output)))
}

// Limits of one search for crashed generations.
const (
	crashedPageSize = 1000
	crashedPages    = 4
	maxCrashed      = 25 // if there are more, the next refused call finds them
)

// crashed returns generations of a user that began before the given time and have not ended, oldest first.
func (s store) crashed(ctx context.Context, userID string, before time.Time) (found []generation, err error) {
	q := db.Query{Prefix: db.GenerationsOf(userID), Limit: crashedPageSize, Once: true}
	for range crashedPages {
		page, err := s.table.Query(ctx, q)
		if err != nil {
			return nil, err
		}
		records, err := db.DecodeAll[generation](page.Items)
		if err != nil {
			return nil, err
		}
		for _, g := range records {
			if g.End == "" && g.StartedAt.Time().Before(before) && len(found) < maxCrashed {
				found = append(found, g)
			}
		}
		if page.Next.IsZero() || len(found) == maxCrashed {
			break
		}
		q.After = page.Next
	}
	return found, nil
}

// release releases the tokens that a generation has reserved, unless the generation has ended.
func (s store) release(ctx context.Context, userID string, g generation, now time.Time) error {
	returnTokens := expression.Add(expression.Name(attrTaken), expression.Value(-g.Tokens))
	tx := s.client.Tx(
		s.setEnd(userID, g.ID, endReleased, now).If(expression.AttributeNotExists(expression.Name(attrEnd))).Else(errEnded),
		s.table.Update(db.UsageKey(userID, g.Month), returnTokens),
	)
	if g.Shard > 0 {
		tx.Add(s.table.Update(db.GlobalUsageKey(g.Month, g.Shard), returnTokens))
	}
	if err := tx.Commit(ctx); !errors.Is(err, errEnded) {
		return err
	}
	return nil
}

// generation reads the record of an answer. Error: db.ErrNotFound.
func (s store) generation(ctx context.Context, userID, messageID string) (generation, error) {
	item, err := s.table.Get(ctx, db.GenerationKey(userID, messageID))
	if err != nil {
		return generation{}, err
	}
	return db.Decode[generation](item)
}

// cancel marks a generation as cancelled. Error: db.ErrNotFound.
func (s store) cancel(ctx context.Context, userID, messageID string) error {
	update := expression.Set(expression.Name(attrCancelled), expression.Value(true))
	write := s.table.Update(db.GenerationKey(userID, messageID), update).If(s.table.Exists()).Else(db.ErrNotFound)
	_, err := s.client.Do(ctx, write)
	if errors.Is(err, db.ErrInvalidKey) {
		return db.ErrNotFound
	}
	return err
}

// usage reads the usage of a user in a month. If there is no record, it returns the zero Usage.
func (s store) usage(ctx context.Context, userID string, m Month) (Usage, error) {
	item, err := s.table.Get(ctx, db.UsageKey(userID, m.String()))
	if errors.Is(err, db.ErrNotFound) {
		return Usage{}, nil
	}
	if err != nil {
		return Usage{}, err
	}
	return db.Decode[Usage](item)
}
