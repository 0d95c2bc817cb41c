package quota

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"devplatform/shared/clock"
	"devplatform/shared/db"
)

// Usage is the usage in a month: of one user, or of all users together in one shard.
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
	// Shard is the number of the shard that also counts the tokens; 0 if there are no shards.
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

// reserveWrite returns the write that counts a call and reserves its tokens in the usage of a month. Its condition is
// that the used and reserved tokens do not exceed the limit.
func (l *Ledger) reserveWrite(key db.Key, tokens, limit int) db.Write {
	taken := expression.Name(attrTaken)
	fits := taken.LessThanEqual(expression.Value(limit - tokens))
	if tokens <= limit {
		fits = fits.Or(expression.AttributeNotExists(taken))
	}
	update := expression.Add(taken, expression.Value(tokens)).Add(expression.Name(attrCalls), expression.Value(1))
	return l.table.Update(key, update).If(fits)
}

// setEnd returns the write that sets the end of an existing generation and the time when its record expires.
func (l *Ledger) setEnd(userID, messageID string, end ending, at time.Time) db.Write {
	update := expression.Set(expression.Name(attrEnd), expression.Value(end)).
		Set(expression.Name(db.AttrExpiresAt), expression.Value(at.Add(keptAfterEnd).Unix()))
	return l.table.Update(db.GenerationKey(userID, messageID), update).If(l.table.Exists())
}

// Usage returns the usage of a user in a month.
func (l *Ledger) Usage(ctx context.Context, userID string, m Month) (usage Usage, err error) {
	item, err := l.table.Get(ctx, db.UsageKey(userID, m.String()))
	if errors.Is(err, db.ErrNotFound) {
		return usage, nil
	}
	if err != nil {
		return usage, err
	}
	return db.Decode[Usage](item)
}

// globalUsage returns the used and reserved tokens of all users in a month, for each shard, beginning with shard 1. It
// reads all shards that can exist, because the number of shards can have changed in the month.
func (l *Ledger) globalUsage(ctx context.Context, month Month) (taken [maxShards]int, err error) {
	var keys [maxShards]db.Key
	for i := range keys {
		keys[i] = db.GlobalUsageKey(month.String(), i+1)
	}
	items, err := l.table.BatchGet(ctx, keys[:]...)
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
