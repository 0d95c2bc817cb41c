package db_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
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
	for range 2 { // the second time there is nothing left
		ctx := db.CountCalls(t.Context())
		if err := table.DeleteAll(ctx, keys...); err != nil || db.Calls(ctx) != 3 {
			t.Fatalf("%v in %d calls", err, db.Calls(ctx))
		}
		if found, err := table.BatchGet(t.Context(), append(keys, stays)...); err != nil || len(found) != 1 {
			t.Errorf("%d left, %v", len(found), err)
		}
	}
	if err := table.DeleteAll(t.Context()); err != nil {
		t.Errorf("nothing: %v", err)
	}
	if err := table.DeleteAll(t.Context(), stays, db.Key{}); !errors.Is(err, db.ErrInvalidKey) {
		t.Errorf("a key that can't be right: %v", err)
	}
	if _, err := table.Get(t.Context(), stays); err != nil {
		t.Errorf("a refused call deleted: %v", err)
	}
}

// busy is a DynamoDB that deletes the first of a batch, if it deletes any, and leaves the rest unprocessed.
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
	left := in.RequestItems["t"]
	b.mu.Lock()
	b.calls++
	b.sizes = append(b.sizes, len(left))
	b.mu.Unlock()
	if !b.stuck {
		left = left[1:]
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	unprocessed := map[string][]json.RawMessage{}
	if len(left) > 0 {
		unprocessed["t"] = left
	}
	data, err := json.Marshal(map[string]any{"UnprocessedItems": unprocessed})
	if err != nil {
		panic(err)
	}
	_, _ = w.Write(data)
}

func TestUnprocessedDeletionsAreSentAgain(t *testing.T) {
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
