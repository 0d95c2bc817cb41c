package delivery

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"devplatform/shared/id"
)

func TestLastIDBefore(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		moment := time.UnixMilli(rapid.Int64Range(1, 1<<45).Draw(r, "moment"))
		within := moment.Add(time.Duration(rapid.Int64Range(1, int64(time.Millisecond)-1).Draw(r, "nanoseconds")))
		entropy := [10]byte(rapid.SliceOfN(rapid.Byte(), 10, 10).Draw(r, "entropy"))
		last := lastIDBefore(moment)
		atMoment := id.Delivery.From(moment, entropy)
		before := id.Delivery.From(moment.Add(-time.Millisecond), entropy)
		if !id.Delivery.Valid(last) || atMoment <= last || before > last || lastIDBefore(within) < atMoment {
			r.Fatalf("got %s, want an ID from %s to %s, and a later one after the moment", last, before, atMoment)
		}
	})
	last := lastIDBefore(time.Time{})
	if first := id.Delivery.From(noon, [10]byte{}); !id.Delivery.Valid(last) || last > first {
		t.Errorf("got %s for the zero time, want a valid ID before %s", last, first)
	}
}
