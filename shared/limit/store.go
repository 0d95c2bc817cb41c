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

// hitWrite counts one more under a key unless there are limit already, on which its condition fails. The counter goes with its window.
func (s store) hitWrite(key db.Key, limit int, ends time.Time) db.Write {
	hits := expression.Name("hits")
	update := expression.Add(hits, expression.Value(1)).Set(expression.Name(db.AttrExpiresAt), expression.Value(ends.Unix()))
	return s.table.Update(key, update).If(expression.AttributeNotExists(hits).Or(hits.LessThan(expression.Value(limit))))
}

// hit makes such a write by itself, and reports as full that there are limit already.
func (s store) hit(ctx context.Context, write db.Write) (full bool, err error) {
	_, err = s.client.Do(ctx, write)
	if errors.Is(err, db.ErrConditionFailed) {
		return true, nil
	}
	return false, err
}
