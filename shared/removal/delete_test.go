package removal_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/slicetest"
	"devplatform/shared/db"
	"devplatform/shared/removal"
)

// While storage throttles, a deletion waits and continues. If it stays unavailable, the deletion fails.
func TestDeleteWhileThrottled(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	projects, items := f.client.Table(f.table), map[db.Key]db.Item{}
	for i := range 500 {
		items[db.SlugKey(team, fmt.Sprint("slug-", i))] = db.Item{}
	}
	if err := projects.PutAll(t.Context(), items); err != nil {
		t.Fatal(err)
	}
	waits, clearAfter := 0, 5 // storage accepts writes after five waits
	d := removal.Deleter{Sleep: func(context.Context, time.Duration) bool {
		if waits++; waits == clearAfter {
			f.wire.Clear()
		}
		return true
	}}
	f.wire.Break("BatchWriteItem", dynamotest.Throttled)
	kept := db.SlugKey(team, "slug-7")
	n, err := d.DeleteAll(t.Context(), projects, db.WorkspacePartition(team), func(k db.Key) bool { return k == kept })
	if err != nil || n != 499 || waits != 5 || len(slicetest.Dump(t, f.sdk, f.table)) != 1 {
		t.Errorf("deleted %d items after %d waits, error %v, want 499 after 5 waits", n, waits, err)
	}
	f.wire.Break("BatchWriteItem", dynamotest.Throttled)
	waits, clearAfter = 0, -1 // storage stays unavailable for all 20 attempts
	if err := d.Delete(t.Context(), projects, kept); !errors.Is(err, db.ErrUnavailable) || waits != 19 {
		t.Errorf("got error %v after %d waits, want ErrUnavailable after 19", err, waits)
	}
}
