package site

import (
	"context"
	"sync"
	"time"

	"devplatform/shared/clock"
)

const (
	// sample is the minimum number of bytes that one write adds to a counter.
	sample = 1 << 20
	// readInterval is the minimum time between two reads of a counter.
	readInterval = time.Minute
	// readTimeout is the time limit of a read. The response to a client waits for it.
	readTimeout = time.Second
	// maxCounters is the maximum number of counters in memory. The next counter replaces them all.
	maxCounters = 10_000
)

// traffic counts the bytes that the sites of each account serve in a month. Most responses need no write: a response of
// n bytes, less than sample, is counted with the probability n / sample. If it is counted, sample bytes are added. So
// the expected value of the counter is exact. Larger responses are always counted, with their size.
type traffic struct {
	store  store
	clock  clock.Clock
	limit  int64
	random func() float64 // in [0, 1)

	mu       sync.Mutex
	counters map[counterID]*counter
}

type counterID struct{ accountID, month string }

// counter is the last known value of a counter in the table.
type counter struct {
	bytes  int64
	readAt time.Time
}

// isExceeded reports whether an account has reached its limit in this month. It reads the counter at most once a
// minute. In that time, and if the read fails, it uses the last known value. It also returns the error of the read.
func (t *traffic) isExceeded(ctx context.Context, accountID string) (bool, error) {
	now := t.clock()
	id := counterID{accountID, monthOf(now)}
	t.mu.Lock()
	c := t.counter(id)
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
	stored, err := t.store.traffic(ctx, id.accountID, id.month)
	return t.learn(id, stored) >= t.limit, err
}

// count counts n bytes that were served.
func (t *traffic) count(ctx context.Context, accountID string, n int64) error {
	if n <= 0 || (n < sample && t.random() >= float64(n)/sample) {
		return nil
	}
	now := t.clock()
	id := counterID{accountID, monthOf(now)}
	stored, err := t.store.addTraffic(ctx, id.accountID, id.month, max(n, sample), now)
	t.learn(id, stored)
	return err
}

// learn updates the known value of a counter, which never decreases, and returns it.
func (t *traffic) learn(id counterID, stored int64) int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.counter(id)
	c.bytes = max(c.bytes, stored)
	return c.bytes
}

// counter returns a counter in memory. The caller must hold mu.
func (t *traffic) counter(id counterID) *counter {
	c := t.counters[id]
	if c == nil {
		if len(t.counters) >= maxCounters {
			clear(t.counters)
		}
		c = &counter{}
		t.counters[id] = c
	}
	return c
}

// monthOf returns the month of a time in UTC, such as "2026-11".
func monthOf(now time.Time) string { return now.UTC().Format("2006-01") }

// untilNextMonth returns the time until the next month begins in UTC.
func untilNextMonth(now time.Time) time.Duration {
	year, month, _ := now.UTC().Date()
	return time.Date(year, month+1, 1, 0, 0, 0, 0, time.UTC).Sub(now)
}
