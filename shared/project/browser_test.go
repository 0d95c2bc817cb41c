package project

import (
	"net/http"
	"time"

	"devplatform/infra/slicetest"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
	"devplatform/shared/workspace"
)

// browser is a user's client.
type browser struct {
	*slicetest.Client
	w        *world
	name     string // the session's token, too
	userID   string
	personal string // the id of the personal workspace
}

// browser returns a client of a user without an account.
func (w *world) browser(name string) *browser {
	w.t.Helper()
	c := slicetest.NewClient(w.t, w.server.URL, w.log)
	c.SetCookie("session", name)
	c.SessionCalls = 1
	return &browser{Client: c, w: w, name: name}
}

// user creates a user with a personal workspace. The clock advances, so that sign-up times differ.
func (w *world) user(name string) *browser {
	w.t.Helper()
	w.clock.Advance(time.Millisecond)
	b := w.browser(name)
	b.userID, b.personal = w.ids.New(id.User), w.ids.New(id.Workspace)
	writes, err := workspace.Personal(w.projects, b.personal, b.userID, name, w.clock.Now())
	if err != nil {
		w.t.Fatal(err)
	}
	w.transact(writes...)
	w.users.Add(httpapi.Caller{UserID: b.userID, Username: name, Email: name + "@example.com", CreatedAt: w.clock.Now()})
	return b
}

type answer = slicetest.Response

// object is a JSON object in a request.
type object map[string]any

// project creates a project through the API, and returns its ID. workspaceID "" means the personal workspace.
func (b *browser) project(workspaceID, name string, visibility Visibility) string {
	b.w.t.Helper()
	fields := object{"name": name, "visibility": visibility}
	if workspaceID != "" {
		fields["workspaceId"] = workspaceID
	}
	return b.Do(http.MethodPost, "/api/projects", fields).Want(b.w.t, http.StatusCreated).Text("id")
}
