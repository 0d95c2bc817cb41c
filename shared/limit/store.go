package limit

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"devplatform/shared/db"
)

// store keeps counters in a table.
type store struct {
	client *db.Client
	table  db.Table
}

// record is a counter as it is stored. The attribute names are part of the data format.
type record struct {
	Hits      int   `dynamodbav:"hits"`
	ExpiresAt int64 `dynamodbav:"expiresAt"`
}

// Load sets the number of attempts from the stored item of the counter. A nil item means no attempts.
func (c *Counter) Load(item db.Item) error {
	stored, err := db.Decode[record](item)
	c.hits = stored.Hits
	return err
}

// hit counts one attempt. It reports false, and counts nothing, if the counter has reached its limit.
func (s store) hit(ctx context.Context, counter *Counter) (isCounted bool, err error) {
	item, err := s.client.Do(ctx, s.hitWrite(*counter, 1))
	if errors.Is(err, db.ErrConditionFailed) {
		counter.hits = counter.rule.Limit
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("counting %s: %w", counter.rule.Name, err)
	}
	return true, counter.Load(item)
}

// hitWrite returns the write that counts n attempts. Its condition fails if the counter would exceed its limit.
func (s store) hitWrite(counter Counter, n int) db.Write {
	hits, maxBefore := expression.Name("hits"), counter.rule.Limit-n
	withinLimit := hits.LessThanEqual(expression.Value(maxBefore))
	if maxBefore >= 0 {
		withinLimit = expression.AttributeNotExists(hits).Or(withinLimit)
	}
	return s.table.Update(counter.key, add(counter, n)).If(withinLimit)
}

// refund takes one attempt back.
func (s store) refund(ctx context.Context, counter Counter) error {
	if _, err := s.client.Do(ctx, s.refundWrite(counter)); err != nil {
		return fmt.Errorf("refunding %s: %w", counter.rule.Name, err)
	}
	return nil
}

// refundWrite returns the write that takes one attempt back.
func (s store) refundWrite(counter Counter) db.Write {
	return s.table.Update(counter.key, add(counter, -1))
}

// add returns the update that adds n to a counter. The counter expires at the end of its window.
func add(counter Counter, n int) expression.UpdateBuilder {
	return expression.Add(expression.Name("hits"), expression.Value(n)).
		Set(expression.Name(db.AttrExpiresAt), expression.Value(counter.ends.Unix()))
}
