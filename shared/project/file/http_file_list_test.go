package file_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"devplatform/infra/projecttest"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/workspace"
)

// A damaged record of a file is omitted from lists. A snapshot, which must have all files, cannot be made.
func TestDamagedFileRecord(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	client := f.NewFilesClient("ada")
	client.Save("/a", "x").Want(t, http.StatusCreated)
	client.Save("/c", "x").Want(t, http.StatusCreated)
	damaged := db.Item{"size": &types.AttributeValueMemberS{Value: "large"}}
	f.Put(f.Tables.Projects, map[db.Key]db.Item{db.FileKey(client.ProjectID, "/b"): damaged})
	if diff := cmp.Diff([]any{"/a", "/c"}, client.Paths()); diff != "" {
		t.Errorf("mismatch (-want +got):\n%s", diff)
	}
	first := client.Get(client.URL()+"?limit=1").Want(t, http.StatusOK)
	second := client.Get(client.URL()+"?limit=1&cursor="+url.QueryEscape(first.Text("nextCursor"))).Want(t, http.StatusOK)
	if diff := cmp.Diff([]any{"/c"}, second.Values("files", "path")); diff != "" || second.Text("nextCursor") != "" {
		t.Errorf("got %s, mismatch of the second page (-want +got):\n%s", second.Raw, diff)
	}
	if _, err := f.Files.Snapshot(t.Context(), client.ProjectID); err == nil {
		t.Error("got a snapshot without the damaged file")
	}
}

func TestListFiles(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	client := f.NewFilesClient("ada")
	var all []any
	for _, path := range []string{"/a", "/b/1", "/b/2", "/b#", "/c", "/c.map", "/é"} {
		client.Save(path, "content of "+path).Want(t, http.StatusCreated)
		all = append(all, path)
	}
	slices.SortFunc(all, func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
	if diff := cmp.Diff(all, client.Paths()); diff != "" {
		t.Errorf("mismatch (-want +got):\n%s", diff)
	}
	for prefix, want := range map[string][]any{
		"/":                       all,
		"/b/":                     {"/b/1", "/b/2"},
		"/b":                      {"/b#", "/b/1", "/b/2"},
		"/b/1":                    {"/b/1"},
		"/c":                      {"/c", "/c.map"},
		"/x":                      {},
		"b":                       {},
		strings.Repeat("/x", 900): {},
	} {
		for _, limit := range []int{0, 1, 2, 100} {
			got := []any{}
			for _, r := range pages(t, client, fmt.Sprintf("?prefix=%s", url.QueryEscape(prefix)), limit) {
				got = append(got, r.Values("files", "path")...)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("prefix %.20s, limit %d: mismatch (-want +got):\n%s", prefix, limit, diff)
			}
		}
	}
	for _, limit := range []int{0, 1, 4} {
		n := 0
		for _, r := range pages(t, client, "?include=content", limit) {
			for _, item := range r.List("files") {
				n++
				if want := "content of " + item["path"].(string); contentOf(t, item) != want {
					t.Errorf("got the file %v, want the content %q", item, want)
				}
			}
		}
		if n != len(all) {
			t.Errorf("limit %d: got %d files with contents, want %d", limit, n, len(all))
		}
	}
}

// pages returns all pages of a list.
func pages(t *testing.T, client filesClient, query string, limit int) []response {
	t.Helper()
	if limit > 0 {
		query += fmt.Sprintf("&limit=%d", limit)
	}
	var all []response
	for cursor := ""; ; {
		r := client.Get(client.URL()+query+cursor).Want(t, http.StatusOK)
		all = append(all, r)
		n, next := len(r.List("files")), r.Text("nextCursor")
		if limit > 0 && n > limit {
			t.Fatalf("got a page of %d files, want at most %d", n, limit)
		}
		if n < limit && next != "" && !strings.Contains(query, "content") {
			t.Fatalf("got a page of %d files before the last page, want %d", n, limit)
		}
		if next == "" {
			return all
		}
		if len(all) > 200 {
			t.Fatal("the list has more than 200 pages")
		}
		cursor = "&cursor=" + url.QueryEscape(next)
	}
}

func TestListWithContentsIsPagedByBytes(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	client := f.NewFilesClient("ada")
	sizes := map[string]int{}
	for i := range 5 {
		path := fmt.Sprintf("/%d.bin", i)
		client.SaveBytes(path, randomBytes(1<<20)).Want(t, http.StatusCreated)
		sizes[path] = 1 << 20
	}
	client.Save("/z.txt", strings.Repeat("\n\n\nabcde", 1<<17)).Want(t, http.StatusCreated)
	sizes["/z.txt"] = 1 << 20
	for _, limit := range []int{0, 2} {
		got := map[string]int{}
		for _, r := range pages(t, client, "?include=content", limit) {
			if len(r.Raw) > 5<<20 {
				t.Errorf("got a page of %d bytes, want at most 5 MiB", len(r.Raw))
			}
			for _, item := range r.List("files") {
				got[item["path"].(string)] = len(contentOf(t, item))
			}
		}
		if diff := cmp.Diff(sizes, got); diff != "" {
			t.Errorf("limit %d: sizes mismatch (-want +got):\n%s", limit, diff)
		}
	}
}

func TestCursorOfAnotherList(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	client := f.NewFilesClient("ada")
	other := client.FilesOf(client.Project("", "Other", workspace.Private))
	for _, p := range []filesClient{client, other} {
		for i := range 3 {
			p.Save(fmt.Sprintf("/a/%d", i), "x").Want(t, http.StatusCreated)
			p.Save("/a/0", fmt.Sprint(i)).Want(t, http.StatusOK)
		}
	}
	cursor := client.Get(client.URL() + "?limit=1").Text("nextCursor")
	versions := client.History("/a/0", "&limit=1").Text("nextCursor")
	if cursor == "" || versions == "" {
		t.Fatal("a list has no cursor")
	}
	for _, path := range []string{
		other.URL() + "?cursor=" + cursor, client.URL() + "?prefix=/a&cursor=" + cursor, client.URL() + "?cursor=" + versions,
		client.URL() + "?cursor=invalid", client.URL() + "?cursor=" + cursor[:len(cursor)-2] + "xx",
		client.URL() + "/history?path=/a/0&cursor=" + cursor, client.URL() + "/history?path=/a/1&cursor=" + versions,
		other.URL() + "/history?path=/a/0&cursor=" + versions,
	} {
		r := client.Get(path).Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
		if !strings.Contains(r.Text("error"), "cursor") {
			t.Errorf("%s: got %s, want an error for the cursor", path, r.Raw)
		}
	}
	client.Get(client.URL()+"?limit=2&cursor="+cursor).Want(t, http.StatusOK)
}
