package project

import (
	"net/http"
	"time"

	"devplatform/infra/slicetest"
	"devplatform/shared/id"
	"devplatform/shared/workspace"
)

// user is a user with a client that has a session.
type user struct {
	*slicetest.Client
	f        *fixture
	name     string // also the session token
	userID   string
	personal string // ID of the personal workspace
}

// newClient returns a client that sends name as its session token. It does not create a user.
func (f *fixture) newClient(name string) *user {
	f.t.Helper()
	c := slicetest.NewClient(f.t, f.server.URL, f.log)
	c.SetCookie("session", name)
	return &user{Client: c, f: f, name: name}
}

// newUser creates a user with a personal workspace. The clock advances, so that sign-up times differ.
func (f *fixture) newUser(name string) *user {
	f.t.Helper()
	f.clock.Advance(time.Millisecond)
	u := f.newClient(name)
	u.userID, u.personal = f.ids.New(id.User), f.ids.New(id.Workspace)
	f.transact(workspace.Personal(f.projects, u.personal, u.userID, name, f.clock.Now())...)
	f.users.Add(slicetest.NewCaller(u.userID, name))
	return u
}

type response = slicetest.Response

// object is a JSON object in a request.
type object map[string]any

// project creates a project through the API, and returns its ID. workspaceID "" means the personal workspace.
func (u *user) project(workspaceID, name string, visibility Visibility) string {
	u.f.t.Helper()
	fields := object{"name": name, "visibility": visibility}
	if workspaceID != "" {
		fields["workspaceId"] = workspaceID
	}
	return u.Do(http.MethodPost, "/api/projects", fields).Want(u.f.t, http.StatusCreated).Text("id")
}
