package project

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"devplatform/shared/fault"
	"devplatform/shared/project/content"
	"devplatform/shared/workspace"
)

func TestHistory(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.desk("ada")
	var versions []string
	for i := range 5 {
		w.clock.Advance(time.Second)
		versions = append(versions, d.save("/a", fmt.Sprint("content ", i)).Text("version"))
	}
	newest := slices.Clone(versions)
	slices.Reverse(newest)
	history := d.history("/a", "").Want(t, http.StatusOK)
	list := history.List("versions")
	for i, v := range list {
		content := fmt.Sprint("content ", 4-i)
		if len(v) != 6 || v["version"] != newest[i] || v["current"] != (i == 0) || v["size"] != float64(len(content)) ||
			v["sha256"] != hexSum([]byte(content)) || v["updatedBy"] != d.userID {
			t.Errorf("%d: %v", i, v)
		}
		a := d.Get(d.files()+"?path=/a&version="+newest[i]).Want(t, http.StatusOK)
		if contentOf(t, a.Body) != content || a.Text("version") != newest[i] || a.Header.Get("ETag") != etagOf(newest[i]) || a.Text("updatedAt") != v["createdAt"] {
			t.Errorf("%d: %s", i, a.Raw)
		}
	}
	if len(list) != 5 || history.Text("nextCursor") != "" {
		t.Fatalf("%s", history.Raw)
	}
	for limit := 1; limit <= 6; limit++ {
		var got []string
		for cursor := ""; ; {
			a := d.history("/a", fmt.Sprintf("&limit=%d%s", limit, cursor)).Want(t, http.StatusOK)
			for _, v := range a.Values("versions", "version") {
				got = append(got, v.(string))
			}
			if a.Text("nextCursor") == "" {
				break
			}
			cursor = "&cursor=" + a.Text("nextCursor")
		}
		if diff := cmp.Diff(newest, got); diff != "" {
			t.Errorf("limit %d: %s", limit, diff)
		}
	}

	w.clock.Advance(content.Retention / 2)
	d.batch(object{"op": "rename", "path": "/a", "to": "/b"}).Want(t, http.StatusOK)
	if got := d.history("/a", "").Want(t, http.StatusOK).Values("versions", "current"); len(got) != 5 || got[0] != false {
		t.Errorf("history of the old path: %v", got)
	}
	if got := d.history("/b", "").Want(t, http.StatusOK).Values("versions", "current"); len(got) != 1 || got[0] != true {
		t.Errorf("history of the new path: %v", got)
	}
	d.Get(d.files()+"?path=/a").Want(t, http.StatusNotFound, fault.CodeFileNotFound)
	if a := d.Get(d.files()+"?path=/a&version="+newest[0]).Want(t, http.StatusOK); contentOf(t, a.Body) != "content 4" {
		t.Error(a.Raw)
	}
	d.Get(d.files()+"?path=/b&version="+newest[1]).Want(t, http.StatusNotFound, fault.CodeFileNotFound)
	d.Get(d.files()+"?path=/a&version=none").Want(t, http.StatusNotFound, fault.CodeFileNotFound)
	d.Get(d.files()+"?path=/a&version=a%23b").Want(t, http.StatusNotFound, fault.CodeFileNotFound)
	d.history("/never", "").Want(t, http.StatusNotFound, fault.CodeFileNotFound)

	w.clock.Advance(content.Retention/2 + time.Minute) // the versions replaced at the start have expired, the renamed version has not
	if got := d.history("/a", "").Want(t, http.StatusOK).Values("versions", "version"); len(got) != 1 || got[0] != newest[0] {
		t.Errorf("after 30 days: %v", got)
	}
	d.Get(d.files()+"?path=/a&version="+newest[1]).Want(t, http.StatusNotFound, fault.CodeFileNotFound)
	w.clock.Advance(content.Retention)
	d.history("/a", "").Want(t, http.StatusNotFound, fault.CodeFileNotFound)
	d.history("/b", "").Want(t, http.StatusOK)
}

// A save between two pages replaces the current version. The version is not listed a second time.
func TestHistoryPagesWhileFileChanges(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.desk("ada")
	var versions []string
	for i := range 3 {
		w.clock.Advance(time.Second)
		versions = append(versions, d.save("/a", fmt.Sprint("content ", i)).Text("version"))
	}
	first := d.history("/a", "&limit=1").Want(t, http.StatusOK)
	d.save("/a", "a newer one").Want(t, http.StatusOK)
	rest := d.history("/a", "&cursor="+first.Text("nextCursor")).Want(t, http.StatusOK)
	got := append(first.Values("versions", "version"), rest.Values("versions", "version")...)
	if diff := cmp.Diff([]any{versions[2], versions[1], versions[0]}, got); diff != "" {
		t.Error(diff)
	}
}

// A cursor is valid only for the user who received it.
func TestCursorOfAnotherUser(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, bob := w.user("ada"), w.user("bob")
	project := ada.project("", "App", Team)
	w.join(ada.personal, bob, workspace.Viewer)
	d := ada.at(project)
	for i := range 2 {
		d.save("/a", fmt.Sprint(i))
		d.save(fmt.Sprint("/b", i), "x")
		ada.Do(http.MethodPost, projectURL(project)+"/comments", object{"body": "x"}).Want(t, http.StatusCreated)
	}
	for _, list := range []string{"/files?", "/files/history?path=/a&", "/events?", "/comments?"} {
		url := projectURL(project) + list + "limit=1"
		cursor := ada.Get(url).Want(t, http.StatusOK).Text("nextCursor")
		ada.Get(url+"&cursor="+cursor).Want(t, http.StatusOK)
		bob.Get(url+"&cursor="+cursor).Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
	}
}
