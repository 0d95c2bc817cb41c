package file_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/projecttest"
	"devplatform/shared/fault"
	"devplatform/shared/project/content"
	"devplatform/shared/workspace"
)

func TestHistory(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	client := f.NewFilesClient("ada")
	var versions []string
	for i := range 5 {
		f.Clock.Advance(time.Second)
		versions = append(versions, client.Save("/a", fmt.Sprint("content ", i)).Text("version"))
	}
	newest := slices.Clone(versions)
	slices.Reverse(newest)
	history := client.History("/a", "").Want(t, http.StatusOK)
	list := history.List("versions")
	for i, v := range list {
		content := fmt.Sprint("content ", 4-i)
		if len(v) != 6 || v["version"] != newest[i] || v["current"] != (i == 0) || v["size"] != float64(len(content)) ||
			v["sha256"] != hexSum([]byte(content)) || v["updatedBy"] != client.UserID {
			t.Errorf("version %d in the list: got %v, want the ID %s and the content %q", i, v, newest[i], content)
		}
		r := client.Get(client.URL()+"?path=/a&version="+newest[i]).Want(t, http.StatusOK)
		if contentOf(t, r.Body) != content || r.Text("version") != newest[i] ||
			r.Header.Get("ETag") != `"`+newest[i]+`"` || r.Text("updatedAt") != v["createdAt"] {
			t.Errorf("reading version %d: got %s, want the ID %s and the content %q", i, r.Raw, newest[i], content)
		}
	}
	if len(list) != 5 || history.Text("nextCursor") != "" {
		t.Fatalf("got %s, want 5 versions and no cursor", history.Raw)
	}
	for limit := 1; limit <= 6; limit++ {
		var got []string
		for cursor := ""; ; {
			r := client.History("/a", fmt.Sprintf("&limit=%d%s", limit, cursor)).Want(t, http.StatusOK)
			for _, v := range r.Values("versions", "version") {
				got = append(got, v.(string))
			}
			if r.Text("nextCursor") == "" {
				break
			}
			cursor = "&cursor=" + r.Text("nextCursor")
		}
		if diff := cmp.Diff(newest, got); diff != "" {
			t.Errorf("limit %d: mismatch (-want +got):\n%s", limit, diff)
		}
	}

	f.Clock.Advance(content.Retention / 2)
	client.Batch(object{"op": "rename", "path": "/a", "to": "/b"}).Want(t, http.StatusOK)
	oldPath := client.History("/a", "").Want(t, http.StatusOK).Values("versions", "current")
	if len(oldPath) != 5 || oldPath[0] != false {
		t.Errorf("history of the old path: got current = %v, want 5 replaced versions", oldPath)
	}
	newPath := client.History("/b", "").Want(t, http.StatusOK).Values("versions", "current")
	if len(newPath) != 1 || newPath[0] != true {
		t.Errorf("history of the new path: got current = %v, want one current version", newPath)
	}
	client.Get(client.URL()+"?path=/a").Want(t, http.StatusNotFound, fault.CodeFileNotFound)
	r := client.Get(client.URL()+"?path=/a&version="+newest[0]).Want(t, http.StatusOK)
	if contentOf(t, r.Body) != "content 4" {
		t.Errorf("the last version at the old path: got %s, want the content %q", r.Raw, "content 4")
	}
	client.Get(client.URL()+"?path=/b&version="+newest[1]).Want(t, http.StatusNotFound, fault.CodeFileNotFound)
	client.Get(client.URL()+"?path=/a&version=unknown").Want(t, http.StatusNotFound, fault.CodeFileNotFound)
	client.Get(client.URL()+"?path=/a&version=a%23b").Want(t, http.StatusNotFound, fault.CodeFileNotFound)
	client.History("/never", "").Want(t, http.StatusNotFound, fault.CodeFileNotFound)

	// The versions that were replaced by a save have expired. The version that was replaced by the rename has not.
	f.Clock.Advance(content.Retention/2 + time.Minute)
	got := client.History("/a", "").Want(t, http.StatusOK).Values("versions", "version")
	if len(got) != 1 || got[0] != newest[0] {
		t.Errorf("after 30 days: got the versions %v, want only %s", got, newest[0])
	}
	client.Get(client.URL()+"?path=/a&version="+newest[1]).Want(t, http.StatusNotFound, fault.CodeFileNotFound)
	f.Clock.Advance(content.Retention)
	client.History("/a", "").Want(t, http.StatusNotFound, fault.CodeFileNotFound)
	client.History("/b", "").Want(t, http.StatusOK)
}

// A save between two pages replaces the current version. The replaced version is not listed a second time.
func TestHistoryPagesWhileFileChanges(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	client := f.NewFilesClient("ada")
	var versions []string
	for i := range 3 {
		f.Clock.Advance(time.Second)
		versions = append(versions, client.Save("/a", fmt.Sprint("content ", i)).Text("version"))
	}
	first := client.History("/a", "&limit=1").Want(t, http.StatusOK)
	client.Save("/a", "newer content").Want(t, http.StatusOK)
	rest := client.History("/a", "&cursor="+first.Text("nextCursor")).Want(t, http.StatusOK)
	got := append(first.Values("versions", "version"), rest.Values("versions", "version")...)
	if diff := cmp.Diff([]any{versions[2], versions[1], versions[0]}, got); diff != "" {
		t.Errorf("mismatch (-want +got):\n%s", diff)
	}
}

// A cursor is valid only for the user who received it.
func TestCursorOfAnotherUser(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	ada, bob := f.NewUser("ada"), f.NewUser("bob")
	project := ada.Project("", "App", workspace.Team)
	f.SetRole(ada.Personal, bob, workspace.Viewer)
	client := ada.FilesOf(project)
	for i := range 2 {
		client.Save("/a", fmt.Sprint(i))
		client.Save(fmt.Sprint("/b", i), "x")
		ada.Do(http.MethodPost, projecttest.URL(project)+"/comments", object{"body": "x"}).Want(t, http.StatusCreated)
	}
	for _, list := range []string{"/files?", "/files/history?path=/a&", "/events?", "/comments?"} {
		url := projecttest.URL(project) + list + "limit=1"
		cursor := ada.Get(url).Want(t, http.StatusOK).Text("nextCursor")
		ada.Get(url+"&cursor="+cursor).Want(t, http.StatusOK)
		bob.Get(url+"&cursor="+cursor).Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
	}
}
