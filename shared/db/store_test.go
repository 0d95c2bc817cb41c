package db_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/id"
)

func item(v string) db.Item { return db.Item{"v": text(v)} }

func setV(v string) expression.UpdateBuilder {
	return expression.Set(expression.Name("v"), expression.Value(v))
}

func TestReadsIgnoreExpiredItems(t *testing.T) {
	t.Parallel()
	c, table, h := newTable(t)
	key := db.EmailKey("a@b.c")
	short := item("short")
	short[db.AttrExpiresAt] = db.ExpiresAt(h.now().Add(time.Minute).Unix())
	mustDo(t, c, table.Put(key, short))
	mustDo(t, c, table.Put(db.KnownIPKey("a@b.c", "ip"), item("lasting")))
	query := db.Query{Prefix: db.Prefix{PK: "EMAIL#a@b.c", SK: "E"}}
	look := func() (bool, int, int) {
		t.Helper()
		_, err := table.Get(t.Context(), key)
		if err != nil && !errors.Is(err, db.ErrNotFound) {
			t.Fatal(err)
		}
		batch, err2 := table.BatchGet(t.Context(), key, key, db.KnownIPKey("a@b.c", "ip"), db.EmailKey("nobody@b.c"), db.Key{})
		page, err3 := table.Query(t.Context(), query)
		if err2 != nil || err3 != nil {
			t.Fatal(err2, err3)
		}
		return err == nil, len(batch), len(page.Items)
	}
	if got, batch, page := look(); !got || batch != 2 || page != 1 {
		t.Errorf("before: %v %d %d", got, batch, page)
	}
	if _, err := c.Do(t.Context(), table.Create(key, item("second"))); !errors.Is(err, db.ErrConditionFailed) {
		t.Errorf("replaced a live item: %v", err)
	}
	h.advance(time.Minute)
	if got, batch, page := look(); got || batch != 1 || page != 0 {
		t.Errorf("after: %v %d %d", got, batch, page)
	}
	if _, err := c.Do(t.Context(), table.Update(key, setV("x")).If(table.Exists())); !errors.Is(err, db.ErrConditionFailed) {
		t.Errorf("updated an expired item: %v", err)
	}
	mustDo(t, c, table.Create(key, item("second")))
	if got, err := table.Get(t.Context(), key); err != nil || value(got) != "second" {
		t.Errorf("%v, %v", got, err)
	}
}

func TestInvalidKeys(t *testing.T) {
	t.Parallel()
	c, table, _ := newTable(t)
	if _, err := table.Get(t.Context(), db.UserKey("ses_x")); !errors.Is(err, db.ErrNotFound) {
		t.Errorf("get: %v", err)
	}
	if _, err := c.Do(t.Context(), table.Put(db.UserKey("ses_x"), item("x"))); !errors.Is(err, db.ErrInvalidKey) {
		t.Errorf("put: %v", err)
	}
	err := c.Transact(t.Context(), table.Put(db.EmailKey("a@b.c"), item("x")), table.Delete(db.Key{}))
	if !errors.Is(err, db.ErrInvalidKey) {
		t.Errorf("transact: %v", err)
	}
	if items, err := table.QueryAll(t.Context(), db.SessionsOf("")); err != nil || items != nil {
		t.Errorf("query: %v, %v", items, err)
	}
}

func TestSingleWrites(t *testing.T) {
	t.Parallel()
	c, table, _ := newTable(t)
	key := db.EmailKey("a@b.c")
	if old := mustDo(t, c, table.Create(key, item("1"))); old != nil {
		t.Errorf("create returned %v", old)
	}
	if old := mustDo(t, c, table.Put(key, item("2"))); value(old) != "1" {
		t.Errorf("put does not return the old item: %v", old)
	}
	if now := mustDo(t, c, table.Update(key, setV("3")).If(table.Exists())); value(now) != "3" {
		t.Errorf("update does not return the new item: %v", now)
	}
	two := expression.Name("v").Equal(expression.Value("2"))
	_, err := c.Do(t.Context(), table.Update(key, setV("4")).If(table.Exists()).If(two).WithOld())
	if !errors.Is(err, db.ErrConditionFailed) || !db.FailedAt(err, 0) || value(db.OldItem(err, 0)) != "3" {
		t.Errorf("%v, old %v", err, db.OldItem(err, 0))
	}
	_, err = c.Do(t.Context(), table.Delete(key).If(two))
	if !errors.Is(err, db.ErrConditionFailed) || db.OldItem(err, 0) != nil {
		t.Errorf("%v", err)
	}
	if old := mustDo(t, c, table.Delete(key)); value(old) != "3" {
		t.Errorf("delete does not return the old item: %v", old)
	}
	if old := mustDo(t, c, table.Delete(key)); old != nil {
		t.Errorf("deleted twice: %v", old)
	}
	if _, err := c.Do(t.Context(), table.Check(key, two)); err == nil {
		t.Error("a check outside of a transaction")
	}
}

func TestTransactionsAreAtomic(t *testing.T) {
	t.Parallel()
	c, table, _ := newTable(t)
	taken, free := db.EmailKey("taken@b.c"), db.EmailKey("free@b.c")
	mustDo(t, c, table.Create(taken, item("first")))
	err := c.Transact(t.Context(),
		table.Create(free, item("x")),
		table.Create(taken, item("x")).WithOld(),
		table.Check(db.EmailKey("gone@b.c"), table.Exists()),
	)
	if !errors.Is(err, db.ErrConditionFailed) || db.FailedAt(err, 0) || !db.FailedAt(err, 1) || !db.FailedAt(err, 2) {
		t.Fatalf("%v", err)
	}
	if value(db.OldItem(err, 1)) != "first" || db.OldItem(err, 2) != nil {
		t.Errorf("old: %v, %v", db.OldItem(err, 1), db.OldItem(err, 2))
	}
	if _, err := table.Get(t.Context(), free); !errors.Is(err, db.ErrNotFound) {
		t.Errorf("a part of it was written: %v", err)
	}
	err = c.Transact(t.Context(),
		table.Create(free, item("x")), table.Update(taken, setV("second")).If(table.Exists()), table.Delete(db.EmailKey("gone@b.c")))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := table.Get(t.Context(), taken); err != nil || value(got) != "second" {
		t.Errorf("%v, %v", got, err)
	}
}

// Conflicting transactions are retried until each has succeeded or its condition has failed.
func TestRacingTransactionsHaveOneWinner(t *testing.T) {
	t.Parallel()
	c, table, _ := newTable(t)
	var wg sync.WaitGroup
	var mu sync.Mutex
	won := 0
	for i := range 8 {
		wg.Go(func() {
			err := c.Transact(t.Context(),
				table.Create(db.EmailKey("a@b.c"), item(fmt.Sprint(i))), table.Create(db.UsernameKey(fmt.Sprint("u", i)), item("x")))
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				won++
			case !db.FailedAt(err, 0):
				t.Errorf("failed with %v", err)
			}
		})
	}
	wg.Wait()
	if won != 1 {
		t.Errorf("%d winners", won)
	}
}

func TestQueryPages(t *testing.T) {
	t.Parallel()
	c, table, h := newTable(t)
	g := id.NewGenerator(h.now, strings.NewReader(strings.Repeat("x", 1000)))
	var want []string
	for i := range 25 {
		sid := g.New(id.Session)
		record := item(sid)
		if i%5 == 4 {
			record[db.AttrExpiresAt] = db.ExpiresAt(h.now().Unix())
		} else {
			want = append(want, sid)
		}
		mustDo(t, c, table.Put(db.SessionKey(user, sid), record))
	}
	mustDo(t, c, table.Put(db.UserKey(user), item("not a session")))
	all, err := table.QueryAll(t.Context(), db.SessionsOf(user))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, values(all)); diff != "" {
		t.Error(diff)
	}
	for _, limit := range []int{1, 3, 7, 20, 100} {
		var got []string
		q := db.Query{Prefix: db.SessionsOf(user), Limit: limit}
		for {
			page, err := table.Query(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			if len(page.Items) > limit || (len(page.Items) < limit && !page.Next.IsZero()) {
				t.Errorf("limit %d: a page of %d, next %v", limit, len(page.Items), page.Next)
			}
			got = append(got, values(page.Items)...)
			if page.Next.IsZero() {
				break
			}
			q.After = page.Next
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("limit %d: %s", limit, diff)
		}
	}
	last, err := table.Query(t.Context(), db.Query{Prefix: db.SessionsOf(user), Limit: 1, Descending: true})
	if err != nil || values(last.Items)[0] != want[len(want)-1] {
		t.Errorf("descending: %v, %v", values(last.Items), err)
	}
}

func values(items []db.Item) []string {
	var all []string
	for _, i := range items {
		all = append(all, value(i))
	}
	return all
}

func TestBatchGetWithSeveralCalls(t *testing.T) {
	t.Parallel()
	c, table, _ := newTable(t)
	var keys []db.Key
	for i := range 130 {
		key := db.UsernameKey(fmt.Sprint("u", i))
		keys = append(keys, key)
		mustDo(t, c, table.Put(key, item(fmt.Sprint(i))))
	}
	ctx := db.CountCalls(t.Context())
	found, err := table.BatchGet(ctx, keys...)
	if err != nil || len(found) != len(keys) || db.Calls(ctx) != 2 {
		t.Fatalf("%d items in %d calls, %v", len(found), db.Calls(ctx), err)
	}
	for i, key := range keys {
		if value(found[key]) != fmt.Sprint(i) {
			t.Errorf("%v: %v", key, found[key])
		}
	}
}

func TestCallsAreCounted(t *testing.T) {
	t.Parallel()
	c, table, _ := newTable(t)
	ctx := db.CountCalls(t.Context())
	key := db.EmailKey("a@b.c")
	if _, err := c.Do(ctx, table.Put(key, item("x"))); err != nil {
		t.Fatal(err)
	}
	_, err1 := table.Get(ctx, key)
	_, err2 := table.Query(ctx, db.Query{Prefix: db.Prefix{PK: key.PK, SK: "E"}})
	err3 := c.Transact(ctx, table.Delete(key))
	if err := errors.Join(err1, err2, err3); err != nil {
		t.Fatal(err)
	}
	if n := db.Calls(ctx); n != 4 {
		t.Errorf("%d calls", n)
	}
	if n := db.Calls(t.Context()); n != 0 {
		t.Errorf("%d calls elsewhere", n)
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
		t.Errorf("at: %#v", encoded["at"])
	}
	c, table, _ := newTable(t)
	mustDo(t, c, table.Put(db.EmailKey("a@b.c"), encoded))
	stored, err := table.Get(t.Context(), db.EmailKey("a@b.c"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := db.Decode[record](stored)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
