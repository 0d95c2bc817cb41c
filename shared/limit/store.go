package limit

import (
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"devplatform/shared/db"
)

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

// hitWrite returns the write that counts n attempts. Its condition fails if the counter would exceed its limit.
func (c *Counters) hitWrite(counter Counter, n int) db.Write {
	hits, maxBefore := expression.Name("hits"), counter.rule.Limit-n
	withinLimit := hits.LessThanEqual(expression.Value(maxBefore))
	if maxBefore >= 0 { // otherwise n alone exceeds the limit
		withinLimit = expression.AttributeNotExists(hits).Or(withinLimit)
	}
	return c.table.Update(counter.key, add(counter, n)).If(withinLimit)
}

// refundWrite returns the write that takes one attempt back.
func (c *Counters) refundWrite(counter Counter) db.Write {
	return c.table.Update(counter.key, add(counter, -1))
}

// add returns the update that adds n to a counter. The counter expires at the end of its window.
func add(counter Counter, n int) expression.UpdateBuilder {
	return expression.Add(expression.Name("hits"), expression.Value(n)).
		Set(expression.Name(db.AttrExpiresAt), expression.Value(counter.ends.Unix()))
}
