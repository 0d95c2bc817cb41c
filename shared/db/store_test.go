package db_test

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"devplatform/shared/awsclient"
	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/fault"
)

// item returns an item with the string attribute v.
func item(v string) db.Item { return db.Item{"v": text(v)} }

// setV returns the update that sets the attribute v.
func setV(v string) expression.UpdateBuilder {
	return expression.Set(expression.Name("v"), expression.Value(v))
}

func TestReadsIgnoreExpiredItems(t *testing.T) {
	t.Parallel()
	client, table, clk := newTable(t)
	key, permanentKey := db.EmailKey("a@b.c"), db.KnownIPKey("a@b.c", "ip")
	temporary := item("first")
	temporary[db.AttrExpiresAt] = db.ExpiresAt(clk.now().Add(time.Minute).Unix())
	mustDo(t, client, table.Put(key, temporary))
	mustDo(t, client, table.Put(permanentKey, item("permanent")))
	checkReads := func(wantFound bool, wantBatch, wantPage int) {
		t.Helper()
		_, err := table.Get(t.Context(), key)
		if wantFound && err != nil || !wantFound && !errors.Is(err, db.ErrNotFound) {
			t.Errorf("Get: got error %v, want found %v", err, wantFound)
		}
		batch, err := table.BatchGet(t.Context(), key, key, permanentKey, db.EmailKey("missing@b.c"), db.Key{})
		if err != nil || len(batch) != wantBatch {
			t.Errorf("BatchGet: got %d items, %v, want %d", len(batch), err, wantBatch)
		}
		page, err := table.Query(t.Context(), db.Query{Prefix: db.Prefix{PK: "EMAIL#a@b.c", SK: "E"}})
		if err != nil || len(page.Items) != wantPage {
			t.Errorf("Query: got %d items, %v, want %d", len(page.Items), err, wantPage)
		}
	}
	checkReads(true, 2, 1)
	if err := do(t, client, table.Create(key, item("second"))); !errors.Is(err, db.ErrConditionFailed) {
		t.Errorf("Create of a live item: got error %v, want ErrConditionFailed", err)
	}
	clk.advance(time.Minute)
	checkReads(false, 1, 0)
	if err := do(t, client, table.Update(key, setV("x")).If(table.Exists())); !errors.Is(err, db.ErrConditionFailed) {
		t.Errorf("Update of an expired item: got error %v, want ErrConditionFailed", err)
	}
	mustDo(t, client, table.Create(key, item("second")))
	if got, err := table.Get(t.Context(), key); err != nil || value(got) != "second" {
		t.Errorf("got item %v, %v after Create of an expired item, want second", got, err)
	}
}

func TestInvalidKeys(t *testing.T) {
	t.Parallel()
	client, table, _ := newTable(t)
	if _, err := table.Get(t.Context(), db.UserKey("ses_x")); !errors.Is(err, db.ErrNotFound) {
		t.Errorf("Get: got error %v, want ErrNotFound", err)
	}
	if _, err := client.Do(t.Context(), table.Put(db.UserKey("ses_x"), item("x"))); !errors.Is(err, db.ErrInvalidKey) {
		t.Errorf("Put: got error %v, want ErrInvalidKey", err)
	}
	err := client.Tx(table.Put(db.EmailKey("a@b.c"), item("x")), table.Delete(db.Key{})).Commit(t.Context())
	if !errors.Is(err, db.ErrInvalidKey) {
		t.Errorf("Commit: got error %v, want ErrInvalidKey", err)
	}
	if items, err := table.QueryAll(t.Context(), db.SessionsOf("")); err != nil || items != nil {
		t.Errorf("QueryAll: got items %v, %v, want none", items, err)
	}
}

func TestSingleWrites(t *testing.T) {
	t.Parallel()
	client, table, _ := newTable(t)
	key := db.EmailKey("a@b.c")
	if old := mustDo(t, client, table.Create(key, item("1"))); old != nil {
		t.Errorf("Create returned %v, want nil", old)
	}
	if old := mustDo(t, client, table.Put(key, item("2"))); value(old) != "1" {
		t.Errorf("Put returned %v, want the old item", old)
	}
	if updated := mustDo(t, client, table.Update(key, setV("3")).If(table.Exists())); value(updated) != "3" {
		t.Errorf("Update returned %v, want the new item", updated)
	}
	isTwo := expression.Name("v").Equal(expression.Value("2"))
	var stored db.Item
	err := do(t, client, table.Update(key, setV("4")).If(table.Exists()).If(isTwo).ElseFunc(func(item db.Item) error {
		stored = item
		return io.ErrUnexpectedEOF
	}))
	if !errors.Is(err, io.ErrUnexpectedEOF) || !errors.Is(err, db.ErrConditionFailed) || value(stored) != "3" {
		t.Errorf("got error %v with stored item %v, want the error of ElseFunc with its cause, and 3", err, stored)
	}
	if err = do(t, client, table.Delete(key).If(isTwo)); !errors.Is(err, db.ErrConditionFailed) {
		t.Errorf("got error %v, want ErrConditionFailed", err)
	}
	if _, err := client.DoOnce(t.Context(), table.Delete(key).If(isTwo)); !errors.Is(err, db.ErrStale) {
		t.Errorf("DoOnce: got error %v, want ErrStale", err)
	}
	if old := mustDo(t, client, table.Delete(key)); value(old) != "3" {
		t.Errorf("Delete returned %v, want the old item", old)
	}
	if old := mustDo(t, client, table.Delete(key)); old != nil {
		t.Errorf("Delete of a missing item returned %v, want nil", old)
	}
	if err := do(t, client, table.Check(key, isTwo)); err == nil {
		t.Error("got no error for a check outside of a transaction")
	}
}

func TestTransactionsAreAtomic(t *testing.T) {
	t.Parallel()
	client, table, _ := newTable(t)
	taken, free, missing := db.EmailKey("taken@b.c"), db.EmailKey("free@b.c"), db.EmailKey("missing@b.c")
	mustDo(t, client, table.Create(taken, item("first")))
	err := client.Tx(
		table.Create(free, item("x")),
		table.Create(taken, item("x")),
	).Commit(t.Context())
	if !errors.Is(err, db.ErrConditionFailed) {
		t.Fatalf("got error %v, want ErrConditionFailed", err)
	}
	if _, err := table.Get(t.Context(), free); !errors.Is(err, db.ErrNotFound) {
		t.Errorf("got error %v for an item of a failed transaction, want ErrNotFound", err)
	}
	err = client.Tx(
		table.Create(free, item("x")),
		table.Update(taken, setV("second")).If(table.Exists()),
		table.Delete(missing)).Commit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got, err := table.Get(t.Context(), taken); err != nil || value(got) != "second" {
		t.Errorf("got item %v, %v after the transaction, want second", got, err)
	}
}

// The error of a transaction is the error of its first write whose condition failed.
func TestMeaningsOfFailedConditions(t *testing.T) {
	t.Parallel()
	client, table, _ := newTable(t)
	free, taken, missing := db.EmailKey("free@b.c"), db.EmailKey("taken@b.c"), db.EmailKey("missing@b.c")
	mustDo(t, client, table.Create(taken, item("first")))
	tooMany, isGone := fault.New(fault.CodeRateLimited, "Too many."), errors.New("gone")
	create := table.Create(taken, item("x"))
	exists := table.Check(missing, table.Exists())
	var stored []db.Item
	remember := func(item db.Item) error {
		stored = append(stored, item)
		return nil
	}
	for name, tc := range map[string]struct {
		tx          *db.Tx
		want, cause error
		wantOnce    error
	}{
		"no meaning": {client.Tx(table.Create(free, nil), create), db.ErrConditionFailed, nil, db.ErrStale},
		"meaning": {
			client.Tx(table.Create(free, nil).Else(isGone), create.Else(tooMany)), tooMany, db.ErrConditionFailed, tooMany,
		},
		"first": {client.Tx(exists.Else(isGone), create.Else(tooMany)), isGone, db.ErrConditionFailed, isGone},
		"first without meaning": {
			client.Tx(exists, create.Else(tooMany)), db.ErrConditionFailed, nil, db.ErrStale,
		},
		"the next decides": {
			client.Tx(create.ElseFunc(remember), exists.ElseFunc(remember), table.Check(db.EmailKey("x@b.c"), table.Exists()).
				Else(isGone)), isGone, db.ErrConditionFailed, isGone,
		},
		"none decides": {client.Tx(exists.ElseFunc(remember)), db.ErrConditionFailed, nil, db.ErrStale},
	} {
		stored = nil
		err := tc.tx.Commit(t.Context())
		if !errors.Is(err, tc.want) || tc.cause != nil && !errors.Is(err, tc.cause) || errors.Is(err, db.ErrStale) {
			t.Errorf("%s: Commit returned %v, want %v", name, err, tc.want)
		}
		if name == "the next decides" && (len(stored) != 2 || value(stored[0]) != "first" || stored[1] != nil) {
			t.Errorf("%s: got the stored items %v, want the taken item and nil", name, stored)
		}
		if err := tc.tx.CommitOnce(t.Context()); !errors.Is(err, tc.wantOnce) {
			t.Errorf("%s: CommitOnce returned %v, want %v", name, err, tc.wantOnce)
		}
	}
	if err := client.Tx().Commit(t.Context()); err != nil {
		t.Errorf("a transaction without writes: got error %v, want none", err)
	}
}

// Conflicting transactions are retried until each has succeeded or its condition has failed.
func TestOneOfConcurrentTransactionsSucceeds(t *testing.T) {
	t.Parallel()
	client, table, _ := newTable(t)
	var wg sync.WaitGroup
	var mu sync.Mutex
	succeeded, errTaken := 0, errors.New("taken")
	for i := range 8 {
		wg.Go(func() {
			err := client.Tx(
				table.Create(db.EmailKey("a@b.c"), item(fmt.Sprint(i))).Else(errTaken),
				table.Create(db.UsernameKey(fmt.Sprint("u", i)), item("x"))).Commit(t.Context())
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				succeeded++
			case !errors.Is(err, errTaken):
				t.Errorf("got error %v, want success or a failed condition of the first write", err)
			}
		})
	}
	wg.Wait()
	if succeeded != 1 {
		t.Errorf("%d transactions succeeded, want 1", succeeded)
	}
}

func TestCallsAreCounted(t *testing.T) {
	t.Parallel()
	client, table, _ := newTable(t)
	ctx := db.CountCalls(t.Context())
	key := db.EmailKey("a@b.c")
	_, putErr := client.Do(ctx, table.Put(key, item("x")))
	_, getErr := table.Get(ctx, key)
	_, queryErr := table.Query(ctx, db.Query{Prefix: db.Prefix{PK: key.PK, SK: "E"}})
	transactErr := client.Tx(table.Delete(key)).Commit(ctx)
	if err := errors.Join(putErr, getErr, queryErr, transactErr); err != nil {
		t.Fatal(err)
	}
	if n := db.Calls(ctx); n != 4 {
		t.Errorf("got %d calls, want 4", n)
	}
	if _, total := awsclient.Calls(ctx, awsclient.DynamoDB); total <= 0 {
		t.Errorf("got the duration %v of all calls, want a positive one", total)
	}
	if n := db.Calls(t.Context()); n != 0 {
		t.Errorf("got %d calls with another context, want 0", n)
	}
}

func TestEncodeAndDecode(t *testing.T) {
	t.Parallel()
	type record struct {
		Name string          `dynamodbav:"name"`
		At   clock.Timestamp `dynamodbav:"at"`
		Note string          `dynamodbav:"note,omitempty"`
		N    int             `dynamodbav:"n"`
	}
	want := record{Name: "x", At: clock.Stamp(time.UnixMilli(1_763_640_000_123)), N: 1 << 53}
	encoded, err := db.Encode(want)
	if err != nil {
		t.Fatal(err)
	}
	if at, ok := encoded["at"].(*types.AttributeValueMemberS); !ok || at.Value != "2025-11-20T12:00:00.123Z" {
		t.Errorf("got attribute at %#v, want the timestamp as a string", encoded["at"])
	}
	client, table, _ := newTable(t)
	mustDo(t, client, table.Put(db.EmailKey("a@b.c"), encoded))
	stored, err := table.Get(t.Context(), db.EmailKey("a@b.c"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := db.Decode[record](stored)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
}
