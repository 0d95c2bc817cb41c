package project_test

import (
	"net/http"
	"testing"

	"devplatform/infra/projecttest"
	"devplatform/shared/db"
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
		do: func(u *user, id string) response { return u.Get(projecttest.URL(id)) },
	},
	{
		name: "read project without files", action: workspace.Read, isPublic: true, wantStatus: http.StatusOK,
		do: func(u *user, id string) response { return u.Get(projecttest.URL(id) + "?include=") },
	},
	{
		name: "update project", action: workspace.Write, wantStatus: http.StatusOK,
		do: func(u *user, id string) response {
			return u.Do(http.MethodPut, projecttest.URL(id), object{"description": "by " + u.Name})
		},
	},
	{
		name: "delete project", action: workspace.DeleteOwnProject, ownOnly: true, wantStatus: http.StatusOK,
		do: func(u *user, id string) response { return u.Do(http.MethodDelete, projecttest.URL(id), nil) },
	},
	{
		name: "read variables", action: workspace.Read, wantStatus: http.StatusOK,
		do: func(u *user, id string) response { return u.Get(variablesURL(id)) },
	},
	{
		name: "set variables", action: workspace.Write, wantStatus: http.StatusOK,
		do: func(u *user, id string) response {
			return u.SetVariables(id, []object{variable("VITE_A", "by "+u.Name, "all")})
		},
	},
	{
		name: "list events", action: workspace.Read, wantStatus: http.StatusOK,
		do: func(u *user, id string) response { return u.Get(projecttest.URL(id) + "/events") },
	},
	{
		name: "create comment", action: workspace.Write, wantStatus: http.StatusCreated,
		do: func(u *user, id string) response {
			return u.Do(http.MethodPost, projecttest.URL(id)+"/comments", object{"body": "Hello"})
		},
	},
	{
		name: "list comments", action: workspace.Read, wantStatus: http.StatusOK,
		do: func(u *user, id string) response { return u.Get(projecttest.URL(id) + "/comments") },
	},
	{
		name: "delete comment", action: workspace.Write, ownOnly: true, wantStatus: http.StatusOK,
		do: func(u *user, id string) response {
			return u.Do(http.MethodDelete, projecttest.URL(id)+"/comments/"+firstComment(u.Fixture, id), nil)
		},
	},
}

// firstComment returns the ID of a project's first comment, or an unknown ID if there is none.
func firstComment(f *fixture, projectID string) string {
	f.T.Helper()
	prefix := db.CommentsOf(projectID)
	found, err := f.Projects.QueryAll(f.T.Context(), prefix)
	if err != nil {
		f.T.Fatal(err)
	}
	if len(found) == 0 {
		return "cmt_01K9ZQ3V7M8T5XW2ABCDEFGHJK"
	}
	return prefix.Rest(db.KeyOf(found[0]))
}

// The permissions of the role and the visibility of the project decide whether a request is allowed.
func TestProjectPermissions(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	owner := f.NewUser("owner")
	team := owner.Workspace("Team")
	callers := []struct {
		role workspace.Role
		*user
	}{
		{"", f.NewUser("outsider")},
		{"", f.NewUser("former member")},
		{workspace.Viewer, f.NewUser("viewer")},
		{workspace.Member, f.NewUser("member")},
		{workspace.Member, f.NewUser("creator")},
		{workspace.Admin, f.NewUser("admin")},
		{workspace.Owner, owner},
	}
	for _, caller := range callers {
		if caller.role != "" {
			f.SetRole(team, caller.user, caller.role)
		}
	}
	creator, former := callers[4].user, callers[1].user
	f.SetRole(team, former, workspace.Admin)
	f.RemoveMember(team, former)
	unknown := owner.Get("/api/projects/prj_01K9ZQ3V7M8T5XW2ABCDEFGHJK")
	unknown.Want(t, http.StatusNotFound, fault.CodeProjectNotFound)

	for _, visibility := range []workspace.Visibility{workspace.Private, workspace.Team, workspace.Public} {
		for _, request := range projectRequests {
			project := creator.Project(team, "App", visibility)
			creator.Comment(project)
			for _, caller := range callers {
				name := request.name + " in a " + string(visibility) + " project by " + caller.Name
				isCreator := caller.user == creator
				canSee := visibility == workspace.Public || (caller.role.May(workspace.Read) &&
					(visibility == workspace.Team || isCreator || caller.role.May(workspace.Moderate)))
				may := caller.role.May(request.action)
				if request.ownOnly {
					may = caller.role.May(workspace.Moderate) || (isCreator && may)
				}
				want := http.StatusForbidden
				switch {
				case !canSee:
					want = http.StatusNotFound
				case may, request.isPublic && visibility == workspace.Public:
					want = request.wantStatus
				}
				before := len(f.StoredEvents())
				r := request.do(caller.user, project)
				if r.Status != want {
					t.Errorf("%s: got %d %s, want %d", name, r.Status, r.Raw, want)
				}
				if want == http.StatusNotFound && r.Raw != unknown.Raw {
					t.Errorf("%s: got %s, want the same response as for an unknown ID: %s", name, r.Raw, unknown.Raw)
				}
				if want >= http.StatusBadRequest && len(f.StoredEvents()) != before {
					t.Errorf("%s: the failed request emitted an event", name)
				}
				if want == http.StatusOK && request.ownOnly { // the request deleted the project or the comment
					project = creator.Project(team, "App", visibility)
					creator.Comment(project)
				}
			}
		}
	}
	signedOut := f.NewClient("invalid-token")
	for _, request := range projectRequests {
		r := request.do(signedOut, creator.Project(team, "App", workspace.Public))
		r.Want(t, http.StatusUnauthorized, fault.CodeInvalidToken)
	}
}

// Requests with invalid IDs and with IDs of other resources return a not-found error.
func TestInvalidIDs(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	ada := f.NewUser("ada")
	project := ada.Project("", "App", workspace.Team)
	for _, id := range []string{
		"x", "prj_", ada.UserID, ada.Personal, "PRJ_" + project[4:], project + "0", "%00", "prj_%23", "..%2Fx",
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
		ada.Do(http.MethodDelete, projecttest.URL(project)+"/comments/"+id, nil).
			Want(t, http.StatusNotFound, fault.CodeCommentNotFound)
	}
}
