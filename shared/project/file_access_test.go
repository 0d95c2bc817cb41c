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
	w := newWorld(t)
	owner := w.user("olive")
	place := owner.workspace("Team")
	byRole := map[string]*browser{"owner": owner, "outsider": w.user("eve")}
	for _, role := range []workspace.Role{workspace.Admin, workspace.Member, workspace.Viewer} {
		byRole[string(role)] = w.user(string(role))
		w.join(place, byRole[string(role)], role)
	}
	calls := map[string]func(desk) answer{
		"list":    func(d desk) answer { return d.Get(d.files()) },
		"content": func(d desk) answer { return d.Get(d.files() + "?include=content") },
		"read":    func(d desk) answer { return d.read("/a") },
		"version": func(d desk) answer { return d.Get(d.files() + "?path=/a&version=none") },
		"history": func(d desk) answer { return d.history("/a", "") },
		"save":    func(d desk) answer { return d.save("/new", rand.Text()) },
		"delete":  func(d desk) answer { return d.remove("/none") },
		"batch":   func(d desk) answer { return d.batch(object{"op": "update", "path": "/a", "content": "x"}) },
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
		owner.at(projectID).save("/a", "x").Want(t, http.StatusCreated)
		owner.at(projectID).save("/new", "x").Want(t, http.StatusCreated)
		for role, expected := range want {
			for name, call := range calls {
				a := call(byRole[role].at(projectID))
				code := map[int]fault.Code{noFile: fault.CodeFileNotFound, denied: fault.CodeAccessDenied, noProject: fault.CodeProjectNotFound, ok: ""}[expected[name]]
				if status := max(expected[name], -expected[name]); a.Status != status || a.Text("code") != string(code) {
					t.Errorf("%s, %s, %s: %d %s, want %d %s", visibility, role, name, a.Status, a.Raw, status, code)
				}
			}
		}
		w.join(place, byRole["member"], workspace.Viewer)
		byRole["member"].at(projectID).save("/new", "y").Want(t, map[Visibility]int{Private: http.StatusNotFound}[visibility]|map[Visibility]int{Team: http.StatusForbidden, Public: http.StatusForbidden}[visibility])
		w.join(place, byRole["member"], workspace.Member)
	}
}
