package db_test

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"devplatform/shared/db"
)

// rests are what the sort keys of items have behind a prefix.
func rests(p db.Prefix, items []db.Item) []string {
	var all []string
	for _, item := range items {
		all = append(all, p.Rest(db.KeyOf(item)))
	}
	return all
}

func TestQueryKeysOnly(t *testing.T) {
	t.Parallel()
	c, table, h := newTable(t)
	for i := range 4 {
		stored := item("value")
		if i == 1 {
			stored[db.AttrExpiresAt] = db.ExpiresAt(h.now().Unix())
		}
		mustDo(t, c, table.Put(db.FileKey(prj, fmt.Sprint("/", i)), stored))
	}
	files := db.FilesOf(prj, "")
	page, err := table.Query(t.Context(), db.Query{Prefix: files, KeysOnly: true, Limit: 2})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"/0", "/2"}, rests(files, page.Items)); diff != "" {
		t.Error(diff)
	}
	if v := value(page.Items[0]); v != "" || len(page.Items[0]) != 2 {
		t.Errorf("more than keys: %v", page.Items[0])
	}
	page, err = table.Query(t.Context(), db.Query{Prefix: files, KeysOnly: true, After: page.Next})
	if err != nil || len(page.Items) != 1 || !page.Next.IsZero() {
		t.Errorf("%v, %v", page, err)
	}
}

func TestPrefixWithoutSortKeySelectsThePartition(t *testing.T) {
	t.Parallel()
	c, table, _ := newTable(t)
	keys := []db.Key{db.CommentKey(prj, cmt), db.FileKey(prj, "/a"), db.TreeKey(prj)}
	for _, key := range append(keys, db.TreeKey(prj2)) {
		mustDo(t, c, table.Put(key, item("x")))
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
		t.Error(diff)
	}
	for name, prefix := range map[string]db.Prefix{"of a wrong id": db.ProjectPartition(ws), "without partition": {SK: "FILE#"}, "zero": {}} {
		ctx := db.CountCalls(t.Context())
		if page, err := table.Query(ctx, db.Query{Prefix: prefix}); err != nil || page.Items != nil || db.Calls(ctx) != 0 {
			t.Errorf("%s: %v, %v after %d calls", name, page, err, db.Calls(ctx))
		}
	}
}

func TestQueryAfter(t *testing.T) {
	t.Parallel()
	c, table, _ := newTable(t)
	for _, path := range []string{"/a", "/b#", "/b/1", "/c"} {
		mustDo(t, c, table.Put(db.FileKey(prj, path), item("x")))
	}
	files := db.FilesOf(prj, "")
	for _, tc := range []struct {
		after      string
		descending bool
		want       []string
	}{
		{"", false, []string{"/a", "/b#", "/b/1", "/c"}},
		{"/b#", false, []string{"/b/1", "/c"}},
		{"/bb", false, []string{"/c"}}, // gone since
		{"/c", false, nil},
		{"", true, []string{"/c", "/b/1", "/b#", "/a"}},
		{"/b#", true, []string{"/a"}},
	} {
		page, err := table.Query(t.Context(), db.Query{Prefix: files, After: files.After(tc.after), Descending: tc.descending})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tc.want, rests(files, page.Items)); diff != "" {
			t.Errorf("after %q: %s", tc.after, diff)
		}
	}
}

// A partition of more than one call's megabyte, half of it expired, comes whole.
func TestQueryWithSeveralCalls(t *testing.T) {
	t.Parallel()
	c, table, h := newTable(t)
	big := string(make([]byte, 300<<10))
	for i := range 8 {
		stored := item(big)
		stored[db.AttrExpiresAt] = db.ExpiresAt(h.now().Add(time.Duration(i) * time.Hour).Unix())
		mustDo(t, c, table.Put(db.FileKey(prj, fmt.Sprint("/", i)), stored))
	}
	h.advance(3 * time.Hour)
	for _, keysOnly := range []bool{false, true} {
		ctx := db.CountCalls(t.Context())
		q, n := db.Query{Prefix: db.FilesOf(prj, "/"), KeysOnly: keysOnly}, 0
		for {
			page, err := table.Query(ctx, q)
			if err != nil {
				t.Fatal(err)
			}
			n += len(page.Items)
			if q.After = page.Next; q.After.IsZero() {
				break
			}
		}
		if n != 4 || db.Calls(ctx) < 2 {
			t.Errorf("keys only %v: %d items in %d calls", keysOnly, n, db.Calls(ctx))
		}
	}
}

// One call is one call, however little it brings, and says where the rest begins.
func TestQueryOnce(t *testing.T) {
	t.Parallel()
	c, table, h := newTable(t)
	big := string(make([]byte, 300<<10))
	for i := range 6 {
		stored := item(big)
		stored[db.AttrExpiresAt] = db.ExpiresAt(h.now().Add(time.Duration(i/4) * time.Hour).Unix())
		mustDo(t, c, table.Put(db.FileKey(prj, fmt.Sprint("/", i)), stored))
	}
	q := db.Query{Prefix: db.FilesOf(prj, "/"), Limit: 6, Once: true}
	n, calls := 0, 0
	for {
		ctx := db.CountCalls(t.Context())
		page, err := table.Query(ctx, q)
		if err != nil || db.Calls(ctx) != 1 {
			t.Fatalf("%d calls, %v", db.Calls(ctx), err)
		}
		calls++
		n += len(page.Items)
		if q.After = page.Next; q.After.IsZero() {
			break
		}
	}
	if n != 2 || calls < 2 {
		t.Errorf("%d items in %d calls", n, calls)
	}
}

func TestQueryOnly(t *testing.T) {
	t.Parallel()
	c, table, h := newTable(t)
	record := db.Item{"name": text("a word of DynamoDB's"), "long": text("unwanted")}
	mustDo(t, c, table.Put(db.EmailKey("a@b.c"), record))
	expired := db.Item{"name": text("expired"), db.AttrExpiresAt: db.ExpiresAt(h.now().Unix())}
	mustDo(t, c, table.Put(db.KnownIPKey("a@b.c", "ip"), expired))
	items, err := table.QueryAll(t.Context(), db.Prefix{PK: "EMAIL#a@b.c"}, "name", "absent")
	if err != nil || len(items) != 1 {
		t.Fatalf("%v, %v", items, err)
	}
	if got := items[0]; len(got) != 3 || db.KeyOf(got) != db.EmailKey("a@b.c") || !reflect.DeepEqual(got["name"], record["name"]) {
		t.Errorf("%v", got)
	}
}
