package project_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/projecttest"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
	"devplatform/shared/project"
	"devplatform/shared/workspace"
)

func TestCreateComment(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	ada := f.NewUser("ada")
	projectID := ada.Project("", "App", workspace.Team)
	f.PutFile(projectID, "/src/#1 é.ts")
	comments := projecttest.URL(projectID) + "/comments"
	for _, tc := range []struct {
		body       object
		path, line any // of the created comment
	}{
		{body: object{"body": "On the project"}},
		{body: object{"body": "Also on the project", "path": nil, "line": nil}},
		{body: object{"body": "On a file", "path": "/src/#1 é.ts"}, path: "/src/#1 é.ts"},
		{
			body: object{"body": strings.Repeat("🚀", 4000), "path": "/src/#1 é.ts", "line": 12},
			path: "/src/#1 é.ts", line: 12.0,
		},
	} {
		f.Clock.Advance(time.Second)
		r := ada.Do(http.MethodPost, comments, tc.body).Want(t, http.StatusCreated)
		want := map[string]any{
			"id": r.Text("id"), "body": tc.body["body"], "path": tc.path, "line": tc.line,
			"author": map[string]any{"id": ada.UserID, "username": "ada"}, "createdAt": f.Timestamp(),
		}
		if diff := cmp.Diff(want, r.Body); diff != "" || !id.Comment.Valid(r.Text("id")) {
			t.Errorf("created comment %q: mismatch (-want +got):\n%s", r.Text("id"), diff)
		}
		if r.Calls > 5 {
			t.Errorf("creating a comment made %d calls, want at most 5", r.Calls)
		}
		listed := ada.Get(comments).Want(t, http.StatusOK).List("comments")
		if diff := cmp.Diff(want, listed[len(listed)-1]); diff != "" {
			t.Errorf("listed comment: mismatch (-want +got):\n%s", diff)
		}
		comment := &event.Comment{ID: r.Text("id"), Body: r.Text("body")}
		if path, ok := tc.path.(string); ok {
			comment.Path = &path
		}
		if line, ok := tc.line.(float64); ok {
			n := int(line)
			comment.Line = &n
		}
		wantLastEvent(ada, event.CommentCreated,
			event.Data{Project: &event.Project{ID: projectID, Name: "App"}, Comment: comment})
	}
}

func TestCommentValidation(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	ada := f.NewUser("ada")
	projectID := ada.Project("", "App", workspace.Team)
	f.PutFile(projectID, "/a.ts")
	n := len(f.StoredEvents())
	comments := projecttest.URL(projectID) + "/comments"
	for _, tc := range []struct {
		body  object
		field string
	}{
		{object{}, "body"},
		{object{"body": ""}, "body"},
		{object{"body": " \n"}, "body"},
		{object{"body": strings.Repeat("é", 4001)}, "body"},
		{object{"body": "x", "path": ""}, "path"},
		{object{"body": "x", "path": "a.ts"}, "path"},
		{object{"body": "x", "path": "/../a.ts"}, "path"},
		{object{"body": "x", "path": "/e\u0301"}, "path"},
		{object{"body": "x", "path": "/a.ts", "line": 0}, "line"},
	} {
		r := ada.Do(http.MethodPost, comments, tc.body).Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
		if !strings.Contains(r.Text("error"), tc.field+": ") {
			t.Errorf("%v: got %s, want an error of the field %s", tc.body, r.Raw, tc.field)
		}
	}
	for _, query := range []string{"?path=a.ts", "?path=/../a", "?cursor=x"} {
		ada.Get(comments+query).Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
	}
	if got := len(f.StoredEvents()); got != n {
		t.Errorf("invalid requests emitted %d events, want 0", got-n)
	}
}

func TestCommentPages(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	ada := f.NewUser("ada")
	projectID := ada.Project("", "App", workspace.Team)
	comments := projecttest.URL(projectID) + "/comments"
	f.PutFile(projectID, "/a.ts")
	f.PutFile(projectID, "/a.tsx")
	var all, onPath []any // IDs of all comments, and of the comments on /a.ts
	for i := range 60 {
		body := object{"body": fmt.Sprint(i), "path": "/a.tsx"}
		if i%3 == 0 {
			body["path"] = "/a.ts"
		}
		comment := ada.Do(http.MethodPost, comments, body).Want(t, http.StatusCreated).Text("id")
		all = append(all, comment)
		if i%3 == 0 {
			onPath = append(onPath, comment)
		}
	}
	wantDefaultPage(t, ada.Get(comments), "comments")
	for _, limit := range []int{1, 7, 20, 60, 100} {
		if diff := cmp.Diff(all, ada.Pages(comments, "", "comments", "id", limit)); diff != "" {
			t.Errorf("all comments, limit %d: mismatch (-want +got):\n%s", limit, diff)
		}
		if diff := cmp.Diff(onPath, ada.Pages(comments, "&path=/a.ts", "comments", "id", limit)); diff != "" {
			t.Errorf("comments on /a.ts, limit %d: mismatch (-want +got):\n%s", limit, diff)
		}
	}
	cursor := ada.Get(comments + "?limit=1").Text("nextCursor")
	ada.Get(comments+"?path=/a.ts&cursor="+cursor).Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
	other := ada.Project("", "Other", workspace.Team)
	ada.Get(projecttest.URL(other)+"/comments?cursor="+cursor).Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
	// Comments remain when their file is deleted. The last comment of a page may be deleted before the next page is
	// read.
	f.Transact(f.Projects.Delete(db.FileKey(projectID, "/a.ts")))
	ada.Do(http.MethodDelete, comments+"/"+all[0].(string), nil).Want(t, http.StatusOK)
	if diff := cmp.Diff(all[1:11], ada.Get(comments+"?limit=10&cursor="+cursor).Values("comments", "id")); diff != "" {
		t.Errorf("page after a deleted comment: mismatch (-want +got):\n%s", diff)
	}
	if got := ada.Get(comments + "?limit=100&path=/a.ts").List("comments"); len(got) != len(onPath)-1 {
		t.Errorf("got %d comments on a deleted file, want %d", len(got), len(onPath)-1)
	}
}

// wantDefaultPage checks that the response to a list request without a limit has a full page and a cursor.
func wantDefaultPage(t *testing.T, r response, list string) {
	t.Helper()
	if n := len(r.List(list)); n != httpapi.DefaultLimit || r.Text("nextCursor") == "" {
		t.Errorf("got %d %s and the cursor %q, want %d and a cursor", n, list, r.Text("nextCursor"), httpapi.DefaultLimit)
	}
}

// Reading the comments on one path among megabytes of other comments takes a limited number of calls per page.
func TestCommentsOnOnePathAmongManyComments(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	ada := f.NewUser("ada")
	projectID := ada.Project("", "App", workspace.Team)
	comments := projecttest.URL(projectID) + "/comments"
	f.PutFile(projectID, "/a.ts")
	commentOnFile := func() string {
		body := object{"body": "x", "path": "/a.ts"}
		return ada.Do(http.MethodPost, comments, body).Want(t, http.StatusCreated).Text("id")
	}
	first := commentOnFile()
	const others = 360 // more than 4 MB
	for batch := range slices.Chunk(make([]int, others), 60) {
		var writes []db.Write
		for range batch {
			c := project.CommentRecord{
				ID: f.IDs.New(id.Comment), Body: strings.Repeat("🚀", 4000), AuthorID: ada.UserID, Author: "ada",
			}
			record, err := db.Encode(c)
			if err != nil {
				t.Fatal(err)
			}
			writes = append(writes, f.Projects.Create(db.CommentKey(projectID, c.ID), record))
		}
		f.Transact(writes...)
	}
	last := commentOnFile()
	if r := ada.Get(comments + "?path=/a.ts"); r.Calls > 3+project.MaxCommentReads {
		t.Errorf("a page took %d calls, want at most %d", r.Calls, 3+project.MaxCommentReads)
	}
	if diff := cmp.Diff([]any{first, last}, ada.Pages(comments, "&path=/a.ts", "comments", "id", 10)); diff != "" {
		t.Errorf("mismatch (-want +got):\n%s", diff)
	}
	// A page of long comments is limited by the size of the response.
	if r := ada.Get(comments + "?limit=100"); len(r.Raw) > 4<<20 {
		t.Errorf("got a page of %d bytes, want at most 4 MiB", len(r.Raw))
	}
	if got := ada.Pages(comments, "", "comments", "id", 100); len(got) != others+2 {
		t.Errorf("got %d comments on all pages, want %d", len(got), others+2)
	}
}

func TestDeleteCommentPermissions(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	owner, author, member := f.NewUser("owner"), f.NewUser("author"), f.NewUser("member")
	team := owner.Workspace("Team")
	f.SetRole(team, author, workspace.Member)
	f.SetRole(team, member, workspace.Member)
	projectID := owner.Project(team, "App", workspace.Team)
	comments := projecttest.URL(projectID) + "/comments"
	remove := func(u *user, id string) response { return u.Do(http.MethodDelete, comments+"/"+id, nil) }
	n := len(f.StoredEvents())
	one, two, three := author.Comment(projectID), author.Comment(projectID), author.Comment(projectID)
	remove(member, one).Want(t, http.StatusForbidden, fault.CodeAccessDenied)
	deleted := remove(author, one).Want(t, http.StatusOK)
	if want := `{"success":true,"message":"Comment deleted."}`; deleted.Raw != want || deleted.Calls > 4 {
		t.Errorf("got %s after %d calls, want %s after at most 4 calls", deleted.Raw, deleted.Calls, want)
	}
	remove(author, one).Want(t, http.StatusNotFound, fault.CodeCommentNotFound)
	remove(owner, two).Want(t, http.StatusOK)
	f.SetRole(team, author, workspace.Viewer)
	remove(author, three).Want(t, http.StatusForbidden, fault.CodeAccessDenied)
	f.RemoveMember(team, author)
	remove(author, three).Want(t, http.StatusNotFound, fault.CodeProjectNotFound)
	other := owner.Project(team, "Other", workspace.Team)
	owner.Do(http.MethodDelete, projecttest.URL(other)+"/comments/"+three, nil).
		Want(t, http.StatusNotFound, fault.CodeCommentNotFound)
	if got := owner.Get(comments).Values("comments", "id"); !cmp.Equal(got, []any{three}) {
		t.Errorf("got the comments %v, want only %s", got, three)
	}
	if got := len(f.StoredEvents()) - n; got != 4 {
		t.Errorf("got %d events, want 4: three created comments and a created project", got)
	}
}

func TestListEvents(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	ada := f.NewUser("ada")
	projectID := ada.Project("", "App", workspace.Team)
	ada.Project("", "Another", workspace.Team)
	eventsURL := projecttest.URL(projectID) + "/events"
	for i := range 52 {
		f.Clock.Advance(time.Duration(i%2) * time.Second)
		ada.Do(http.MethodPost, projecttest.URL(projectID)+"/comments", object{"body": fmt.Sprint("<é> & ", i)}).
			Want(t, http.StatusCreated)
	}
	ada.Do(http.MethodPut, projecttest.URL(projectID), object{"name": "New"}).Want(t, http.StatusOK)
	damaged := event.Record{
		ID: f.IDs.New(id.Event), Type: event.FileCreated, WorkspaceID: "x", ProjectID: projectID, Payload: `{"timestamp":`,
		ExpiresAt: f.Clock.Now().Add(event.Retention).Unix(),
	}
	_, err := f.Client.Do(t.Context(), f.Events.Put(db.ProjectEventKey(projectID, damaged.ID), damaged))
	if err != nil {
		t.Fatal(err)
	}
	var ids, types []any
	var payloads []string
	for _, record := range slices.Backward(f.StoredEvents()) {
		if record.ProjectID == projectID && record.ID != damaged.ID {
			ids, types = append(ids, record.ID), append(types, string(record.Type))
			payloads = append(payloads, string(record.Payload))
		}
	}
	r := ada.Get(eventsURL+"?limit=100").Want(t, http.StatusOK)
	if want := `{"events":[` + strings.Join(payloads, ",") + `]}`; r.Raw != want {
		t.Errorf("got %s, want the stored payloads %s", r.Raw, want)
	}
	if diff := cmp.Diff(types, r.Values("events", "type")); diff != "" {
		t.Errorf("mismatch (-want +got):\n%s", diff)
	}
	wantDefaultPage(t, ada.Get(eventsURL), "events")
	for _, limit := range []int{1, 10, 54, 100} {
		if diff := cmp.Diff(ids, ada.Pages(eventsURL, "", "events", "id", limit)); diff != "" {
			t.Errorf("limit %d: mismatch (-want +got):\n%s", limit, diff)
		}
	}
	cursor := url.QueryEscape(ada.Get(eventsURL + "?limit=1").Text("nextCursor"))
	ada.Get(eventsURL+"?cursor="+cursor).Want(t, http.StatusOK)
	for _, query := range []string{"?limit=0", "?limit=101", "?cursor=forged", "?cursor=" + cursor + "x"} {
		ada.Get(eventsURL+query).Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
	}
	f.Clock.Advance(30*24*time.Hour + time.Minute)
	ada.Do(http.MethodPut, projecttest.URL(projectID), object{"name": "Newest"}).Want(t, http.StatusOK)
	if got := ada.Get(eventsURL).List("events"); len(got) != 1 {
		t.Errorf("got %d events after 30 days, want 1", len(got))
	}
	var actor map[string]any
	if data, ok := ada.Get(eventsURL).List("events")[0]["data"].(map[string]any); ok {
		actor, _ = data["actor"].(map[string]any)
	}
	if diff := cmp.Diff(map[string]any{"id": ada.UserID, "username": "ada"}, actor); diff != "" {
		t.Errorf("mismatch (-want +got):\n%s", diff)
	}
}
