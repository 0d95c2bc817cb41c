package db_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"devplatform/shared/db"
)

// restsOf returns the parts of the items' sort keys after a prefix.
func restsOf(p db.Prefix, items []db.Item) []string {
	var rests []string
	for _, item := range items {
		rests = append(rests, p.Rest(db.KeyOf(item)))
	}
	return rests
}

func TestQueryKeysOnly(t *testing.T) {
	t.Parallel()
	client, table, clk := newTable(t)
	for i := range 4 {
		stored := item("value")
		if i == 1 {
			stored[db.AttrExpiresAt] = db.ExpiresAt(clk.now().Unix())
		}
		mustDo(t, client, table.Put(db.FileKey(prj, fmt.Sprint("/", i)), stored))
	}
	files := db.FilesOf(prj, "")
	page, err := table.Query(t.Context(), db.Query{Prefix: files, KeysOnly: true, Limit: 2})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"/0", "/2"}, restsOf(files, page.Items)); diff != "" {
		t.Errorf("first page (-want +got):\n%s", diff)
	}
	if v := value(page.Items[0]); v != "" || len(page.Items[0]) != 2 {
		t.Errorf("got item %v, want the key attributes only", page.Items[0])
	}
	page, err = table.Query(t.Context(), db.Query{Prefix: files, KeysOnly: true, After: page.Next})
	if err != nil || len(page.Items) != 1 || !page.Next.IsZero() {
		t.Errorf("got %v, %v, want a last page with one item", page, err)
	}
}

func TestPrefixWithoutSortKeySelectsThePartition(t *testing.T) {
	t.Parallel()
	client, table, _ := newTable(t)
	keys := []db.Key{db.CommentKey(prj, cmt), db.FileKey(prj, "/a"), db.TreeKey(prj)}
	for _, key := range append(keys, db.TreeKey(prj2)) {
		mustDo(t, client, table.Put(key, item("x")))
	}
	var got []db.Key
	items, err := table.QueryAll(t.Context(), db.ProjectPartition(prj))
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range items {
		got = append(got, db.KeyOf(item))
	}
	if diff := cmp.Diff(keys, got); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
	for name, prefix := range map[string]db.Prefix{
		"ID of another kind":      db.ProjectPartition(ws),
		"without a partition key": {SK: "FILE#"},
		"zero":                    {},
	} {
		ctx := db.CountCalls(t.Context())
		if page, err := table.Query(ctx, db.Query{Prefix: prefix}); err != nil || page.Items != nil || db.Calls(ctx) != 0 {
			t.Errorf("%s: got %v, %v after %d calls, want no items and no calls", name, page, err, db.Calls(ctx))
		}
	}
}

func TestQueryAfter(t *testing.T) {
	t.Parallel()
	client, table, _ := newTable(t)
	for _, path := range []string{"/a", "/b#", "/b/1", "/c"} {
		mustDo(t, client, table.Put(db.FileKey(prj, path), item("x")))
	}
	files := db.FilesOf(prj, "")
	for _, tc := range []struct {
		after      string
		descending bool
		want       []string
	}{
		{"", false, []string{"/a", "/b#", "/b/1", "/c"}},
		{"/b#", false, []string{"/b/1", "/c"}},
		{"/bb", false, []string{"/c"}}, // no item has this path
		{"/c", false, nil},
		{"", true, []string{"/c", "/b/1", "/b#", "/a"}},
		{"/b#", true, []string{"/a"}},
	} {
		q := db.Query{Prefix: files, After: files.After(tc.after), Descending: tc.descending}
		page, err := table.Query(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tc.want, restsOf(files, page.Items)); diff != "" {
			t.Errorf("after %q, descending %v (-want +got):\n%s", tc.after, tc.descending, diff)
		}
	}
}

// A query that needs several calls, of 1 MB each, returns all live items and no expired ones.
func TestQueryWithSeveralCalls(t *testing.T) {
	t.Parallel()
	client, table, clk := newTable(t)
	big := string(make([]byte, 300<<10))
	for i := range 8 {
		stored := item(big)
		stored[db.AttrExpiresAt] = db.ExpiresAt(clk.now().Add(time.Duration(i) * time.Hour).Unix())
		mustDo(t, client, table.Put(db.FileKey(prj, fmt.Sprint("/", i)), stored))
	}
	clk.advance(3 * time.Hour)
	for _, keysOnly := range []bool{false, true} {
		ctx := db.CountCalls(t.Context())
		q := db.Query{Prefix: db.FilesOf(prj, "/"), KeysOnly: keysOnly}
		items := 0
		for {
			page, err := table.Query(ctx, q)
			if err != nil {
				t.Fatal(err)
			}
			items += len(page.Items)
			if q.After = page.Next; q.After.IsZero() {
				break
			}
		}
		if items != 4 || db.Calls(ctx) < 2 {
			t.Errorf("keys only %v: got %d items in %d calls, want 4 items in at least 2 calls", keysOnly, items, db.Calls(ctx))
		}
	}
}

// With Once, a query makes a single call even if it returns few items, and Next is the start of the next page.
func TestQueryOnce(t *testing.T) {
	t.Parallel()
	client, table, clk := newTable(t)
	big := string(make([]byte, 300<<10))
	for i := range 6 {
		stored := item(big)
		stored[db.AttrExpiresAt] = db.ExpiresAt(clk.now().Add(time.Duration(i/4) * time.Hour).Unix())
		mustDo(t, client, table.Put(db.FileKey(prj, fmt.Sprint("/", i)), stored))
	}
	q := db.Query{Prefix: db.FilesOf(prj, "/"), Limit: 6, Once: true}
	items, calls := 0, 0
	for {
		ctx := db.CountCalls(t.Context())
		page, err := table.Query(ctx, q)
		if err != nil || db.Calls(ctx) != 1 {
			t.Fatalf("got %d calls, %v, want one call", db.Calls(ctx), err)
		}
		calls++
		items += len(page.Items)
		if q.After = page.Next; q.After.IsZero() {
			break
		}
	}
	if items != 2 || calls < 2 {
		t.Errorf("got %d items in %d calls, want 2 items in at least 2 calls", items, calls)
	}
}

func TestQueryOnly(t *testing.T) {
	t.Parallel()
	client, table, clk := newTable(t)
	record := db.Item{"name": text("the name is a reserved word"), "long": text("unwanted")}
	mustDo(t, client, table.Put(db.EmailKey("a@b.c"), record))
	expired := db.Item{"name": text("expired"), db.AttrExpiresAt: db.ExpiresAt(clk.now().Unix())}
	mustDo(t, client, table.Put(db.KnownIPKey("a@b.c", "ip"), expired))
	items, err := table.QueryAll(t.Context(), db.Prefix{PK: "EMAIL#a@b.c"}, "name", "absent")
	if err != nil || len(items) != 1 {
		t.Fatalf("got items %v, %v, want the live item", items, err)
	}
	got := items[0]
	if len(got) != 3 || db.KeyOf(got) != db.EmailKey("a@b.c") || !reflect.DeepEqual(got["name"], record["name"]) {
		t.Errorf("got item %v, want the key attributes and the name only", got)
	}
}

// A page of a list has as many items as it would have without the damaged ones, and List makes further calls for them.
func TestListOmitsDamagedItems(t *testing.T) {
	t.Parallel()
	client, table, _ := newTable(t)
	for i, text := range strings.Split("a,damaged,damaged,b,damaged,c,damaged", ",") {
		mustDo(t, client, table.Put(db.FileKey(prj, fmt.Sprint("/", i)), item(text)))
	}
	decode := func(item db.Item) (string, error) {
		if text := value(item); text != "damaged" {
			return text, nil
		}
		return "", errors.New("damaged")
	}
	for limit, want := range map[int][][]string{
		0: {{"a", "b", "c"}}, 1: {{"a"}, {"b"}, {"c"}, nil}, 2: {{"a", "b"}, {"c"}}, 3: {{"a", "b", "c"}, nil},
	} {
		q := db.Query{Prefix: db.FilesOf(prj, ""), Limit: limit}
		var got [][]string
		for {
			page, next, err := db.List(t.Context(), table, q, decode)
			if err != nil {
				t.Fatal(err)
			}
			if got, q.After = append(got, page), next; next.IsZero() {
				break
			}
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("limit %d: pages (-want +got):\n%s", limit, diff)
		}
	}
}
