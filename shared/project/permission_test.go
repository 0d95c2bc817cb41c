package project

import (
	"net/http"
	"testing"

	"devplatform/shared/fault"
	"devplatform/shared/workspace"
)

// projectRequest is a request for a project or a part of it, with the action that it requires.
type projectRequest struct {
	name       string
	action     workspace.Action
	isPublic   bool // every user may send it for a public project
	ownOnly    bool // only the creator and moderators may send it
	wantStatus int  // if the request is allowed
	do         func(u *user, projectID string) response
}

var projectRequests = []projectRequest{
	{
		name: "read project", action: workspace.Read, isPublic: true, wantStatus: http.StatusOK,
		do: func(u *user, id string) response { return u.Get(projectURL(id)) },
	},
	{
		name: "read project without files", action: workspace.Read, isPublic: true, wantStatus: http.StatusOK,
		do: func(u *user, id string) response { return u.Get(projectURL(id) + "?include=") },
	},
	{
		name: "update project", action: workspace.Write, wantStatus: http.StatusOK,
		do: func(u *user, id string) response {
			return u.Do(http.MethodPut, projectURL(id), object{"description": "by " + u.name})
		},
	},
	{
		name: "delete project", action: workspace.DeleteOwnProject, ownOnly: true, wantStatus: http.StatusOK,
		do: func(u *user, id string) response { return u.Do(http.MethodDelete, projectURL(id), nil) },
	},
	{
		name: "read variables", action: workspace.Read, wantStatus: http.StatusOK,
		do: func(u *user, id string) response { return u.Get(variablesURL(id)) },
	},
	{
		name: "set variables", action: workspace.Write, wantStatus: http.StatusOK,
		do: func(u *user, id string) response {
			return u.setVariables(id, []object{variable("VITE_A", "by "+u.name, "all")})
		},
	},
	{
		name: "list events", action: workspace.Read, wantStatus: http.StatusOK,
		do: func(u *user, id string) response { return u.Get(projectURL(id) + "/events") },
	},
	{
		name: "create comment", action: workspace.Write, wantStatus: http.StatusCreated,
		do: func(u *user, id string) response {
			return u.Do(http.MethodPost, projectURL(id)+"/comments", object{"body": "Hello"})
		},
	},
	{
		name: "list comments", action: workspace.Read, wantStatus: http.StatusOK,
		do: func(u *user, id string) response { return u.Get(projectURL(id) + "/comments") },
	},
	{
		name: "delete comment", action: workspace.Write, ownOnly: true, wantStatus: http.StatusOK,
		do: func(u *user, id string) response {
			return u.Do(http.MethodDelete, projectURL(id)+"/comments/"+u.f.firstComment(id), nil)
		},
	},
}

// firstComment returns the ID of a project's first comment, or an unknown ID if there is none.
func (f *fixture) firstComment(projectID string) string {
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

// The permissions of the role and the visibility of the project decide whether a request is allowed.
func TestProjectPermissions(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	owner := f.newUser("owner")
	team := owner.workspace("Team")
	callers := []struct {
		role workspace.Role
		*user
	}{
		{"", f.newUser("outsider")},
		{"", f.newUser("former member")},
		{workspace.Viewer, f.newUser("viewer")},
		{workspace.Member, f.newUser("member")},
		{workspace.Member, f.newUser("creator")},
		{workspace.Admin, f.newUser("admin")},
		{workspace.Owner, owner},
	}
	for _, caller := range callers {
		if caller.role != "" {
			f.setRole(team, caller.user, caller.role)
		}
	}
	creator, former := callers[4].user, callers[1].user
	f.setRole(team, former, workspace.Admin)
	f.removeMember(team, former)
	unknown := owner.Get("/api/projects/prj_01K9ZQ3V7M8T5XW2ABCDEFGHJK")
	unknown.Want(t, http.StatusNotFound, fault.CodeProjectNotFound)

	for _, visibility := range []Visibility{Private, Team, Public} {
		for _, request := range projectRequests {
			project := creator.project(team, "App", visibility)
			creator.comment(project)
			for _, caller := range callers {
				name := request.name + " in a " + string(visibility) + " project by " + caller.name
				isCreator := caller.user == creator
				canSee := visibility == Public || (caller.role.May(workspace.Read) &&
					(visibility == Team || isCreator || caller.role.May(workspace.Moderate)))
				may := caller.role.May(request.action)
				if request.ownOnly {
					may = caller.role.May(workspace.Moderate) || (isCreator && may)
				}
				want := http.StatusForbidden
				switch {
				case !canSee:
					want = http.StatusNotFound
				case may, request.isPublic && visibility == Public:
					want = request.wantStatus
				}
				before := len(f.storedEvents())
				r := request.do(caller.user, project)
				if r.Status != want {
					t.Errorf("%s: got %d %s, want %d", name, r.Status, r.Raw, want)
				}
				if want == http.StatusNotFound && r.Raw != unknown.Raw {
					t.Errorf("%s: got %s, want the same response as for an unknown ID: %s", name, r.Raw, unknown.Raw)
				}
				if want >= http.StatusBadRequest && len(f.storedEvents()) != before {
					t.Errorf("%s: the failed request emitted an event", name)
				}
				if want == http.StatusOK && request.ownOnly { // the request deleted the project or the comment
					project = creator.project(team, "App", visibility)
					creator.comment(project)
				}
			}
		}
	}
	signedOut := f.newClient("invalid-token")
	for _, request := range projectRequests {
		r := request.do(signedOut, creator.project(team, "App", Public))
		r.Want(t, http.StatusUnauthorized, fault.CodeInvalidToken)
	}
}

// Requests with invalid IDs and with IDs of other resources return a not-found error.
func TestInvalidIDs(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	project := ada.project("", "App", Team)
	for _, id := range []string{
		"x", "prj_", ada.userID, ada.personal, "PRJ_" + project[4:], project + "0", "%00", "prj_%23", "..%2Fx",
	} {
		for _, request := range projectRequests {
			r := request.do(ada, id)
			if r.Text("code") == string(fault.CodeRouteNotFound) {
				continue
			}
			if r.Status != http.StatusNotFound || r.Text("code") != string(fault.CodeProjectNotFound) {
				t.Errorf("%s %q: got %d %s, want 404 PROJECT_NOT_FOUND", request.name, id, r.Status, r.Raw)
			}
		}
	}
	for _, id := range []string{"x", project, "cmt_01K9ZQ3V7M8T5XW2ABCDEFGHJK"} {
		ada.Do(http.MethodDelete, projectURL(project)+"/comments/"+id, nil).
			Want(t, http.StatusNotFound, fault.CodeCommentNotFound)
	}
}
