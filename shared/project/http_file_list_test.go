package project

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"devplatform/shared/fault"
)

func TestListFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.desk("ada")
	var all []any
	for _, path := range []string{"/a", "/b/1", "/b/2", "/b#", "/c", "/c.map", "/é"} {
		d.save(path, "content of "+path).Want(t, http.StatusCreated)
		all = append(all, path)
	}
	slices.SortFunc(all, func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
	if diff := cmp.Diff(all, d.paths()); diff != "" {
		t.Error(diff)
	}
	for prefix, want := range map[string][]any{
		"/b/": {"/b/1", "/b/2"}, "/b": {"/b#", "/b/1", "/b/2"}, "/b/1": {"/b/1"}, "/c": {"/c", "/c.map"}, "/x": {}, "b": {}, "/": all,
		strings.Repeat("/x", 900): {},
	} {
		for _, limit := range []int{0, 1, 2, 100} {
			got := []any{}
			for _, a := range pages(t, d, fmt.Sprintf("?prefix=%s", url.QueryEscape(prefix)), limit) {
				got = append(got, a.Values("files", "path")...)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%.20s, %d at a time: %s", prefix, limit, diff)
			}
		}
	}
	for _, limit := range []int{0, 1, 4} {
		n := 0
		for _, a := range pages(t, d, "?include=content", limit) {
			for _, f := range a.List("files") {
				n++
				if contentOf(t, f) != "content of "+f["path"].(string) {
					t.Errorf("%v", f)
				}
			}
		}
		if n != len(all) {
			t.Errorf("%d files with contents", n)
		}
	}
}

// pages returns all pages of a list.
func pages(t *testing.T, d desk, query string, limit int) []answer {
	t.Helper()
	if limit > 0 {
		query += fmt.Sprintf("&limit=%d", limit)
	}
	var all []answer
	for cursor := ""; ; {
		a := d.Get(d.files()+query+cursor).Want(t, http.StatusOK)
		all = append(all, a)
		if n := len(a.List("files")); limit > 0 && (n > limit || (n < limit && a.Text("nextCursor") != "" && !strings.Contains(query, "content"))) {
			t.Fatalf("a page of %d, at most %d", n, limit)
		}
		next := a.Text("nextCursor")
		if next == "" {
			return all
		}
		if len(all) > 200 {
			t.Fatal("the list does not end")
		}
		cursor = "&cursor=" + url.QueryEscape(next)
	}
}

func TestListWithContentsIsPagedByBytes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.desk("ada")
	sizes := map[string]int{}
	for i := range 5 {
		path := fmt.Sprintf("/%d.bin", i)
		d.saveBytes(path, noise(1<<20)).Want(t, http.StatusCreated)
		sizes[path] = 1 << 20
	}
	d.save("/z.txt", strings.Repeat("\n\n\nabcde", 1<<17)).Want(t, http.StatusCreated)
	sizes["/z.txt"] = 1 << 20
	for _, limit := range []int{0, 2} {
		got := map[string]int{}
		for _, a := range pages(t, d, "?include=content", limit) {
			if len(a.Raw) > 5<<20 {
				t.Errorf("a page of %d bytes", len(a.Raw))
			}
			for _, f := range a.List("files") {
				got[f["path"].(string)] = len(contentOf(t, f))
			}
		}
		if diff := cmp.Diff(sizes, got); diff != "" {
			t.Errorf("limit %d: %s", limit, diff)
		}
	}
}

func TestCursorOfAnotherList(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.desk("ada")
	other := d.at(d.project("", "Other", Private))
	for _, p := range []desk{d, other} {
		for i := range 3 {
			p.save(fmt.Sprintf("/a/%d", i), "x").Want(t, http.StatusCreated)
			p.save("/a/0", fmt.Sprint(i)).Want(t, http.StatusOK)
		}
	}
	cursor := d.Get(d.files() + "?limit=1").Text("nextCursor")
	versions := d.history("/a/0", "&limit=1").Text("nextCursor")
	if cursor == "" || versions == "" {
		t.Fatal("no cursors")
	}
	for _, path := range []string{
		other.files() + "?cursor=" + cursor, d.files() + "?prefix=/a&cursor=" + cursor, d.files() + "?cursor=" + versions,
		d.files() + "?cursor=nonsense", d.files() + "?cursor=" + cursor[:len(cursor)-2] + "xx",
		d.files() + "/history?path=/a/0&cursor=" + cursor, d.files() + "/history?path=/a/1&cursor=" + versions,
		other.files() + "/history?path=/a/0&cursor=" + versions,
	} {
		if a := d.Get(path).Want(t, http.StatusBadRequest, fault.CodeValidationFailed); !strings.Contains(a.Text("error"), "cursor") {
			t.Errorf("%s: %s", path, a.Raw)
		}
	}
	d.Get(d.files()+"?limit=2&cursor="+cursor).Want(t, http.StatusOK)
}
