package project

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/shared/db"
	"devplatform/shared/id"
	"devplatform/shared/project/content"
)

// failingClient returns a client whose first calls reach DynamoDB. The connection of all later calls is cut. If done is true,
// the first of these calls is executed before its connection is cut.
func (f *fixture) failingClient(calls int, done bool) *dynamodb.Client {
	f.t.Helper()
	var open atomic.Int64
	open.Store(int64(calls))
	return dynamotest.NewWire(f.t, f.endpoint, func(next http.Handler, out http.ResponseWriter, r *http.Request) {
		left := open.Add(-1)
		if left >= 0 {
			next.ServeHTTP(out, r)
			return
		}
		if done && left == -1 {
			next.ServeHTTP(httptest.NewRecorder(), r)
		}
		dynamotest.Cut(out, r)
	}).Client(dynamotest.Once)
}

// A cleanup that fails at any call, whether or not the call was executed, can be completed by a second run.
func TestCleanupResumesAfterAnyFailedCall(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	c := newCleaner(t, f)
	neighbour := f.ids.New(id.Project)
	c.storeDeletedProject(neighbour, 3, 1)
	_, untouched := f.splitByProject(c.storedItems(), "")
	cut := 0
	for calls := 0; ; calls++ {
		finished := 0
		for _, done := range []bool{false, true} {
			projectID := f.ids.New(id.Project)
			c.storeDeletedProject(projectID, 30, 3)
			switch err := c.withClient(f.failingClient(calls, done)).Handle(t.Context(), f.deletionRecord(projectID)); {
			case err == nil:
				finished++
			case !errors.Is(err, db.ErrUnavailable):
				t.Fatalf("after %d calls: %v", calls, err)
			default:
				cut++
				if err := c.Handle(t.Context(), f.deletionRecord(projectID)); err != nil {
					t.Fatal(err)
				}
			}
			count, left := f.splitByProject(c.storedItems(), projectID)
			if count != 0 {
				t.Fatalf("after %d calls: %d items are left", calls, count)
			}
			if diff := cmp.Diff(untouched, left, unexported); diff != "" {
				t.Fatalf("after %d calls, items of other projects: %s", calls, diff)
			}
		}
		if finished == 2 {
			break
		}
	}
	if cut < 20 {
		t.Errorf("only %d failed runs, want at least 20", cut)
	}
}

// Records are deleted after their chunks, so a record refers to every remaining chunk of a file.
func TestCleanupDeletesChunksBeforeRecords(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	c := newCleaner(t, f)
	for calls := range 8 {
		projectID := f.ids.New(id.Project)
		c.storeDeletedProject(projectID, 60, 0)
		_ = c.withClient(f.failingClient(calls, false)).Handle(t.Context(), f.deletionRecord(projectID))
		named := map[db.Key]bool{}
		for _, item := range f.dump(f.tableNames.projects) {
			if ref, err := db.Decode[content.Ref](item); err == nil {
				for _, key := range ref.Keys(projectID) {
					named[key] = true
				}
			}
		}
		orphans := 0
		for key := range f.dump(f.tableNames.contents) {
			if key.PK == db.ProjectPartition(projectID).PK && !named[key] {
				orphans++
			}
		}
		if orphans > 3 { // the chunks that had no record from the start
			t.Errorf("after %d calls: %d chunks without a record", calls, orphans)
		}
	}
}

// A cleanup succeeds although DynamoDB throttles two of three calls.
func TestCleanupUnderThrottling(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	c := newCleaner(t, f)
	projectID := f.ids.New(id.Project)
	c.storeDeletedProject(projectID, 120, 0)
	slowDown := dynamotest.Refusal(http.StatusBadRequest, "ProvisionedThroughputExceededException", "")
	var calls atomic.Int64
	cleanup := c.withClient(dynamotest.NewWire(t, f.endpoint, func(next http.Handler, out http.ResponseWriter, r *http.Request) {
		if dynamotest.Operation(r) == "BatchWriteItem" && calls.Add(1)%3 != 0 {
			slowDown(out, r)
			return
		}
		next.ServeHTTP(out, r)
	}).Client(dynamotest.Once))
	var err error
	for attempt := 0; ; attempt++ {
		if err = cleanup.Handle(t.Context(), f.deletionRecord(projectID)); err == nil || attempt == 20 {
			break
		}
	}
	if count, _ := f.splitByProject(c.storedItems(), projectID); err != nil || count != 0 {
		t.Errorf("%d items are left, %v", count, err)
	}
}

// A large project takes few calls per hundred files, and memory for one page at a time. A project with 5,000 files and
// 26,000 items took 1,174 calls and 0.6 s on two cores.
func TestCleanupOfLargeProject(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	c := newCleaner(t, f)
	projectID := f.ids.New(id.Project)
	c.storeDeletedProject(projectID, 1000, 2)
	items, _ := f.splitByProject(c.storedItems(), projectID)
	var calls atomic.Int64
	wire := dynamotest.NewWire(t, f.endpoint, func(next http.Handler, out http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		next.ServeHTTP(out, r)
	})
	cleanup, began := c.withClient(wire.Client()), time.Now()
	if err := cleanup.Handle(t.Context(), f.deletionRecord(projectID)); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d items in %d calls, %v", items, calls.Load(), time.Since(began))
	if count, _ := f.splitByProject(c.storedItems(), projectID); count != 0 {
		t.Errorf("%d items are left", count)
	}
	if most := int64(items/25 + items/25/4); calls.Load() > most {
		t.Errorf("%d calls for %d items, want %d at most", calls.Load(), items, most)
	}
}

// A canceled cleanup keeps its progress.
func TestCleanupResumesAfterCancellation(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	c := newCleaner(t, f)
	projectID := f.ids.New(id.Project)
	c.storeDeletedProject(projectID, 300, 0)
	before, _ := f.splitByProject(c.storedItems(), projectID)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var deletions atomic.Int64
	wire := dynamotest.NewWire(t, f.endpoint, func(next http.Handler, out http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(out, r)
		if dynamotest.Operation(r) == "BatchWriteItem" && deletions.Add(1) == 10 {
			cancel()
		}
	})
	if err := c.withClient(wire.Client()).Handle(ctx, f.deletionRecord(projectID)); !errors.Is(err, db.ErrUnavailable) {
		t.Fatalf("%v", err)
	}
	between, _ := f.splitByProject(c.storedItems(), projectID)
	if between == 0 || between > before-8*25 {
		t.Errorf("%d of %d items are left", between, before)
	}
	if err := c.Handle(t.Context(), f.deletionRecord(projectID)); err != nil {
		t.Fatal(err)
	}
	if count, _ := f.splitByProject(c.storedItems(), projectID); count != 0 {
		t.Errorf("%d items are left", count)
	}
}
