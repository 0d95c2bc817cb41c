package export_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"devplatform/infra/accounttest"
	"devplatform/infra/slicetest"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/id"
	"devplatform/shared/job"
	"devplatform/shared/lambdafn"
	"devplatform/shared/workspace"
)

const path = "/api/auth/export"

type document map[string][]map[string]any

// start starts an export and returns its ID.
func start(t *testing.T, u *accounttest.User) string {
	t.Helper()
	r := u.Do(http.MethodPost, path, nil).Want(t, http.StatusAccepted)
	if r.Text("status") != "running" {
		t.Errorf("got %s, want a running export", r.Raw)
	}
	return r.Text("id")
}

// read returns the document of an export, nil if it is not ready.
func read(t *testing.T, u *accounttest.User, exportID string) document {
	t.Helper()
	r := u.Get(path+"/"+exportID).Want(t, http.StatusOK)
	if r.Text("status") != "ready" {
		return nil
	}
	if !strings.Contains(r.Text("url"), "account.json") {
		t.Errorf("got the URL %s, want one of account.json", r.Text("url"))
	}
	var d document
	data := u.World.Download(r.Text("url"))
	if err := json.Unmarshal(data, &d); err != nil {
		t.Fatalf("%v in %s", err, data)
	}
	if size, ok := r.Body["size"].(float64); !ok || int(size) != len(data) {
		t.Errorf("got the size %v of a document of %d bytes", r.Body["size"], len(data))
	}
	return d
}

// The document has what a user did in workspaces of any user. It has nothing that other users did.
func TestDocument(t *testing.T) {
	t.Parallel()
	w := accounttest.New(t)
	ada, grace := w.NewUser("ada"), w.NewUser("grace")
	team := ada.Workspace("Team")
	grace.Join(ada, team, workspace.Admin)
	own, others := grace.Project(team, "Own"), ada.Project(team, "Others")
	for _, project := range []string{own, others} {
		grace.Comment(project, "by grace")
		ada.Comment(project, "by ada")
		grace.Ask(project, "asked by grace")
		ada.Ask(project, "asked by ada")
	}
	hook := grace.Hook(team, "http://127.0.0.1/grace")
	ada.Hook(team, "http://127.0.0.1/ada")
	w.NewUser("heidi")
	grace.Do(http.MethodPost, "/api/workspaces/"+team+"/invitations",
		map[string]string{"username": "heidi", "role": "member"}).Want(t, http.StatusCreated)
	ada.Do(http.MethodPost, "/api/workspaces/"+ada.Workspace("Second")+"/invitations",
		map[string]string{"username": "grace", "role": "member"}).Want(t, http.StatusCreated)
	grace.Do(http.MethodPost, "/api/projects/"+others+"/deployments", map[string]string{"message": "by grace"}).
		Want(t, http.StatusAccepted)
	ada.Do(http.MethodPost, "/api/projects/"+others+"/deployments", map[string]string{"message": "by ada"}).
		Want(t, http.StatusAccepted)

	exportID := start(t, grace)
	for _, err := range w.RunExports(nil) {
		if err != nil && !strings.Contains(err.Error(), "unknown kind") { // the builds
			t.Error(err)
		}
	}
	d := read(t, grace, exportID)
	for section, want := range map[string]int{
		"account": 1, "addresses": 2, "undeliverable": 0, "identities": 0, "sessions": 1, "activity": 1, "mails": 1,
		"exports": 1, "workspaces": 2, "invitationsToUser": 1, "invitationsToAddress": 0, "invitationsByUser": 1,
		"projects": 1, "comments": 2, "deployments": 1, "webhooks": 1, "questions": 2, "assistantUsage": 1, "traffic": 0,
	} {
		records, ok := d[section]
		if !ok || len(records) != want {
			t.Errorf("%s: got %v, want %d records", section, records, want)
		}
		delete(d, section)
	}
	if len(d) > 0 {
		t.Errorf("got the other sections %v", d)
	}
	text := fmt.Sprint(read(t, grace, exportID))
	for _, want := range []string{
		"grace@example.com", "by grace", "asked by grace", hook, own, "projectId:" + others,
		"http://127.0.0.1/grace", team, grace.Personal, "heidi",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the document lacks %q", want)
		}
	}
	for _, secret := range []string{
		"ada@example.com", "by ada", "127.0.0.1/ada", "argon2", "whsec", "hash", "secret", "sealed", "token", "revision",
	} {
		if strings.Contains(text, secret) {
			t.Errorf("the document contains %q", secret)
		}
	}
}

// An export needs a recent login. Only its user can read it, for a day. A user can start three exports in one day.
func TestLimits(t *testing.T) {
	t.Parallel()
	w := accounttest.New(t)
	ada, grace := w.NewUser("ada"), w.NewUser("grace")
	w.Clock.Advance(10*time.Minute + time.Second)
	ada.Do(http.MethodPost, path, nil).Want(t, http.StatusForbidden, fault.CodeReauthRequired)
	ada.Login().Want(t, http.StatusOK)
	responses := slicetest.Concurrently(5, func(int) slicetest.Response { return ada.Do(http.MethodPost, path, nil) })
	if got := slicetest.CountStatuses(responses); got[http.StatusAccepted] != 3 || got[http.StatusTooManyRequests] != 2 {
		t.Errorf("got the statuses %v, want 202 three times, then 429", got)
	}
	exportID := ""
	for _, r := range responses {
		if r.Status == http.StatusAccepted {
			exportID = r.Text("id")
		}
	}
	for _, unknown := range []string{exportID, "x", w.IDs.New("evt")} {
		grace.Get(path+"/"+unknown).Want(t, http.StatusNotFound, fault.CodeExportNotFound)
	}
	w.RunExports(nil)
	if read(t, ada, exportID) == nil {
		t.Error("the export is not ready")
	}
	w.Clock.Advance(24 * time.Hour)
	ada.Login().Want(t, http.StatusOK)
	ada.Get(path+"/"+exportID).Want(t, http.StatusNotFound, fault.CodeExportNotFound)
	start(t, ada)
}

// A worker can be killed at every call. The next attempt finishes the export.
func TestWorkerIsKilled(t *testing.T) {
	t.Parallel()
	w := accounttest.New(t)
	ada := w.NewUser("ada")
	ada.Comment(ada.Project("", "P"), "a comment")
	slicetest.Steps(t, 20, func(p *slicetest.Process) {
		p.At = slicetest.Kill
		w.Clock.Advance(24 * time.Hour)
		ada.Login().Want(t, http.StatusOK)
		exportID := start(t, ada)
		w.RunExports(p)
		if !p.IsKilled() && read(t, ada, exportID) == nil {
			t.Error("the export of a worker that was not killed is not ready")
		}
		w.Clock.Advance(job.LeaseTime + time.Second)
		w.Resend(ada.ID, exportID)
		for _, err := range w.RunExports(nil) {
			if err != nil {
				t.Error(err)
			}
		}
		if d := read(t, ada, exportID); len(d["comments"]) != 1 {
			t.Errorf("got the document %v, want one with a comment", d)
		}
	})
}

// If storage is unavailable, the job waits. If the account has ended, the export fails without a document.
func TestInterruptions(t *testing.T) {
	t.Parallel()
	w := accounttest.New(t)
	ada := w.NewUser("ada")
	exportID := start(t, ada)
	down := slicetest.DoFunc(func(r *http.Request) (*http.Response, error) {
		if r.Method == http.MethodPut {
			return nil, errors.New("no connection")
		}
		return slicetest.Transfers.Do(r)
	})
	if errs := w.RunExports(down); len(errs) != 1 || !errors.Is(errs[0], lambdafn.ErrLater) {
		t.Errorf("got the errors %v, want ErrLater", errs)
	}
	w.Resend(ada.ID, exportID)
	w.RunExports(nil)
	if read(t, ada, exportID) == nil {
		t.Error("the export is not ready")
	}
	second := start(t, ada)
	if _, err := w.Client.Do(t.Context(), w.Accounts().Delete(db.UserKey(ada.ID))); err != nil {
		t.Fatal(err)
	}
	if errs := w.RunExports(nil); errs[0] != nil {
		t.Errorf("got the error %v for an account that has ended", errs[0])
	}
	item, err := w.Accounts().Get(t.Context(), db.AccountExportKey(ada.ID, second))
	if err != nil || !strings.Contains(fmt.Sprint(item["status"]), "failed") {
		t.Errorf("got the export %v, error %v, want a failed one", item["status"], err)
	}
	if _, err := w.Projects().Get(t.Context(), db.JobKey(ada.ID, second)); !errors.Is(err, db.ErrNotFound) {
		t.Errorf("the job: got the error %v, want ErrNotFound", err)
	}
}

// The document of a large account is complete: it is made from many pages of each table.
func TestLargeAccount(t *testing.T) {
	t.Parallel()
	w := accounttest.New(t)
	ada := w.NewUser("ada")
	const sessions, projects, comments = 4000, 200, 20
	agent := strings.Repeat("a", 256)
	accountItems, projectItems := map[db.Key]db.Item{}, map[db.Key]db.Item{}
	add := func(items map[db.Key]db.Item, key db.Key, record map[string]any) {
		item, err := db.Encode(record)
		if err != nil {
			t.Fatal(err)
		}
		items[key] = item
	}
	for range sessions {
		sessionID := w.IDs.New(id.Session)
		add(accountItems, db.SessionKey(ada.ID, sessionID), map[string]any{"id": sessionID, "userAgent": agent})
	}
	for range projects {
		projectID := w.IDs.New(id.Project)
		add(projectItems, db.ProjectKey(ada.Personal, projectID), map[string]any{"id": projectID, "createdBy": ada.ID})
		for range comments {
			commentID := w.IDs.New(id.Comment)
			add(projectItems, db.CommentKey(projectID, commentID), map[string]any{"id": commentID, "authorId": ada.ID})
		}
	}
	for table, items := range map[db.Table]map[db.Key]db.Item{w.Accounts(): accountItems, w.Projects(): projectItems} {
		if err := table.PutAll(t.Context(), items); err != nil {
			t.Fatal(err)
		}
	}
	exportID := start(t, ada)
	w.RunExports(nil)
	d := read(t, ada, exportID)
	if n := len(d["sessions"]); n != sessions+1 {
		t.Errorf("got %d sessions, want %d", n, sessions+1)
	}
	if len(d["projects"]) != projects || len(d["comments"]) != projects*comments {
		t.Errorf("got %d projects with %d comments, want %d with %d", len(d["projects"]), len(d["comments"]), projects,
			projects*comments)
	}
}
