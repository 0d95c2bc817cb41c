package db_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/shared/db"
)

var (
	errRefused = errors.New("refused")
	guardKey   = db.KnownIPKey("a@b.c", "session")
	dataKey    = db.EmailKey("a@b.c")
)

// operations returns all operations of the package. Each returns the number of results.
func operations(client *db.Client, table db.Table) map[string]func(context.Context) (found int, err error) {
	write := func(run func(context.Context) error) func(context.Context) (int, error) {
		return func(ctx context.Context) (int, error) { return 0, run(ctx) }
	}
	query := db.Query{Prefix: db.Prefix{PK: "EMAIL#a@b.c", SK: "EMAIL"}}
	return map[string]func(context.Context) (int, error){
		"Get": func(ctx context.Context) (int, error) {
			item, err := table.Get(ctx, dataKey)
			return len(item), err
		},
		"BatchGet": func(ctx context.Context) (int, error) {
			items, err := table.BatchGet(ctx, dataKey)
			return len(items), err
		},
		"Query": func(ctx context.Context) (int, error) {
			page, err := table.Query(ctx, query)
			return len(page.Items), err
		},
		"QueryAll": func(ctx context.Context) (int, error) {
			items, err := table.QueryAll(ctx, query.Prefix)
			return len(items), err
		},
		"Do": write(func(ctx context.Context) error {
			_, err := client.Do(ctx, table.Put(dataKey, item("written")))
			return err
		}),
		"Commit":    write(client.Tx(table.Put(dataKey, item("written"))).Commit),
		"DeleteAll": write(func(ctx context.Context) error { return table.DeleteAll(ctx, dataKey) }),
		"PutAll": write(func(ctx context.Context) error {
			return table.PutAll(ctx, map[db.Key]db.Item{dataKey: item("written")})
		}),
		"Admit": write(db.Admit),
	}
}

// guarded returns a context with a guard, and the number of the guard's checks. The guard allows an operation if the
// item under guardKey exists.
func guarded(ctx context.Context, client *db.Client, table db.Table) (context.Context, *atomic.Int64) {
	checks := new(atomic.Int64)
	ref := table.Ref(guardKey)
	return client.WithGuard(db.CountCalls(ctx), func(items map[db.Ref]db.Item) error {
		checks.Add(1)
		if items[ref] == nil {
			return errRefused
		}
		return nil
	}, ref), checks
}

func TestRefusedOperations(t *testing.T) {
	t.Parallel()
	client, table, _ := newTable(t)
	mustDo(t, client, table.Put(dataKey, item("stored")))
	for name, run := range operations(client, table) {
		ctx, checks := guarded(t.Context(), client, table)
		for range 2 { // the guard decides for the whole request
			if found, err := run(ctx); !errors.Is(err, errRefused) || found > 0 {
				t.Errorf("%s: got %d results and error %v, want only the error of the guard", name, found, err)
			}
		}
		if n := checks.Load(); n != 1 {
			t.Errorf("%s: the guard was checked %d times, want once", name, n)
		}
	}
	if stored, err := table.Get(t.Context(), dataKey); err != nil || value(stored) != "stored" {
		t.Errorf("got item %v, %v, want the item before the refused writes", stored, err)
	}
}

// The first BatchGet or Get also reads the guard's items. They are not part of its result.
func TestAllowedOperations(t *testing.T) {
	t.Parallel()
	client, table, _ := newTable(t)
	mustDo(t, client, table.Put(guardKey, item("session")))
	for name, run := range operations(client, table) {
		mustDo(t, client, table.Put(dataKey, item("stored")))
		ctx, _ := guarded(t.Context(), client, table)
		found, err := run(ctx)
		wantCalls, wantFound := 2, 0
		switch name {
		case "Get":
			wantCalls, wantFound = 1, 3 // the keys and the attribute
		case "BatchGet":
			wantCalls, wantFound = 1, 1
		case "Query", "QueryAll":
			wantFound = 1
		case "Admit":
			wantCalls = 1
		}
		if calls := db.Calls(ctx); err != nil || found != wantFound || calls != wantCalls {
			t.Errorf("%s: got %d results, %d calls, error %v, want %d results and %d calls",
				name, found, calls, err, wantFound, wantCalls)
		}
		if err := db.Admit(ctx); err != nil || db.Calls(ctx) != wantCalls {
			t.Errorf("%s: Admit after the operation: got error %v and %d calls", name, err, db.Calls(ctx))
		}
	}
	ctx, _ := guarded(t.Context(), client, table)
	if items, err := table.BatchGet(ctx, guardKey); err != nil || len(items) != 1 {
		t.Errorf("BatchGet of the guard's own item: got %v, %v, want that item", items, err)
	}
}

// Concurrent operations of a request read the guard's items once, and all of them wait for its decision.
func TestConcurrentOperationsWithAGuard(t *testing.T) {
	t.Parallel()
	client, table, _ := newTable(t)
	mustDo(t, client, table.Put(dataKey, item("stored")))
	ctx, checks := guarded(t.Context(), client, table)
	var all sync.WaitGroup
	for range 4 {
		for name, run := range operations(client, table) {
			all.Go(func() {
				if found, err := run(ctx); !errors.Is(err, errRefused) || found > 0 {
					t.Errorf("%s: got %d results and error %v, want only the error of the guard", name, found, err)
				}
			})
		}
	}
	all.Wait()
	if n := checks.Load(); n != 1 {
		t.Errorf("the guard was checked %d times, want once", n)
	}
}

// If the guard's items cannot be read, nothing is allowed. The end of the context of one operation does not end the
// read for the others.
func TestGuardThatCannotBeRead(t *testing.T) {
	t.Parallel()
	endpoint := dynamotest.StartServer(t)
	sdk := dynamotest.Client(endpoint)
	dynamotest.CreateTable(t, sdk, "guarded", "pk", "sk")
	wire := dynamotest.NewWire(t, endpoint, nil)
	client := db.Wrap(wire.Client(), newFakeClock().now)
	table := client.Table("guarded")
	mustDo(t, client, table.Put(guardKey, item("session")))
	for name, run := range operations(client, table) {
		wire.Break("BatchGetItem", dynamotest.ServerError.Times(dynamotest.Attempts))
		ctx, _ := guarded(t.Context(), client, table)
		if found, err := run(ctx); !errors.Is(err, db.ErrUnavailable) || found > 0 {
			t.Errorf("%s: got %d results and error %v, want ErrUnavailable", name, found, err)
		}
		wire.Clear()
	}

	for name, run := range operations(client, table) {
		ctx, _ := guarded(t.Context(), client, table)
		group, groupCtx := errgroup.WithContext(ctx)
		ended := make(chan struct{})
		wire.Before("BatchGetItem", func() { <-ended })
		group.Go(func() error {
			_, err := run(groupCtx)
			return err
		})
		group.Go(func() error { return errRefused }) // ends groupCtx
		go func() {
			<-groupCtx.Done()
			close(ended)
		}()
		if err := group.Wait(); !errors.Is(err, errRefused) {
			t.Errorf("%s: got error %v, want the error of the other operation", name, err)
		}
		if err := db.Admit(ctx); err != nil {
			t.Errorf("%s: after the end of one operation, got error %v, want none", name, err)
		}
	}
}

// The end of a request does not change the decision about it.
func TestAllowedRequestThatHasEnded(t *testing.T) {
	t.Parallel()
	client, table, _ := newTable(t)
	mustDo(t, client, table.Put(guardKey, item("session")))
	parent, end := context.WithCancel(t.Context())
	ctx, _ := guarded(parent, client, table)
	if err := db.Admit(ctx); err != nil {
		t.Fatal(err)
	}
	end()
	for range 100 { // a select could choose the ended context in only some of the calls
		if err := db.Admit(ctx); err != nil {
			t.Fatalf("got error %v, want none", err)
		}
	}
}

// TestPanickingCheck checks that a panic of a guard's check fails all calls of its request, and no other request.
func TestPanickingCheck(t *testing.T) {
	t.Parallel()
	client, table, _ := newTable(t)
	mustDo(t, client, table.Put(dataKey, item("stored")))
	for name, run := range operations(client, table) {
		ctx := client.WithGuard(t.Context(), func(map[db.Ref]db.Item) error { panic("broken") }, table.Ref(guardKey))
		for range 2 {
			found, err := run(ctx)
			if err == nil || !strings.HasPrefix(err.Error(), "panic: broken") || found > 0 {
				t.Errorf("%s: got %d results and error %v, want only the panic", name, found, err)
			}
		}
	}
	if _, err := table.Get(t.Context(), dataKey); err != nil {
		t.Errorf("another request: got error %v, want none", err)
	}
}
