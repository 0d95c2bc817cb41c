package site

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"devplatform/shared/db"
)

// store reads addresses and counts traffic in the sites table.
type store struct {
	client *db.Client
	table  db.Table
}

// address reads the record of an address with a strongly consistent read. Errors: db.ErrNotFound, db.ErrUnavailable.
func (s store) address(ctx context.Context, label string) (Address, error) {
	item, err := s.table.Get(ctx, db.AddressKey(label))
	if err != nil {
		return Address{}, err
	}
	return db.Decode[Address](item)
}

// addresses reads the records of addresses with strongly consistent reads, in one call. Records that do not exist are
// zero. Errors: db.ErrUnavailable.
func (s store) addresses(ctx context.Context, labels []string) ([]Address, error) {
	keys := make([]db.Key, len(labels))
	for i, label := range labels {
		keys[i] = db.AddressKey(label)
	}
	items, err := s.table.BatchGet(ctx, keys...)
	if err != nil {
		return nil, err
	}
	all := make([]Address, len(labels))
	for i, key := range keys {
		if all[i], err = db.Decode[Address](items[key]); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// trafficRecord is the counter of an account's traffic in a month. The attribute names are part of the data format.
type trafficRecord struct {
	Bytes int64 `dynamodbav:"bytes"`
}

// trafficLifetime is the time from the last write of a counter until it expires.
const trafficLifetime = 400 * 24 * time.Hour

// traffic returns the bytes that the sites of an account served in a month. Errors: db.ErrUnavailable.
func (s store) traffic(ctx context.Context, accountID, month string) (int64, error) {
	item, err := s.table.Get(ctx, db.TrafficKey(accountID, month))
	if errors.Is(err, db.ErrNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	record, err := db.Decode[trafficRecord](item)
	return record.Bytes, err
}

// addTraffic adds n bytes to a counter and returns its new value. If DynamoDB's response is lost, the bytes may be
// counted twice. Errors: db.ErrUnavailable.
func (s store) addTraffic(ctx context.Context, accountID, month string, n int64, now time.Time) (int64, error) {
	item, err := s.client.Do(ctx, s.table.Update(db.TrafficKey(accountID, month),
		expression.Add(expression.Name("bytes"), expression.Value(n)).
			Set(expression.Name(db.AttrExpiresAt), expression.Value(now.Add(trafficLifetime).Unix()))))
	if err != nil {
		return 0, err
	}
	record, err := db.Decode[trafficRecord](item)
	return record.Bytes, err
}
