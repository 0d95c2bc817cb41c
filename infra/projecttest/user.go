package projecttest

import (
	"maps"
	"net/http"
	"time"

	"devplatform/infra/slicetest"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
	"devplatform/shared/workspace"
)

// User is a user with a client that has a session.
type User struct {
	*slicetest.Client
	Fixture  *Fixture
	Name     string // also the session token
	UserID   string
	Personal string // ID of the personal workspace
}

// NewClient returns a client that sends name as its session token. It does not create a user.
func (f *Fixture) NewClient(name string) *User {
	f.T.Helper()
	c := slicetest.NewClient(f.T, f.Server.URL, f.Log)
	c.SetCookie("session", name)
	return &User{Client: c, Fixture: f, Name: name}
}

// NewUser creates a user with a personal workspace. The clock advances, so that sign-up times differ.
func (f *Fixture) NewUser(name string) *User {
	f.T.Helper()
	f.Clock.Advance(time.Millisecond)
	u := f.NewClient(name)
	u.UserID, u.Personal = f.IDs.New(id.User), f.IDs.New(id.Workspace)
	f.Transact(workspace.Personal(f.Projects, u.Personal, u.UserID, name, f.Clock.Now())...)
	f.Users.Add(u.Caller())
	return u
}

// Caller returns the user as the caller of a service.
func (u *User) Caller() httpapi.Caller { return slicetest.NewCaller(u.UserID, u.Name) }

// Object is a JSON object in a request.
type Object map[string]any

// With returns a copy of the object in which the field has the value.
func (o Object) With(field string, value any) Object {
	o = maps.Clone(o)
	o[field] = value
	return o
}

// Project creates a project through the API, and returns its ID. workspaceID "" means the personal workspace.
func (u *User) Project(workspaceID, name string, visibility workspace.Visibility) string {
	u.Fixture.T.Helper()
	fields := Object{"name": name, "visibility": visibility}
	if workspaceID != "" {
		fields["workspaceId"] = workspaceID
	}
	return u.Do(http.MethodPost, "/api/projects", fields).Want(u.Fixture.T, http.StatusCreated).Text("id")
}
