package limit

import (
	"testing"
	"time"

	"devplatform/infra/slicetest"
	"devplatform/shared/db"
)

func TestTightest(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	counter := func(n, remaining int, reset time.Duration) Counter {
		return Counter{rule: Rule{Limit: n}, hits: n - remaining, ends: now.Add(reset)}
	}
	near, far, long := counter(10, 1, time.Minute), counter(300, 200, time.Minute), counter(5, 1, time.Hour)
	attempt := Attempt{counters: []Counter{far, near, long}, at: now}
	if got := attempt.Status(); got != (Status{5, 1, time.Hour}) {
		t.Errorf("tightest %+v", got)
	}
}

// FuzzStored reads items that this version did not write: each is an error, or a record that is written as it was read.
func FuzzStored(f *testing.F) {
	f.Add([]byte(`{"hits":{"N":"1"},"expiresAt":{"N":"1790000000"}}`))
	f.Add([]byte(`{"hits":{"N":"1.5"}}`))
	f.Add([]byte(`{"hits":{"S":"1"},"expiresAt":{"N":"1e99"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if item, err := db.ItemFromJSON(data); err == nil {
			slicetest.DecodeStored[record](t, item)
		}
	})
}
