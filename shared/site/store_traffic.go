package site

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"devplatform/shared/clock"
	"devplatform/shared/db"
)

const (
	// sample is the minimum number of bytes that one write adds to a counter.
	sample = 1 << 20
	// readInterval is the minimum time between two reads of a counter.
	readInterval = time.Minute
	// readTimeout is the time limit of a read. The response to a client waits for it.
	readTimeout = time.Second
	// trafficLifetime is the time from the last write of a counter until it expires.
	trafficLifetime = 400 * 24 * time.Hour
	// maxCounters is the maximum number of counters in memory. The next counter replaces them all.
	maxCounters = 10_000
)

// traffic counts the bytes that the sites of each account serve in a month. Most responses need no write: a response of
// n bytes, less than sample, is counted with the probability n / sample. If it is counted, sample bytes are added. So
// the expected value of the counter is exact. Larger responses are always counted, with their size.
type traffic struct {
	client *db.Client
	table  db.Table
	clock  clock.Clock
	limit  int64
	random func() float64 // in [0, 1)

	mu       sync.Mutex
	counters map[db.Key]*counter
}

// trafficRecord is the counter of an account's traffic in a month. The attribute names are part of the data format.
type trafficRecord struct {
	Bytes int64 `dynamodbav:"bytes"`
}

// counter is the last known value of a counter in the table.
type counter struct {
	bytes  int64
	readAt time.Time
}

// isExceeded reports whether an account has reached its limit in this month. It reads the counter at most once a
// minute. In that time, and if the read fails, it uses the last known value. It also returns the error of the read.
func (t *traffic) isExceeded(ctx context.Context, accountID string) (bool, error) {
	now := t.clock()
	key := db.TrafficKey(accountID, monthOf(now))
	t.mu.Lock()
	c := t.counter(key)
	isFresh := !c.readAt.IsZero() && now.Sub(c.readAt) < readInterval
	if !isFresh {
		c.readAt = now // requests at the same time use the last known value
	}
	known := c.bytes
	t.mu.Unlock()
	if isFresh {
		return known >= t.limit, nil
	}
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	item, err := t.table.Get(ctx, key)
	if errors.Is(err, db.ErrNotFound) {
		item, err = nil, nil
	}
	known, decodeErr := t.learn(key, item)
	return known >= t.limit, errors.Join(err, decodeErr)
}

// count counts n bytes that were served. If DynamoDB's response is lost, the bytes may be counted twice.
func (t *traffic) count(ctx context.Context, accountID string, n int64) error {
	if n <= 0 || (n < sample && t.random() >= float64(n)/sample) {
		return nil
	}
	now := t.clock()
	key := db.TrafficKey(accountID, monthOf(now))
	item, err := t.client.Do(ctx, t.table.Update(key,
		expression.Add(expression.Name("bytes"), expression.Value(max(n, sample))).
			Set(expression.Name(db.AttrExpiresAt), expression.Value(now.Add(trafficLifetime).Unix()))))
	if err == nil {
		_, err = t.learn(key, item)
	}
	return err
}

// learn updates the known value of a counter by its record, nil if there is none. It returns the known value, which
// never decreases.
func (t *traffic) learn(key db.Key, item db.Item) (int64, error) {
	stored, err := db.Decode[trafficRecord](item)
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.counter(key)
	c.bytes = max(c.bytes, stored.Bytes)
	return c.bytes, err
}

// counter returns a counter in memory. The caller must hold mu.
func (t *traffic) counter(key db.Key) *counter {
	c := t.counters[key]
	if c == nil {
		if len(t.counters) >= maxCounters {
			clear(t.counters)
		}
		c = &counter{}
		t.counters[key] = c
	}
	return c
}

// monthOf returns the month of a time in UTC, such as "2026-11".
func monthOf(now time.Time) string { return now.UTC().Format("2006-01") }

// secondsToNextMonth returns the number of seconds until the next month begins in UTC, rounded up.
func secondsToNextMonth(now time.Time) string {
	year, month, _ := now.UTC().Date()
	left := time.Date(year, month+1, 1, 0, 0, 0, 0, time.UTC).Sub(now)
	return strconv.FormatInt(int64((left+time.Second-1)/time.Second), 10)
}
