package cleanup_test

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
	"devplatform/infra/projecttest"
	"devplatform/infra/testmode"
	"devplatform/shared/awsclient"
	"devplatform/shared/db"
	"devplatform/shared/id"
	"devplatform/shared/project/content"
)

// failingClient returns a client that fails after a number of successful calls: the connections of all later calls are
// cut. If execute is true, DynamoDB still executes the first call whose connection is cut.
func failingClient(f *fixture, calls int, execute bool) *dynamodb.Client {
	f.T.Helper()
	var remaining atomic.Int64
	remaining.Store(int64(calls))
	return dynamotest.NewWire(f.T, f.Endpoint, func(next http.Handler, out http.ResponseWriter, r *http.Request) {
		n := remaining.Add(-1)
		if n >= 0 {
			next.ServeHTTP(out, r)
			return
		}
		if execute && n == -1 {
			next.ServeHTTP(httptest.NewRecorder(), r)
		}
		dynamotest.Cut(out, r)
	}).Client(dynamotest.Once)
}

// A cleanup that fails at any call, whether or not the call was executed, can be completed by a second run.
func TestCleanupResumesAfterAnyFailedCall(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	c := projecttest.NewCleaner(t, f)
	otherID := f.IDs.New(id.Project)
	storeDeletedProject(c, otherID, 3, 1)
	_, otherItems := splitByProject(f, storedItems(c), "")
	failedRuns, step, minFailedRuns := 0, 1, 20
	if !testmode.IsNightly() { // every fifth call only
		step, minFailedRuns = 5, 4
	}
	for calls := 0; ; calls += step {
		finished := 0
		for _, execute := range []bool{false, true} {
			projectID := f.IDs.New(id.Project)
			storeDeletedProject(c, projectID, 30, 3)
			switch err := c.WithClient(failingClient(f, calls, execute)).Handle(t.Context(), deletionRecord(f, projectID)); {
			case err == nil:
				finished++
			case !errors.Is(err, db.ErrUnavailable):
				t.Fatalf("failure after %d calls: got error %v, want ErrUnavailable", calls, err)
			default:
				failedRuns++
				if err := c.Handle(t.Context(), deletionRecord(f, projectID)); err != nil {
					t.Fatal(err)
				}
			}
			count, rest := splitByProject(f, storedItems(c), projectID)
			if count != 0 {
				t.Fatalf("failure after %d calls: %d items remain after the second run, want 0", calls, count)
			}
			if diff := cmp.Diff(otherItems, rest, projecttest.Unexported); diff != "" {
				t.Fatalf("failure after %d calls: items of the other project changed (-want +got):\n%s", calls, diff)
			}
		}
		if finished == 2 {
			break
		}
	}
	if failedRuns < minFailedRuns {
		t.Errorf("got %d failed runs, want at least %d", failedRuns, minFailedRuns)
	}
}

// Records are deleted after their chunks, so a record refers to every remaining chunk of a file.
func TestCleanupDeletesChunksBeforeRecords(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	c := projecttest.NewCleaner(t, f)
	for calls := range 8 {
		projectID := f.IDs.New(id.Project)
		storeDeletedProject(c, projectID, 60, 0)
		_ = c.WithClient(failingClient(f, calls, false)).Handle(t.Context(), deletionRecord(f, projectID))
		referenced := map[db.Key]bool{}
		for _, item := range f.Dump(f.Tables.Projects) {
			if ref, err := db.Decode[content.Ref](item); err == nil {
				referenced[ref.ChunkKey(projectID)] = true
			}
		}
		orphans := 0
		for key := range f.Dump(f.Tables.Contents) {
			if key.PK == db.ProjectPartition(projectID).PK && !referenced[key] {
				orphans++
			}
		}
		if orphans > 3 { // storeDeletedProject stores 3 chunks without a record
			t.Errorf("failure after %d calls: got %d chunks without a record, want at most 3", calls, orphans)
		}
	}
}

// A repeated cleanup succeeds although DynamoDB throttles two of three calls that delete items.
func TestCleanupUnderThrottling(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	c := projecttest.NewCleaner(t, f)
	projectID := f.IDs.New(id.Project)
	storeDeletedProject(c, projectID, 120, 0)
	throttle := dynamotest.Refusal(http.StatusBadRequest, "ProvisionedThroughputExceededException", "")
	var calls atomic.Int64
	wire := dynamotest.NewWire(t, f.Endpoint, func(next http.Handler, out http.ResponseWriter, r *http.Request) {
		if dynamotest.Operation(r) == "BatchWriteItem" && calls.Add(1)%3 != 0 {
			throttle(out, r)
			return
		}
		next.ServeHTTP(out, r)
	})
	cleanup := c.WithClient(wire.Client(dynamotest.Once))
	var err error
	for attempt := 0; ; attempt++ {
		if err = cleanup.Handle(t.Context(), deletionRecord(f, projectID)); err == nil || attempt == 20 {
			break
		}
	}
	if count, _ := splitByProject(f, storedItems(c), projectID); err != nil || count != 0 {
		t.Errorf("got error %v and %d remaining items, want no error and 0 items", err, count)
	}
}

// The attempts of the SDK and of the cleanup do not multiply.
func TestCleanupAttemptsWhileStorageFails(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	c := projecttest.NewCleaner(t, f)
	projectID := f.IDs.New(id.Project)
	storeDeletedProject(c, projectID, 5, 0)
	var calls atomic.Int64
	wire := dynamotest.NewWire(t, f.Endpoint, func(next http.Handler, out http.ResponseWriter, r *http.Request) {
		if dynamotest.Operation(r) == "BatchWriteItem" {
			calls.Add(1)
			dynamotest.Cut(out, r)
			return
		}
		next.ServeHTTP(out, r)
	})
	cleanup := c.WithClient(wire.Client(func(o *dynamodb.Options) { o.Retryer = awsclient.Retryer() }))
	err := cleanup.Handle(t.Context(), deletionRecord(f, projectID))
	if !errors.Is(err, db.ErrUnavailable) || calls.Load() != 20 {
		t.Errorf("got error %v after %d attempts, want ErrUnavailable after 20", err, calls.Load())
	}
}

// The cleanup of a large project makes few calls per hundred files. It keeps only one page in memory. A project with
// 5,000 files and 26,000 items took 1,174 calls and 0.6 s on two cores.
func TestCleanupOfLargeProject(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	c := projecttest.NewCleaner(t, f)
	projectID := f.IDs.New(id.Project)
	storeDeletedProject(c, projectID, 1000, 2)
	items, _ := splitByProject(f, storedItems(c), projectID)
	var calls atomic.Int64
	wire := dynamotest.NewWire(t, f.Endpoint, func(next http.Handler, out http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		next.ServeHTTP(out, r)
	})
	cleanup, began := c.WithClient(wire.Client()), time.Now()
	if err := cleanup.Handle(t.Context(), deletionRecord(f, projectID)); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d items in %d calls, %v", items, calls.Load(), time.Since(began))
	if count, _ := splitByProject(f, storedItems(c), projectID); count != 0 {
		t.Errorf("%d items remain, want 0", count)
	}
	// A call deletes 25 items. A quarter more calls are enough to read them.
	if limit := int64(items/25 + items/25/4); calls.Load() > limit {
		t.Errorf("got %d calls for %d items, want at most %d", calls.Load(), items, limit)
	}
}

// A canceled cleanup keeps its progress.
func TestCleanupResumesAfterCancellation(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	c := projecttest.NewCleaner(t, f)
	projectID := f.IDs.New(id.Project)
	storeDeletedProject(c, projectID, 300, 0)
	before, _ := splitByProject(f, storedItems(c), projectID)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var deletions atomic.Int64
	wire := dynamotest.NewWire(t, f.Endpoint, func(next http.Handler, out http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(out, r)
		if dynamotest.Operation(r) == "BatchWriteItem" && deletions.Add(1) == 10 {
			cancel()
		}
	})
	if err := c.WithClient(wire.Client()).Handle(ctx, deletionRecord(f, projectID)); !errors.Is(err, db.ErrUnavailable) {
		t.Fatalf("canceled cleanup: got error %v, want ErrUnavailable", err)
	}
	between, _ := splitByProject(f, storedItems(c), projectID)
	if between == 0 || between > before-8*25 {
		t.Errorf("after the canceled cleanup, %d of %d items remain, want at least 1 and at least 200 fewer", between, before)
	}
	if err := c.Handle(t.Context(), deletionRecord(f, projectID)); err != nil {
		t.Fatal(err)
	}
	if count, _ := splitByProject(f, storedItems(c), projectID); count != 0 {
		t.Errorf("%d items remain, want 0", count)
	}
}
