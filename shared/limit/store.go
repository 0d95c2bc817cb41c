package limit

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"devplatform/shared/db"
)

// store keeps counters.
type store struct {
	client *db.Client
	table  db.Table
}

// hit counts one more under a key unless there are limit already, which it reports as full. The counter goes with its window.
func (s store) hit(ctx context.Context, key db.Key, limit int, ends time.Time) (full bool, err error) {
	hits := expression.Name("hits")
	update := expression.Add(hits, expression.Value(1)).Set(expression.Name(db.AttrExpiresAt), expression.Value(ends.Unix()))
	_, err = s.client.Do(ctx, s.table.Update(key, update).
		If(expression.AttributeNotExists(hits).Or(hits.LessThan(expression.Value(limit)))))
	if errors.Is(err, db.ErrConditionFailed) {
		return true, nil
	}
	return false, err
}
