package db_test

import (
	"crypto/rand"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"devplatform/infra/functiontest"
	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/shared/db"
	"devplatform/shared/id"
)

// restsOf returns the parts of the items' sort keys after a prefix.
func restsOf(p db.Prefix, items []db.Item) []string {
	var rests []string
	for _, item := range items {
		rests = append(rests, p.Rest(db.KeyOf(item)))
	}
	return rests
}

// queryAll reads all pages of a query, and returns their items and the number of calls.
func queryAll(t *testing.T, table db.Table, q db.Query) (items []db.Item, calls int) {
	t.Helper()
	ctx := db.CountCalls(t.Context())
	for {
		before := db.Calls(ctx)
		page, err := table.Query(ctx, q)
		if err != nil || q.Once && db.Calls(ctx) != before+1 {
			t.Fatalf("got error %v after %d calls", err, db.Calls(ctx)-before)
		}
		isShort := len(page.Items) < q.Limit && !page.Next.IsZero() && !q.Once
		if q.Limit > 0 && len(page.Items) > q.Limit || isShort {
			t.Errorf("limit %d: got a page of %d items with next page %v", q.Limit, len(page.Items), page.Next)
		}
		items = append(items, page.Items...)
		if q.After = page.Next; q.After.IsZero() {
			return items, db.Calls(ctx)
		}
	}
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

// A query that needs several calls, of 1 MB each, returns all live items and no expired ones. With Once, each page is a
// single call.
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
	for _, q := range []db.Query{{}, {KeysOnly: true}, {Limit: 8, Once: true}} {
		q.Prefix = db.FilesOf(prj, "/")
		if items, calls := queryAll(t, table, q); len(items) != 4 || calls < 2 {
			t.Errorf("%+v: got %d items in %d calls, want 4 items in at least 2 calls", q, len(items), calls)
		}
	}
}

func TestQueryPages(t *testing.T) {
	t.Parallel()
	client, table, clk := newTable(t)
	ids := id.NewGenerator(clk.now, strings.NewReader(strings.Repeat("x", 1000)))
	var want []string
	for i := range 25 {
		sessionID := ids.New(id.Session)
		record := item(sessionID)
		if i%5 == 4 {
			record[db.AttrExpiresAt] = db.ExpiresAt(clk.now().Unix())
		} else {
			want = append(want, sessionID)
		}
		mustDo(t, client, table.Put(db.SessionKey(user, sessionID), record))
	}
	mustDo(t, client, table.Put(db.UserKey(user), item("not a session")))
	sessions := db.SessionsOf(user)
	var each, records []string
	err := table.Each(t.Context(), sessions, func(item db.Item) error {
		each = append(each, value(item))
		return nil
	})
	all, allErr := table.QueryAll(t.Context(), sessions)
	decode := func(item db.Item) (string, error) { return value(item), nil }
	eachErr := db.EachRecord(t.Context(), table, sessions, decode, func(s string) { records = append(records, s) })
	if err := errors.Join(err, allErr, eachErr); err != nil {
		t.Fatal(err)
	}
	lists := map[string][]string{"Each": each, "EachRecord": records, "QueryAll": restsOf(sessions, all)}
	for _, limit := range []int{0, 1, 3, 7, 20, 100} {
		items, _ := queryAll(t, table, db.Query{Prefix: sessions, Limit: limit})
		lists[fmt.Sprint("limit ", limit)] = restsOf(sessions, items)
		var inPages []string
		for page, err := range table.Pages(t.Context(), db.Query{Prefix: sessions, Limit: limit}) {
			if err != nil || limit > 0 && len(page.Items) > limit {
				t.Errorf("limit %d: got a page of %d items, error %v", limit, len(page.Items), err)
			}
			inPages = append(inPages, restsOf(sessions, page.Items)...)
		}
		lists[fmt.Sprint("Pages, limit ", limit)] = inPages
	}
	last, _ := queryAll(t, table, db.Query{Prefix: sessions, Limit: 3, Descending: true})
	slices.Reverse(last)
	lists["descending"] = restsOf(sessions, last)
	for name, got := range lists {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	stop := errors.New("stop")
	if err := table.Each(t.Context(), sessions, func(db.Item) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("Each: got error %v, want the error of the function", err)
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

// due is the index of the webhooks table, which projects the keys and the expiry only.
var due = db.Index{Name: "due", PK: "due", SK: "dueAt"}

// queryIndex reads all pages and returns the paths of the items. It checks that all pages but the last are full.
func queryIndex(t *testing.T, table db.Table, q db.IndexQuery) (paths []string) {
	t.Helper()
	files := db.FilesOf(prj, "")
	for {
		page, err := table.QueryIndex(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if q.Limit > 0 && (len(page.Items) > q.Limit || (len(page.Items) < q.Limit && !page.Next.IsZero())) {
			t.Fatalf("got a page of %d items with next page %v, want %d items", len(page.Items), page.Next, q.Limit)
		}
		for _, item := range page.Items {
			paths = append(paths, files.Rest(db.KeyOf(item)))
		}
		if page.Next.IsZero() {
			return paths
		}
		q.After = page.Next
	}
}

func TestQueryIndex(t *testing.T) {
	t.Parallel()
	endpoint, clk := dynamotest.StartServer(t), newFakeClock()
	name := "db-test-" + rand.Text()
	functiontest.CreateWebhooksTable(t, dynamotest.Client(endpoint), name)
	client := db.New(awsConfig(endpoint), clk.now)
	table := client.Table(name)
	put := func(path, partition, at string, expires bool) {
		record := db.Item{"v": text("x")}
		if partition != "" {
			record[due.PK], record[due.SK] = text(partition), text(at)
		}
		if expires {
			record[db.AttrExpiresAt] = db.ExpiresAt(clk.now().Unix())
		}
		mustDo(t, client, table.Put(db.FileKey(prj, path), record))
	}
	put("/d", "DUE#0", "2026-01-01", false)
	put("/c", "DUE#0", "2026-01-01", false)
	put("/b", "DUE#0", "2026-01-02", false)
	put("/a", "DUE#0", "2026-01-03", false)
	put("/other", "DUE#1", "2026-01-01", false)
	put("/none", "", "", false)
	put("/e", "DUE#0", "2026-01-01", true)
	put("/f", "DUE#0", "2026-01-02", true)
	for _, limit := range []int{0, 1, 2, 3, 4, 5} {
		for upto, want := range map[string][]string{
			"":            {"/c", "/d", "/b", "/a"},
			"2025":        nil,
			"2026-01-02":  {"/c", "/d", "/b"},
			"2026-01-02T": {"/c", "/d", "/b"},
			"2027":        {"/c", "/d", "/b", "/a"},
		} {
			got := queryIndex(t, table, db.IndexQuery{Index: due, Partition: "DUE#0", Upto: upto, Limit: limit})
			slices.Sort(got[:min(2, len(got))]) // the order of items with the same sort key is not defined
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("up to %q with limit %d (-want +got):\n%s", upto, limit, diff)
			}
		}
	}
	page, err := table.QueryIndex(t.Context(), db.IndexQuery{Index: due, Partition: "DUE#1"})
	if err != nil || len(page.Items) != 1 || len(page.Items[0]) != 4 {
		t.Errorf("got %v, %v, want one item with the four key attributes", page, err)
	}
	ctx := db.CountCalls(t.Context())
	page, err = table.QueryIndex(ctx, db.IndexQuery{Index: due})
	if err != nil || page.Items != nil || db.Calls(ctx) != 0 {
		t.Errorf("without a partition: got %v, %v after %d calls, want no items and no calls", page, err, db.Calls(ctx))
	}
	missing := db.Index{Name: "missing", PK: "a", SK: "b"}
	if _, err := table.QueryIndex(t.Context(), db.IndexQuery{Index: missing, Partition: "x"}); err == nil {
		t.Error("got no error for a missing index")
	}
}
