package assistant

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"devplatform/shared/clock"
	"devplatform/shared/db"
)

// usageRecord is what a user, or all of them, took in a month. Taken is what was used and what is reserved.
type usageRecord struct {
	Input  int `dynamodbav:"input"`
	Output int `dynamodbav:"output"`
	Taken  int `dynamodbav:"taken"`
	Calls  int `dynamodbav:"calls"`
}

// generationRecord is an answer that is being made, or was of late. While it is being made it is kept as long as its month counts, so
// that its reservation can be given back should the function have crashed.
type generationRecord struct {
	ID        string          `dynamodbav:"id"`
	Tokens    int             `dynamodbav:"tokens"`
	Month     string          `dynamodbav:"month"`
	Global    bool            `dynamodbav:"global"` // all users' month has reserved, too
	StartedAt clock.Timestamp `dynamodbav:"startedAt"`
	Cancelled bool            `dynamodbav:"cancelled,omitempty"`
	End       ending          `dynamodbav:"end,omitempty"`
}

// ending is how a generation has ended, "" as long as it has not.
type ending string

const (
	settled  ending = "settled"
	released ending = "released" // taken for crashed
)

// Attributes that are written one by one.
const (
	attrInput     = "input"
	attrOutput    = "output"
	attrTaken     = "taken"
	attrCalls     = "calls"
	attrEnd       = "end"
	attrCancelled = "cancelled"
)

// lackError says why a reservation was refused.
type lackError struct {
	minute bool
	// user and global are the months that have too little left; nil for one that does not.
	user, global *usageRecord
	cause        error
}

func (e *lackError) tokens() bool { return e.user != nil || e.global != nil }

func (e *lackError) Error() string { return "assistant: reserve: " + e.cause.Error() }

func (e *lackError) Unwrap() error { return e.cause }

// reserve counts a call with minute and sets its tokens aside. Errors: *lackError; storage's.
func (s store) reserve(ctx context.Context, r reservation, limits Limits, now time.Time, minute db.Write) error {
	month, global := r.month(), limits.GlobalMonthlyTokens > 0
	record, err := db.Encode(generationRecord{
		ID: r.messageID, Tokens: r.tokens, Month: month.String(), Global: global, StartedAt: clock.Stamp(now),
	})
	if err != nil {
		return err
	}
	record[db.AttrExpiresAt] = db.ExpiresAt(month.next().Add(generationKept).Unix())
	const minuteAt, userAt, globalAt = 0, 2, 3
	writes := []db.Write{
		minuteAt: minute,
		1:        s.conversations.Create(db.GenerationKey(r.userID, r.messageID), record),
		userAt:   s.takeWrite(db.UsageKey(r.userID, month.String()), r.tokens, limits.MonthlyTokens),
	}
	if global {
		writes = append(writes, s.takeWrite(db.GlobalUsageKey(month.String()), r.tokens, limits.GlobalMonthlyTokens))
	}
	err = s.transact(ctx, writes...)
	if !errors.Is(err, db.ErrConditionFailed) {
		return err
	}
	lack := &lackError{minute: db.FailedAt(err, minuteAt), cause: err}
	for i, place := range map[int]**usageRecord{userAt: &lack.user, globalAt: &lack.global} {
		if !db.FailedAt(err, i) {
			continue
		}
		found, err := db.Decode[usageRecord](db.OldItem(err, i))
		if err != nil {
			return err
		}
		*place = &found
	}
	return lack
}

// takeWrite sets tokens aside in a month that has them.
func (s store) takeWrite(key db.Key, tokens, limit int) db.Write {
	taken := expression.Name(attrTaken)
	fits := taken.LessThanEqual(expression.Value(limit - tokens))
	if tokens <= limit {
		fits = fits.Or(expression.AttributeNotExists(taken))
	}
	update := expression.Add(taken, expression.Value(tokens)).Add(expression.Name(attrCalls), expression.Value(1))
	return s.conversations.Update(key, update).If(fits).WithOld()
}

// settlement is the end of a generation.
type settlement struct {
	reservation
	global bool
	used   usage
	at     time.Time
	// late says that what was reserved has been given back already.
	late bool
	// unlessCancelled says that a generation that was cancelled, and has not ended, is not to end so.
	unlessCancelled bool
}

// writes is how many writes it has, in front of others in a transaction.
func (e settlement) writes() int {
	if e.global {
		return 3
	}
	return 2
}

// conclude settles, and makes more writes in the same transaction. If the generation has another ending than was thought, nothing is
// written, and that ending is the answer, with the error only if the conditions of more failed as well. Error: also errCancelled.
func (s store) conclude(ctx context.Context, e settlement, more []db.Write) (before ending, err error) {
	const generationAt = 0
	writes := []db.Write{generationAt: s.endWrite(e), 1: s.settleWrite(db.UsageKey(e.userID, e.month().String()), e)}
	if e.global {
		writes = append(writes, s.settleWrite(db.GlobalUsageKey(e.month().String()), e))
	}
	err = s.transact(ctx, append(writes, more...)...)
	if !db.FailedAt(err, generationAt) {
		return "", err
	}
	g, derr := db.Decode[generationRecord](db.OldItem(err, generationAt))
	if derr != nil {
		return "", derr
	}
	if e.unlessCancelled && g.End == "" && g.Cancelled {
		return "", errCancelled
	}
	if g.End == "" { // it has expired
		g.End = settled
	}
	for i := range more {
		if db.FailedAt(err, len(writes)+i) {
			return g.End, err
		}
	}
	return g.End, nil
}

// endWrite marks a generation as settled, which it must not be, and lets it expire.
func (s store) endWrite(e settlement) db.Write {
	end := expression.Name(attrEnd)
	as := expression.AttributeNotExists(end)
	switch {
	case e.late:
		as = end.Equal(expression.Value(released))
	case e.unlessCancelled:
		as = as.And(expression.AttributeNotExists(expression.Name(attrCancelled)))
	}
	return s.endingWrite(e.userID, e.messageID, settled, e.at).If(as).WithOld()
}

func (s store) endingWrite(userID, messageID string, as ending, at time.Time) db.Write {
	update := expression.Set(expression.Name(attrEnd), expression.Value(as)).
		Set(expression.Name(db.AttrExpiresAt), expression.Value(at.Add(generationKept).Unix()))
	return s.conversations.Update(db.GenerationKey(userID, messageID), update).If(s.conversations.Exists())
}

// settleWrite counts in a month what was used in place of what was reserved.
func (s store) settleWrite(key db.Key, e settlement) db.Write {
	reserved := e.tokens
	if e.late {
		reserved = 0
	}
	return s.conversations.Update(key, expression.
		Add(expression.Name(attrTaken), expression.Value(e.used.InputTokens+e.used.OutputTokens-reserved)).
		Add(expression.Name(attrInput), expression.Value(e.used.InputTokens)).
		Add(expression.Name(attrOutput), expression.Value(e.used.OutputTokens)))
}

// Bounds of one search for what crashed.
const (
	crashedPage  = 1000 // items of a call
	crashedPages = 4
	crashedMost  = 25 // found; the next refusal finds more
)

// crashed are a user's generations that have not ended and began before a moment, oldest first, as far as some calls bring them.
func (s store) crashed(ctx context.Context, userID string, before time.Time) (found []generationRecord, err error) {
	q := db.Query{Prefix: db.GenerationsOf(userID), Limit: crashedPage, Once: true}
	for range crashedPages {
		page, err := s.conversations.Query(ctx, q)
		if err != nil {
			return nil, err
		}
		records, err := db.DecodeAll[generationRecord](page.Items)
		if err != nil {
			return nil, err
		}
		for _, g := range records {
			if g.End == "" && g.StartedAt.Time().Before(before) && len(found) < crashedMost {
				found = append(found, g)
			}
		}
		if page.Next.IsZero() || len(found) == crashedMost {
			break
		}
		q.After = page.Next
	}
	return found, nil
}

// release gives back what a generation has reserved, unless it has ended or was released before. Error: storage's.
func (s store) release(ctx context.Context, userID string, g generationRecord, now time.Time) error {
	giveBack := expression.Add(expression.Name(attrTaken), expression.Value(-g.Tokens))
	writes := []db.Write{
		s.endingWrite(userID, g.ID, released, now).If(expression.AttributeNotExists(expression.Name(attrEnd))),
		s.conversations.Update(db.UsageKey(userID, g.Month), giveBack),
	}
	if g.Global {
		writes = append(writes, s.conversations.Update(db.GlobalUsageKey(g.Month), giveBack))
	}
	err := s.transact(ctx, writes...)
	if db.FailedAt(err, 0) {
		return nil
	}
	return err
}

// generation reads an answer that is being made. Error: db.ErrNotFound.
func (s store) generation(ctx context.Context, userID, messageID string) (generationRecord, error) {
	item, err := s.conversations.Get(ctx, db.GenerationKey(userID, messageID))
	if err != nil {
		return generationRecord{}, err
	}
	return db.Decode[generationRecord](item)
}

// cancel asks for the end of an answer that is being made for a user; of one that has ended nothing changes but its record. Error: db.ErrNotFound.
func (s store) cancel(ctx context.Context, userID, messageID string) error {
	update := expression.Set(expression.Name(attrCancelled), expression.Value(true))
	_, err := s.client.Do(ctx, s.conversations.Update(db.GenerationKey(userID, messageID), update).If(s.conversations.Exists()))
	if errors.Is(err, db.ErrConditionFailed) || errors.Is(err, db.ErrInvalidKey) {
		return db.ErrNotFound
	}
	return err
}

// usage reads what a user took in a month; nothing, if there is no record.
func (s store) usage(ctx context.Context, userID string, m month) (usageRecord, error) {
	item, err := s.conversations.Get(ctx, db.UsageKey(userID, m.String()))
	if errors.Is(err, db.ErrNotFound) {
		return usageRecord{}, nil
	}
	if err != nil {
		return usageRecord{}, err
	}
	return db.Decode[usageRecord](item)
}
