package limit

import (
	"testing"
	"time"

	"devplatform/infra/slicetest"
	"devplatform/shared/db"
)

// Status returns the status with the fewest remaining attempts. If two have the same number, it returns the status of
// the window that ends later.
func TestStatus(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	counter := func(limit, remaining int, reset time.Duration) Counter {
		return Counter{rule: Rule{Limit: limit}, hits: limit - remaining, ends: now.Add(reset)}
	}
	attempt := Attempt{at: now, counters: []Counter{
		counter(300, 200, time.Minute), counter(10, 1, time.Minute), counter(5, 1, time.Hour),
	}}
	if got, want := attempt.Status(), (Status{Limit: 5, Remaining: 1, Reset: time.Hour}); got != want {
		t.Errorf("got status %+v, want %+v", got, want)
	}
}

// FuzzStored checks that an arbitrary item is either rejected, or decoded to a record that stays the same when it is
// encoded and decoded again.
func FuzzStored(f *testing.F) {
	slicetest.FuzzStored(f, func(t *testing.T, item db.Item) { slicetest.DecodeStored[record](t, item) },
		`{"hits":{"N":"1"},"expiresAt":{"N":"1790000000"}}`,
		`{"hits":{"N":"1.5"}}`,
		`{"hits":{"S":"1"},"expiresAt":{"N":"1e99"}}`)
}
