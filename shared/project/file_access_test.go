package project

import (
	"crypto/rand"
	"net/http"
	"testing"

	"devplatform/shared/fault"
	"devplatform/shared/workspace"
)

func TestFilePermissions(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	owner := f.newUser("olive")
	place := owner.workspace("Team")
	byRole := map[string]*user{"owner": owner, "outsider": f.newUser("eve")}
	for _, role := range []workspace.Role{workspace.Admin, workspace.Member, workspace.Viewer} {
		byRole[string(role)] = f.newUser(string(role))
		f.setRole(place, byRole[string(role)], role)
	}
	calls := map[string]func(filesClient) response{
		"list":    func(client filesClient) response { return client.Get(client.url()) },
		"content": func(client filesClient) response { return client.Get(client.url() + "?include=content") },
		"read":    func(client filesClient) response { return client.read("/a") },
		"version": func(client filesClient) response { return client.Get(client.url() + "?path=/a&version=none") },
		"history": func(client filesClient) response { return client.history("/a", "") },
		"save":    func(client filesClient) response { return client.save("/new", rand.Text()) },
		"delete":  func(client filesClient) response { return client.remove("/none") },
		"batch": func(client filesClient) response {
			return client.batch(object{"op": "update", "path": "/a", "content": "x"})
		},
	}
	const ok, noFile, denied, noProject = http.StatusOK, http.StatusNotFound, http.StatusForbidden, -http.StatusNotFound
	member := map[string]int{"list": ok, "content": ok, "read": ok, "version": noFile, "history": ok, "save": ok, "delete": noFile, "batch": ok}
	viewer := map[string]int{"list": ok, "content": ok, "read": ok, "version": noFile, "history": ok, "save": denied, "delete": denied, "batch": denied}
	nobody := map[string]int{"list": noProject, "content": noProject, "read": noProject, "version": noProject, "history": noProject, "save": noProject, "delete": noProject, "batch": noProject}
	reader := map[string]int{"list": ok, "content": ok, "read": ok, "version": denied, "history": denied, "save": denied, "delete": denied, "batch": denied}
	for visibility, want := range map[Visibility]map[string]map[string]int{
		Private: {"owner": member, "admin": member, "member": nobody, "viewer": nobody, "outsider": nobody},
		Team:    {"owner": member, "admin": member, "member": member, "viewer": viewer, "outsider": nobody},
		Public:  {"owner": member, "admin": member, "member": member, "viewer": viewer, "outsider": reader},
	} {
		projectID := owner.project(place, string(visibility), visibility)
		owner.filesOf(projectID).save("/a", "x").Want(t, http.StatusCreated)
		owner.filesOf(projectID).save("/new", "x").Want(t, http.StatusCreated)
		for role, expected := range want {
			for name, call := range calls {
				r := call(byRole[role].filesOf(projectID))
				code := map[int]fault.Code{noFile: fault.CodeFileNotFound, denied: fault.CodeAccessDenied, noProject: fault.CodeProjectNotFound, ok: ""}[expected[name]]
				if status := max(expected[name], -expected[name]); r.Status != status || r.Text("code") != string(code) {
					t.Errorf("%s, %s, %s: %d %s, want %d %s", visibility, role, name, r.Status, r.Raw, status, code)
				}
			}
		}
		f.setRole(place, byRole["member"], workspace.Viewer)
		byRole["member"].filesOf(projectID).save("/new", "y").Want(t, map[Visibility]int{Private: http.StatusNotFound}[visibility]|map[Visibility]int{Team: http.StatusForbidden, Public: http.StatusForbidden}[visibility])
		f.setRole(place, byRole["member"], workspace.Member)
	}
}
