package project

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/shared/db"
	"devplatform/shared/id"
)

// gate lets so many calls to DynamoDB through and cuts off all others, before or after they have done their work.
type gate struct {
	open  atomic.Int64
	after bool
	next  http.Handler
}

func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if g.open.Add(-1) < 0 {
		if g.after && g.open.Load() == -1 {
			g.next.ServeHTTP(httptest.NewRecorder(), r)
		}
		panic(http.ErrAbortHandler)
	}
	g.next.ServeHTTP(w, r)
}

// quietly is a proxy that does not log whom it was cut off from.
func quietly(target *url.URL) http.Handler {
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo)
	return proxy
}

func newGate(t *testing.T, w *world, calls int, after bool) (*gate, *dynamodb.Client) {
	t.Helper()
	target, err := url.Parse(w.endpoint)
	if err != nil {
		t.Fatal(err)
	}
	g := &gate{after: after, next: quietly(target)}
	g.open.Store(int64(calls))
	server := httptest.NewServer(g)
	t.Cleanup(server.Close)
	return g, dynamotest.Client(server.URL, func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} })
}

// Wherever a clean-up is cut off, the next one ends clean: after every number of calls, and with the last one done or not.
func TestACleanUpMayBeCutOffAnywhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := newCleaner(t, w)
	neighbour := w.ids.New(id.Project)
	c.remains(neighbour, 3, 1)
	_, untouched := w.split(c.everything(), "")
	cut := 0
	for calls := 0; ; calls++ {
		finished := 0
		for _, after := range []bool{false, true} {
			projectID := w.ids.New(id.Project)
			c.remains(projectID, 30, 3)
			_, sdk := newGate(t, w, calls, after)
			switch err := c.through(sdk).Handle(t.Context(), w.deletion(projectID)); {
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
				t.Fatalf("after %d calls, others' items: %s", calls, diff)
			}
		}
		if finished == 2 {
			break
		}
	}
	if cut < 20 {
		t.Errorf("cut off %d times only", cut)
	}
}

// The records go last: as long as there is a chunk of a file, something names it.
func TestRecordsGoAfterTheirChunks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := newCleaner(t, w)
	for calls := range 8 {
		projectID := w.ids.New(id.Project)
		c.remains(projectID, 60, 0)
		_, sdk := newGate(t, w, calls, false)
		_ = c.through(sdk).Handle(t.Context(), w.deletion(projectID))
		named := map[db.Key]bool{}
		for _, item := range w.dump(w.names.projects) {
			var ref contentRef
			if db.Decode(item, &ref) == nil {
				for _, key := range chunkKeys(projectID, ref) {
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
		if orphans > 3 { // those that nothing named from the beginning
			t.Errorf("after %d calls: %d chunks without a record", calls, orphans)
		}
	}
}

// A throttled DynamoDB leaves parts of a batch undone, or refuses all of it.
func TestACleanUpIsPatientWithThrottling(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := newCleaner(t, w)
	projectID := w.ids.New(id.Project)
	c.remains(projectID, 120, 0)
	target, err := url.Parse(w.endpoint)
	if err != nil {
		t.Fatal(err)
	}
	next := quietly(target)
	var calls atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if operation(r) == "BatchWriteItem" && calls.Add(1)%3 != 0 {
			out.Header().Set("Content-Type", "application/x-amz-json-1.0")
			out.WriteHeader(http.StatusBadRequest)
			_, _ = out.Write([]byte(`{"__type":"com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException","message":"slow down"}`))
			return
		}
		next.ServeHTTP(out, r)
	}))
	t.Cleanup(server.Close)
	cleanup := c.through(dynamotest.Client(server.URL, func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} }))
	for attempt := 0; ; attempt++ {
		if err = cleanup.Handle(t.Context(), w.deletion(projectID)); err == nil || attempt == 20 {
			break
		}
	}
	if under, _ := w.split(c.everything(), projectID); err != nil || under != 0 {
		t.Errorf("%d items are left, %v", under, err)
	}
}

// A large project takes a few calls a hundred files, and memory for a page at a time. One of 5,000 files, 26,000 items, took 1,174
// calls and 0.6 s on two cores.
func TestALargeProjectIsCleanedUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := newCleaner(t, w)
	projectID := w.ids.New(id.Project)
	c.remains(projectID, 1000, 2)
	items, _ := w.split(c.everything(), projectID)
	var calls atomic.Int64
	target, err := url.Parse(w.endpoint)
	if err != nil {
		t.Fatal(err)
	}
	next := quietly(target)
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		next.ServeHTTP(out, r)
	}))
	t.Cleanup(server.Close)
	cleanup, began := c.through(dynamotest.Client(server.URL)), time.Now()
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

// What is done when time runs out stays done.
func TestACleanUpOutOfTimeGoesOnLater(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := newCleaner(t, w)
	projectID := w.ids.New(id.Project)
	c.remains(projectID, 300, 0)
	before, _ := w.split(c.everything(), projectID)
	target, err := url.Parse(w.endpoint)
	if err != nil {
		t.Fatal(err)
	}
	next, deletions := quietly(target), 0
	ctx, cancel := context.WithCancel(t.Context())
	var mu sync.Mutex
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(out, r)
		mu.Lock()
		defer mu.Unlock()
		if operation(r) == "BatchWriteItem" {
			if deletions++; deletions == 10 {
				cancel()
			}
		}
	}))
	t.Cleanup(server.Close)
	if err := c.through(dynamotest.Client(server.URL)).Handle(ctx, w.deletion(projectID)); !errors.Is(err, db.ErrUnavailable) {
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
