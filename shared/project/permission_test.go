package project

import (
	"net/http"
	"testing"

	"devplatform/shared/fault"
	"devplatform/shared/workspace"
)

// projectCall is a request below a project, with the action that it requires.
type projectCall struct {
	name   string
	action workspace.Action
	public bool // any signed-in user may, if the project is public
	own    bool // needs to be one's own, or Moderate
	status int  // of a success
	do     func(u *user, projectID string) response
}

var projectCalls = []projectCall{
	{"read", workspace.Read, true, false, http.StatusOK, func(u *user, id string) response {
		return u.Get(projectURL(id))
	}},
	{"update", workspace.Write, false, false, http.StatusOK, func(u *user, id string) response {
		return u.Do(http.MethodPut, projectURL(id), object{"description": "by " + u.name})
	}},
	{"delete", workspace.DeleteOwnProject, false, true, http.StatusOK, func(u *user, id string) response {
		return u.Do(http.MethodDelete, projectURL(id), nil)
	}},
	{"feed", workspace.Read, false, false, http.StatusOK, func(u *user, id string) response {
		return u.Get(projectURL(id) + "/events")
	}},
	{"comment", workspace.Write, false, false, http.StatusCreated, func(u *user, id string) response {
		return u.Do(http.MethodPost, projectURL(id)+"/comments", object{"body": "Hello"})
	}},
	{"comments", workspace.Read, false, false, http.StatusOK, func(u *user, id string) response {
		return u.Get(projectURL(id) + "/comments")
	}},
	{"delete comment", workspace.Write, false, true, http.StatusOK, func(u *user, id string) response {
		return u.Do(http.MethodDelete, projectURL(id)+"/comments/"+u.f.commentOf(id), nil)
	}},
}

// commentOf returns the ID of a project's first comment, or an unknown ID if there is none.
func (f *fixture) commentOf(projectID string) string {
	f.t.Helper()
	found, err := f.service.store.comments(f.t.Context(), projectID, "", 1)
	if err != nil {
		f.t.Fatal(err)
	}
	if len(found) == 0 {
		return "cmt_01K9ZQ3V7M8T5XW2ABCDEFGHJK"
	}
	return found[0].ID
}

// Each request is allowed or denied as the role's permissions and the project's visibility require.
func TestProjectPermissions(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	owner := f.newUser("owner")
	team := owner.workspace("Team")
	callers := []struct {
		role workspace.Role
		*user
	}{
		{"", f.newUser("outsider")}, {"", f.newUser("former")}, {workspace.Viewer, f.newUser("viewer")}, {workspace.Member, f.newUser("member")},
		{workspace.Member, f.newUser("creator")}, {workspace.Admin, f.newUser("admin")}, {workspace.Owner, owner},
	}
	for _, caller := range callers {
		if caller.role != "" {
			f.setRole(team, caller.user, caller.role)
		}
	}
	creator, former := callers[4].user, callers[1].user
	f.setRole(team, former, workspace.Admin)
	f.removeMember(team, former)
	never := owner.Get("/api/projects/prj_01K9ZQ3V7M8T5XW2ABCDEFGHJK").Want(t, http.StatusNotFound, fault.CodeProjectNotFound)

	for _, visibility := range []Visibility{Private, Team, Public} {
		for _, call := range projectCalls {
			project := creator.project(team, "App", visibility)
			creator.Do(http.MethodPost, projectURL(project)+"/comments", object{"body": "First"}).Want(t, http.StatusCreated)
			for _, caller := range callers {
				isCreator := caller.user == creator
				sees := visibility == Public || (caller.role.May(workspace.Read) &&
					(visibility == Team || isCreator || caller.role.May(workspace.Moderate)))
				may := caller.role.May(call.action)
				if call.own {
					may = caller.role.May(workspace.Moderate) || (isCreator && may)
				}
				want := http.StatusForbidden
				switch {
				case !sees:
					want = http.StatusNotFound
				case may, call.public && visibility == Public:
					want = call.status
				}
				before := len(f.storedEvents())
				r := call.do(caller.user, project)
				if r.Status != want {
					t.Errorf("%s of a %s project by %s: %d %s, want %d", call.name, visibility, caller.name, r.Status, r.Raw, want)
				}
				if want == http.StatusNotFound && r.Raw != never.Raw {
					t.Errorf("%s of a %s project by %s: %s, want the same response as for an unknown ID: %s", call.name, visibility, caller.name, r.Raw, never.Raw)
				}
				if want >= http.StatusBadRequest && len(f.storedEvents()) != before {
					t.Errorf("%s of a %s project by %s emitted an event", call.name, visibility, caller.name)
				}
				if want == http.StatusOK && call.own { // deleted: the next caller needs a new one
					project = creator.project(team, "App", visibility)
					creator.Do(http.MethodPost, projectURL(project)+"/comments", object{"body": "First"}).Want(t, http.StatusCreated)
				}
			}
		}
	}
	nobody := f.newClient("nobody")
	for _, call := range projectCalls {
		call.do(nobody, creator.project(team, "App", Public)).Want(t, http.StatusUnauthorized, fault.CodeInvalidToken)
	}
}

// IDs of other kinds and invalid IDs are not found.
func TestInvalidIDs(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	project := ada.project("", "App", Team)
	for _, id := range []string{"x", "prj_", ada.userID, ada.personal, "PRJ_" + project[4:], project + "0", "%00", "prj_%23", "..%2Fx"} {
		for _, call := range projectCalls {
			if r := call.do(ada, id); r.Status != http.StatusNotFound || r.Text("code") != string(fault.CodeProjectNotFound) {
				if r.Text("code") != string(fault.CodeRouteNotFound) {
					t.Errorf("%s %q: %d %s", call.name, id, r.Status, r.Raw)
				}
			}
		}
	}
	for _, id := range []string{"x", project, "cmt_01K9ZQ3V7M8T5XW2ABCDEFGHJK"} {
		ada.Do(http.MethodDelete, projectURL(project)+"/comments/"+id, nil).Want(t, http.StatusNotFound, fault.CodeCommentNotFound)
	}
}
