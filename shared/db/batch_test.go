package db_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"

	"devplatform/shared/db"
)

func TestDeleteAll(t *testing.T) {
	t.Parallel()
	c, table, _ := newTable(t)
	var keys []db.Key
	for i := range 60 {
		key := db.UsernameKey(fmt.Sprint("u", i))
		keys = append(keys, key, key) // repeated, which one call would refuse
		mustDo(t, c, table.Put(key, item(fmt.Sprint(i))))
	}
	stays := db.UsernameKey("stays")
	mustDo(t, c, table.Put(stays, item("x")))
	for range 2 { // the second time there is nothing to delete
		ctx := db.CountCalls(t.Context())
		if err := table.DeleteAll(ctx, keys...); err != nil || db.Calls(ctx) != 3 {
			t.Fatalf("%v in %d calls", err, db.Calls(ctx))
		}
		if found, err := table.BatchGet(t.Context(), append(keys, stays)...); err != nil || len(found) != 1 {
			t.Errorf("%d remain, %v", len(found), err)
		}
	}
	if err := table.DeleteAll(t.Context()); err != nil {
		t.Errorf("no keys: %v", err)
	}
	if err := table.DeleteAll(t.Context(), stays, db.Key{}); !errors.Is(err, db.ErrInvalidKey) {
		t.Errorf("an invalid key: %v", err)
	}
	if _, err := table.Get(t.Context(), stays); err != nil {
		t.Errorf("a rejected call deleted an item: %v", err)
	}
}

// busy is a DynamoDB that deletes only the first item of a batch, or none if it is stuck.
type busy struct {
	stuck bool
	mu    sync.Mutex
	calls int
	sizes []int
}

func (b *busy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in struct{ RequestItems map[string][]json.RawMessage }
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		panic(err)
	}
	unprocessed := in.RequestItems["t"]
	b.mu.Lock()
	b.calls++
	b.sizes = append(b.sizes, len(unprocessed))
	b.mu.Unlock()
	if !b.stuck {
		unprocessed = unprocessed[1:]
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	items := map[string][]json.RawMessage{}
	if len(unprocessed) > 0 {
		items["t"] = unprocessed
	}
	data, err := json.Marshal(map[string]any{"UnprocessedItems": items})
	if err != nil {
		panic(err)
	}
	_, _ = w.Write(data)
}

func TestDeleteAllRetriesUnprocessedItems(t *testing.T) {
	t.Parallel()
	keys := []db.Key{db.EmailKey("a@b.c"), db.EmailKey("b@b.c"), db.EmailKey("c@b.c")}
	slow, stuck := &busy{}, &busy{stuck: true}
	for b, want := range map[*busy]string{slow: "internal", stuck: "unavailable"} {
		server := httptest.NewServer(b)
		t.Cleanup(server.Close)
		err := clientOf(server.URL).Table("t").DeleteAll(t.Context(), keys...)
		if (err == nil) != (want == "internal") || class(err) != want {
			t.Errorf("%v", err)
		}
	}
	if fmt.Sprint(slow.sizes) != "[3 2 1]" {
		t.Errorf("sent %v", slow.sizes)
	}
	if stuck.calls < 2 || stuck.calls > 10 {
		t.Errorf("sent %d times", stuck.calls)
	}
}

func TestBatchGetRetriesUnprocessedKeys(t *testing.T) {
	t.Parallel()
	key := `{"pk":{"S":"EMAIL#a@b.c"},"sk":{"S":"EMAIL"}}`
	stuck := &scripted{status: 200, body: `{"Responses":{},"UnprocessedKeys":{"t":{"Keys":[` + key + `]}}}`}
	server := httptest.NewServer(stuck)
	t.Cleanup(server.Close)
	if _, err := clientOf(server.URL).Table("t").BatchGet(t.Context(), db.EmailKey("a@b.c")); class(err) != "unavailable" {
		t.Errorf("%v", err)
	}
	if n := len(stuck.asked); n < 2 || n > 10 {
		t.Errorf("asked %d times", n)
	}
	var calls atomic.Int32
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		if calls.Add(1) == 1 {
			_, _ = io.WriteString(w, stuck.body)
			return
		}
		_, _ = io.WriteString(w, `{"Responses":{"t":[`+key+`]}}`)
	}))
	t.Cleanup(slow.Close)
	found, err := clientOf(slow.URL).Table("t").BatchGet(t.Context(), db.EmailKey("a@b.c"))
	if err != nil || len(found) != 1 {
		t.Errorf("%v, %v", found, err)
	}
}
