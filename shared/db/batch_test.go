package db_test

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/shared/db"
)

func TestDeleteAll(t *testing.T) {
	t.Parallel()
	client, table, _ := newTable(t)
	var keys []db.Key
	for i := range 60 {
		key := db.UsernameKey(fmt.Sprint("u", i))
		keys = append(keys, key, key) // DynamoDB rejects duplicates in a call
		mustDo(t, client, table.Put(key, item(fmt.Sprint(i))))
	}
	other := db.UsernameKey("other")
	mustDo(t, client, table.Put(other, item("x")))
	for range 2 { // the second call deletes items that no longer exist
		ctx := db.CountCalls(t.Context())
		if err := table.DeleteAll(ctx, keys...); err != nil || db.Calls(ctx) != 3 {
			t.Fatalf("got error %v after %d calls, want none after 3 calls", err, db.Calls(ctx))
		}
		if found, err := table.BatchGet(t.Context(), append(keys, other)...); err != nil || len(found) != 1 {
			t.Errorf("got %d items, %v after DeleteAll, want the other item only", len(found), err)
		}
	}
	if err := table.DeleteAll(t.Context()); err != nil {
		t.Errorf("without keys: got error %v, want none", err)
	}
	if err := table.DeleteAll(t.Context(), other, db.Key{}); !errors.Is(err, db.ErrInvalidKey) {
		t.Errorf("with an invalid key: got error %v, want ErrInvalidKey", err)
	}
	if _, err := table.Get(t.Context(), other); err != nil {
		t.Errorf("DeleteAll with an invalid key deleted another item: %v", err)
	}
}

func TestPutAll(t *testing.T) {
	t.Parallel()
	client, table, _ := newTable(t)
	replaced := db.UsernameKey("u0")
	mustDo(t, client, table.Put(replaced, item("old")))
	items := map[db.Key]db.Item{}
	for i := range 60 {
		items[db.UsernameKey(fmt.Sprint("u", i))] = item(fmt.Sprint(i))
	}
	ctx := db.CountCalls(t.Context())
	if err := table.PutAll(ctx, items); err != nil || db.Calls(ctx) != 3 {
		t.Fatalf("got error %v after %d calls, want none after 3 calls", err, db.Calls(ctx))
	}
	for key, want := range items {
		got, err := table.Get(t.Context(), key)
		if err != nil || !reflect.DeepEqual(got["v"], want["v"]) || db.KeyOf(got) != key {
			t.Errorf("got %v and error %v, want %v", got, err, want)
		}
	}
	if err := table.PutAll(t.Context(), nil); err != nil {
		t.Errorf("without items: got error %v, want none", err)
	}
	items[db.Key{}] = item("x")
	if err := table.PutAll(t.Context(), items); !errors.Is(err, db.ErrInvalidKey) {
		t.Errorf("with an invalid key: got error %v, want ErrInvalidKey", err)
	}
}

// One call reads up to 100 items of several tables.
func TestBatchGet(t *testing.T) {
	t.Parallel()
	endpoint := dynamotest.StartServer(t)
	client := db.New(awsConfig(endpoint), newFakeClock().now)
	var tables []db.Table
	for range 2 {
		name := "db-test-" + rand.Text()
		dynamotest.CreateTable(t, dynamotest.Client(endpoint), name, "pk", "sk")
		tables = append(tables, client.Table(name))
	}
	var refs []db.Ref
	for i := range 130 {
		key, table := db.UsernameKey(fmt.Sprint("u", i/2)), tables[i%2]
		mustDo(t, client, table.Put(key, item(fmt.Sprint(i))))
		refs = append(refs, table.Ref(key))
	}
	for n, wantCalls := range map[int]int{2: 1, 100: 1, 130: 2} {
		ctx := db.CountCalls(t.Context())
		wanted := append(refs[:n:n], refs[0], tables[0].Ref(db.Key{}))
		found, err := client.BatchGet(ctx, wanted...)
		if err != nil || len(found) != n || db.Calls(ctx) != wantCalls {
			t.Fatalf("got %d items, error %v and %d calls, want %d items in %d", len(found), err, db.Calls(ctx), n, wantCalls)
		}
		for i, ref := range refs[:n] {
			if value(found[ref]) != fmt.Sprint(i) {
				t.Errorf("%v: got %v, want value %d", ref, found[ref], i)
			}
		}
	}
	if found, err := client.BatchGet(t.Context(), tables[0].Ref(db.UsernameKey("none"))); err != nil || len(found) > 0 {
		t.Errorf("got %v, error %v for a missing item, want none", found, err)
	}
}

// partialDynamoDB is a fake DynamoDB that deletes only the first item of a batch, or none if it is stuck.
type partialDynamoDB struct {
	stuck bool
	mu    sync.Mutex
	sizes []int // the number of items in each call
}

func (p *partialDynamoDB) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in struct{ RequestItems map[string][]json.RawMessage }
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		panic(err)
	}
	unprocessed := in.RequestItems["t"]
	p.mu.Lock()
	p.sizes = append(p.sizes, len(unprocessed))
	p.mu.Unlock()
	if !p.stuck {
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
	deleteAll := func(handler http.Handler) error {
		server := httptest.NewServer(handler)
		t.Cleanup(server.Close)
		return newClient(server.URL).Table("t").DeleteAll(t.Context(), keys...)
	}
	slow, stuck := &partialDynamoDB{}, &partialDynamoDB{stuck: true}
	if err := deleteAll(slow); err != nil {
		t.Errorf("got error %v although each call made progress, want none", err)
	}
	if !slices.Equal(slow.sizes, []int{3, 2, 1}) {
		t.Errorf("got calls with %v items, want 3, 2 and 1", slow.sizes)
	}
	if err := deleteAll(stuck); class(err) != "unavailable" {
		t.Errorf("got error %v although no call made progress, want ErrUnavailable", err)
	}
	if n := len(stuck.sizes); n < 2 || n > 10 { // about awsclient.MaxAttempts
		t.Errorf("got %d calls without progress, want 2 to 10", n)
	}
}

func TestBatchGetRetriesUnprocessedKeys(t *testing.T) {
	t.Parallel()
	key := `{"pk":{"S":"EMAIL#a@b.c"},"sk":{"S":"EMAIL"}}`
	stuck := &fakeDynamoDB{status: 200, body: `{"Responses":{},"UnprocessedKeys":{"t":{"Keys":[` + key + `]}}}`}
	server := httptest.NewServer(stuck)
	t.Cleanup(server.Close)
	_, err := newClient(server.URL).Table("t").BatchGet(t.Context(), db.EmailKey("a@b.c"))
	if class(err) != "unavailable" {
		t.Errorf("got error %v although no call made progress, want ErrUnavailable", err)
	}
	if n := len(stuck.requests); n < 2 || n > 10 {
		t.Errorf("got %d calls without progress, want 2 to 10", n)
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
	found, err := newClient(slow.URL).Table("t").BatchGet(t.Context(), db.EmailKey("a@b.c"))
	if err != nil || len(found) != 1 {
		t.Errorf("got items %v, %v after a retry, want the item", found, err)
	}
}
