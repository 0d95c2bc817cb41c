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

// gated returns a client whose first calls reach DynamoDB. The connection of all later calls is cut. If done is true,
// the first of these calls is executed before its connection is cut.
func (w *world) gated(calls int, done bool) *dynamodb.Client {
	w.t.Helper()
	var open atomic.Int64
	open.Store(int64(calls))
	return dynamotest.NewWire(w.t, w.endpoint, func(next http.Handler, out http.ResponseWriter, r *http.Request) {
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
	w := newWorld(t)
	c := newCleaner(t, w)
	neighbour := w.ids.New(id.Project)
	c.remains(neighbour, 3, 1)
	_, untouched := w.split(c.everything(), "")
	cut := 0
	for calls := 0; ; calls++ {
		finished := 0
		for _, done := range []bool{false, true} {
			projectID := w.ids.New(id.Project)
			c.remains(projectID, 30, 3)
			switch err := c.through(w.gated(calls, done)).Handle(t.Context(), w.deletion(projectID)); {
			case err == nil:
				finished++
			case !errors.Is(err, db.ErrUnavailable):
				t.Fatalf("after %d calls: %v", calls, err)
			default:
				cut++
				if err := c.Handle(t.Context(), w.deletion(projectID)); err != nil {
					t.Fatal(err)
				}
			}
			under, left := w.split(c.everything(), projectID)
			if under != 0 {
				t.Fatalf("after %d calls: %d items are left", calls, under)
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
	w := newWorld(t)
	c := newCleaner(t, w)
	for calls := range 8 {
		projectID := w.ids.New(id.Project)
		c.remains(projectID, 60, 0)
		_ = c.through(w.gated(calls, false)).Handle(t.Context(), w.deletion(projectID))
		named := map[db.Key]bool{}
		for _, item := range w.dump(w.names.projects) {
			if ref, err := db.Decode[content.Ref](item); err == nil {
				for _, key := range ref.Keys(projectID) {
					named[key] = true
				}
			}
		}
		orphans := 0
		for key := range w.dump(w.names.contents) {
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
	w := newWorld(t)
	c := newCleaner(t, w)
	projectID := w.ids.New(id.Project)
	c.remains(projectID, 120, 0)
	slowDown := dynamotest.Refusal(http.StatusBadRequest, "ProvisionedThroughputExceededException", "")
	var calls atomic.Int64
	cleanup := c.through(dynamotest.NewWire(t, w.endpoint, func(next http.Handler, out http.ResponseWriter, r *http.Request) {
		if dynamotest.Operation(r) == "BatchWriteItem" && calls.Add(1)%3 != 0 {
			slowDown(out, r)
			return
		}
		next.ServeHTTP(out, r)
	}).Client(dynamotest.Once))
	var err error
	for attempt := 0; ; attempt++ {
		if err = cleanup.Handle(t.Context(), w.deletion(projectID)); err == nil || attempt == 20 {
			break
		}
	}
	if under, _ := w.split(c.everything(), projectID); err != nil || under != 0 {
		t.Errorf("%d items are left, %v", under, err)
	}
}

// A large project takes few calls per hundred files, and memory for one page at a time. A project with 5,000 files and
// 26,000 items took 1,174 calls and 0.6 s on two cores.
func TestCleanupOfLargeProject(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := newCleaner(t, w)
	projectID := w.ids.New(id.Project)
	c.remains(projectID, 1000, 2)
	items, _ := w.split(c.everything(), projectID)
	var calls atomic.Int64
	wire := dynamotest.NewWire(t, w.endpoint, func(next http.Handler, out http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		next.ServeHTTP(out, r)
	})
	cleanup, began := c.through(wire.Client()), time.Now()
	if err := cleanup.Handle(t.Context(), w.deletion(projectID)); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d items in %d calls, %v", items, calls.Load(), time.Since(began))
	if under, _ := w.split(c.everything(), projectID); under != 0 {
		t.Errorf("%d items are left", under)
	}
	if most := int64(items/25 + items/25/4); calls.Load() > most {
		t.Errorf("%d calls for %d items, want %d at most", calls.Load(), items, most)
	}
}

// A canceled cleanup keeps its progress.
func TestCleanupResumesAfterCancellation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := newCleaner(t, w)
	projectID := w.ids.New(id.Project)
	c.remains(projectID, 300, 0)
	before, _ := w.split(c.everything(), projectID)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var deletions atomic.Int64
	wire := dynamotest.NewWire(t, w.endpoint, func(next http.Handler, out http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(out, r)
		if dynamotest.Operation(r) == "BatchWriteItem" && deletions.Add(1) == 10 {
			cancel()
		}
	})
	if err := c.through(wire.Client()).Handle(ctx, w.deletion(projectID)); !errors.Is(err, db.ErrUnavailable) {
		t.Fatalf("%v", err)
	}
	between, _ := w.split(c.everything(), projectID)
	if between == 0 || between > before-8*25 {
		t.Errorf("%d of %d items are left", between, before)
	}
	if err := c.Handle(t.Context(), w.deletion(projectID)); err != nil {
		t.Fatal(err)
	}
	if under, _ := w.split(c.everything(), projectID); under != 0 {
		t.Errorf("%d items are left", under)
	}
}
