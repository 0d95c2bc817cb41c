package triggers_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	engine "devplatform/infra/local/dynamodb"
	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/local/resources"
	"devplatform/infra/local/triggers"
)

// The reader of an idle stream sends no requests, and gets a record at once.
func TestChangedStreamIsReadAtOnce(t *testing.T) {
	t.Parallel()
	db, err := engine.Open(engine.Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	var reads atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".GetRecords") {
			reads.Add(1)
		}
		db.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		server.Close()
		_ = db.Close()
	})
	client := dynamotest.Client(server.URL)
	dynamotest.CreateStreamTable(t, client, types.StreamViewTypeNewImage, t.Name(), "id")
	r := newReceiver()
	opened, err := triggers.Open(triggers.Options{
		Mappings: []resources.EventSourceMapping{{
			Name: "FnEvents", Function: "Fn", Table: t.Name(), BatchSize: 100, ParallelizationFactor: 1, MaximumRecordAge: time.Hour,
		}},
		Invoke: r.invoke, Endpoint: server.URL, Positions: triggers.NewMemory(), Now: time.Now, StreamChanged: db.StreamChanged,
		PollInterval: time.Hour,
	})
	if err != nil {
		t.Fatal(err)
	}
	opened.Start()
	t.Cleanup(func() { stop(t, opened) })
	for i, id := range []string{"a", "b", "c"} {
		put(t, client, id)
		r.await(t, i+1)
	}
	time.Sleep(100 * time.Millisecond) // the read after the last record
	before := reads.Load()
	time.Sleep(500 * time.Millisecond)
	if n := reads.Load() - before; n > 0 {
		t.Errorf("the reader sent %d requests to an idle stream", n)
	}
	sent := time.Now()
	put(t, client, "d")
	r.await(t, 4)
	if took := time.Since(sent); took > 5*time.Second {
		t.Errorf("the record took %v", took)
	}
	before, sent = reads.Load(), time.Now()
	for n := range 100 {
		put(t, client, fmt.Sprintf("e%d", n))
	}
	r.await(t, 104)
	// After a page with records, the reader pauses for 10 ms for each of them, up to 50 ms. So it reads at most twice in
	// 10 ms: a page with records, and one without.
	limit := 2*int32(time.Since(sent)/(10*time.Millisecond)) + 4
	if n := reads.Load() - before; n > limit {
		t.Errorf("the reader sent %d requests for 100 writes, want at most %d", n, limit)
	}
}
