package file_test

import (
	"crypto/rand"
	"net/http"
	"testing"

	"devplatform/infra/projecttest"
	"devplatform/shared/fault"
	"devplatform/shared/workspace"
)

// Each user sends every request to a private, a team and a public project. The requests leave the list of files
// unchanged, so the order of the users does not matter.
func TestFilePermissions(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	owner := f.NewUser("owner")
	team := owner.Workspace("Team")
	users := map[string]*user{"owner": owner, "outsider": f.NewUser("outsider")}
	for _, role := range []workspace.Role{workspace.Admin, workspace.Member, workspace.Viewer} {
		users[string(role)] = f.NewUser(string(role))
		f.SetRole(team, users[string(role)], role)
	}
	requests := map[string]func(filesClient) response{
		"list":             func(client filesClient) response { return client.Get(client.URL()) },
		"list content":     func(client filesClient) response { return client.Get(client.URL() + "?include=content") },
		"read":             func(client filesClient) response { return client.Read("/a") },
		"version":          func(client filesClient) response { return client.Get(client.URL() + "?path=/a&version=unknown") },
		"history":          func(client filesClient) response { return client.History("/a", "") },
		"save":             func(client filesClient) response { return client.Save("/saved", rand.Text()) },
		"delete":           func(client filesClient) response { return client.Remove("/unknown") },
		"delete a version": func(client filesClient) response { return client.DeleteVersion("/a", "unknown") },
		"announce":         func(client filesClient) response { return client.TryAnnounce("/uploaded", nil, nil) },
		"complete": func(client filesClient) response {
			return announced{Client: client, ID: "upl_01K9ZQ3V7M8T5XW2ABCDEFGHJK"}.Complete()
		},
		"batch": func(client filesClient) response {
			return client.Batch(object{"op": "update", "path": "/a", "content": "x"})
		},
	}
	const ok, noFile, denied, noProject = fault.Code(""), fault.CodeFileNotFound, fault.CodeAccessDenied,
		fault.CodeProjectNotFound
	// The expected error codes by request. The requests for an unknown version and an unknown file return noFile if the
	// caller may send them.
	editor := map[string]fault.Code{
		"list": ok, "list content": ok, "read": ok, "version": noFile, "history": ok,
		"save": ok, "delete": noFile, "batch": ok, "announce": ok, "complete": fault.CodeUploadNotFound,
		"delete a version": noFile,
	}
	// The requests that are not in the map return the other code.
	except := func(other fault.Code, codes map[string]fault.Code) map[string]fault.Code {
		for name := range requests {
			if _, exists := codes[name]; !exists {
				codes[name] = other
			}
		}
		return codes
	}
	viewer := except(denied, map[string]fault.Code{
		"list": ok, "list content": ok, "read": ok, "version": noFile, "history": ok,
	})
	publicReader := except(denied, map[string]fault.Code{"list": ok, "list content": ok, "read": ok})
	hidden := except(noProject, map[string]fault.Code{})
	for visibility, wantByRole := range map[workspace.Visibility]map[string]map[string]fault.Code{
		workspace.Private: {"owner": editor, "admin": editor, "member": hidden, "viewer": hidden, "outsider": hidden},
		workspace.Team:    {"owner": editor, "admin": editor, "member": editor, "viewer": viewer, "outsider": hidden},
		workspace.Public:  {"owner": editor, "admin": editor, "member": editor, "viewer": viewer, "outsider": publicReader},
	} {
		projectID := owner.Project(team, string(visibility), visibility)
		owner.FilesOf(projectID).Save("/a", "x").Want(t, http.StatusCreated)
		owner.FilesOf(projectID).Save("/saved", "x").Want(t, http.StatusCreated)
		for role, want := range wantByRole {
			for name, request := range requests {
				r := request(users[role].FilesOf(projectID))
				status := http.StatusOK
				if name == "announce" {
					status = http.StatusCreated
				}
				if code := want[name]; code != ok {
					status = code.Status()
				}
				if r.Status != status || r.Text("code") != string(want[name]) {
					t.Errorf("%s by %s in a %s project: got %d %s, want %d %s",
						name, role, visibility, r.Status, r.Raw, status, want[name])
				}
			}
		}
		// A change of the role takes effect immediately.
		wantAfterDemotion := http.StatusForbidden
		if visibility == workspace.Private {
			wantAfterDemotion = http.StatusNotFound
		}
		f.SetRole(team, users["member"], workspace.Viewer)
		users["member"].FilesOf(projectID).Save("/saved", "y").Want(t, wantAfterDemotion)
		f.SetRole(team, users["member"], workspace.Member)
	}
}
