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
	do     func(b *browser, projectID string) answer
}

var projectCalls = []projectCall{
	{"read", workspace.Read, true, false, http.StatusOK, func(b *browser, id string) answer {
		return b.Get(projectURL(id))
	}},
	{"update", workspace.Write, false, false, http.StatusOK, func(b *browser, id string) answer {
		return b.Do(http.MethodPut, projectURL(id), object{"description": "by " + b.name})
	}},
	{"delete", workspace.DeleteOwnProject, false, true, http.StatusOK, func(b *browser, id string) answer {
		return b.Do(http.MethodDelete, projectURL(id), nil)
	}},
	{"feed", workspace.Read, false, false, http.StatusOK, func(b *browser, id string) answer {
		return b.Get(projectURL(id) + "/events")
	}},
	{"comment", workspace.Write, false, false, http.StatusCreated, func(b *browser, id string) answer {
		return b.Do(http.MethodPost, projectURL(id)+"/comments", object{"body": "Hello"})
	}},
	{"comments", workspace.Read, false, false, http.StatusOK, func(b *browser, id string) answer {
		return b.Get(projectURL(id) + "/comments")
	}},
	{"delete comment", workspace.Write, false, true, http.StatusOK, func(b *browser, id string) answer {
		return b.Do(http.MethodDelete, projectURL(id)+"/comments/"+b.w.commentOf(id), nil)
	}},
}

// commentOf returns the ID of a project's first comment, or an unknown ID if there is none.
func (w *world) commentOf(projectID string) string {
	w.t.Helper()
	found, err := w.service.store.comments(w.t.Context(), projectID, "", 1)
	if err != nil {
		w.t.Fatal(err)
	}
	if len(found) == 0 {
		return "cmt_01K9ZQ3V7M8T5XW2ABCDEFGHJK"
	}
	return found[0].ID
}

// Each request is allowed or denied as the role's permissions and the project's visibility require.
func TestProjectPermissions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	owner := w.user("owner")
	team := owner.workspace("Team")
	callers := []struct {
		role workspace.Role
		*browser
	}{
		{"", w.user("outsider")}, {"", w.user("former")}, {workspace.Viewer, w.user("viewer")}, {workspace.Member, w.user("member")},
		{workspace.Member, w.user("creator")}, {workspace.Admin, w.user("admin")}, {workspace.Owner, owner},
	}
	for _, caller := range callers {
		if caller.role != "" {
			w.join(team, caller.browser, caller.role)
		}
	}
	creator, former := callers[4].browser, callers[1].browser
	w.join(team, former, workspace.Admin)
	w.leave(team, former)
	never := owner.Get("/api/projects/prj_01K9ZQ3V7M8T5XW2ABCDEFGHJK").Want(t, http.StatusNotFound, fault.CodeProjectNotFound)

	for _, visibility := range []Visibility{Private, Team, Public} {
		for _, call := range projectCalls {
			project := creator.project(team, "App", visibility)
			creator.Do(http.MethodPost, projectURL(project)+"/comments", object{"body": "First"}).Want(t, http.StatusCreated)
			for _, caller := range callers {
				isCreator := caller.browser == creator
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
				before := len(w.storedEvents())
				a := call.do(caller.browser, project)
				if a.Status != want {
					t.Errorf("%s of a %s project by %s: %d %s, want %d", call.name, visibility, caller.name, a.Status, a.Raw, want)
				}
				if want == http.StatusNotFound && a.Raw != never.Raw {
					t.Errorf("%s of a %s project by %s: %s, want the same response as for an unknown ID: %s", call.name, visibility, caller.name, a.Raw, never.Raw)
				}
				if want >= http.StatusBadRequest && len(w.storedEvents()) != before {
					t.Errorf("%s of a %s project by %s emitted an event", call.name, visibility, caller.name)
				}
				if want == http.StatusOK && call.own { // deleted: the next caller needs a new one
					project = creator.project(team, "App", visibility)
					creator.Do(http.MethodPost, projectURL(project)+"/comments", object{"body": "First"}).Want(t, http.StatusCreated)
				}
			}
		}
	}
	nobody := w.browser("nobody")
	for _, call := range projectCalls {
		call.do(nobody, creator.project(team, "App", Public)).Want(t, http.StatusUnauthorized, fault.CodeInvalidToken)
	}
}

// IDs of other kinds and invalid IDs are not found.
func TestInvalidIDs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.user("ada")
	project := ada.project("", "App", Team)
	for _, id := range []string{"x", "prj_", ada.userID, ada.personal, "PRJ_" + project[4:], project + "0", "%00", "prj_%23", "..%2Fx"} {
		for _, call := range projectCalls {
			if a := call.do(ada, id); a.Status != http.StatusNotFound || a.Text("code") != string(fault.CodeProjectNotFound) {
				if a.Text("code") != string(fault.CodeRouteNotFound) {
					t.Errorf("%s %q: %d %s", call.name, id, a.Status, a.Raw)
				}
			}
		}
	}
	for _, id := range []string{"x", project, "cmt_01K9ZQ3V7M8T5XW2ABCDEFGHJK"} {
		ada.Do(http.MethodDelete, projectURL(project)+"/comments/"+id, nil).Want(t, http.StatusNotFound, fault.CodeCommentNotFound)
	}
}
