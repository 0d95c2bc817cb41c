package deployment_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"devplatform/infra/slicetest"
	"devplatform/shared/db"
	"devplatform/shared/deployment"
	"devplatform/shared/fault"
	"devplatform/shared/workspace"
)

// request is a request that a role may make or not.
type request struct {
	name   string
	calls  int64 // the number of DynamoDB calls
	write  bool
	status int
	do     func(u *user, p, d string) slicetest.Response
}

func do(method, path string, body any) func(u *user, p, d string) slicetest.Response {
	return func(u *user, p, d string) slicetest.Response {
		return u.Do(method, strings.NewReplacer("{id}", p, "{deploymentId}", d).Replace("/api/projects/{id}/"+path), body)
	}
}

// requests can be made one after another with a ready deployment that is not live.
var requests = []request{
	{"deploy", 4, true, 202, do("POST", "deployments", object{"target": "preview"})},
	{"list", 3, false, 200, do("GET", "deployments", nil)},
	{"read", 2, false, 200, do("GET", "deployments/{deploymentId}", nil)},
	{"log", 2, false, 200, do("GET", "deployments/{deploymentId}/log", nil)},
	{"read site", 2, false, 200, do("GET", "site", nil)},
	{"promote", 3, true, 200, do("POST", "deployments/{deploymentId}/promote", nil)},
	{"spa", 3, true, 200, do("PUT", "site", object{"spa": true})},
	{"no change", 2, true, 200, do("PUT", "site", object{"spa": true})},
	{"move", 4, true, 200, do("PUT", "site", object{"label": "moved"})},
	{"delete live", 2, true, 409, do("DELETE", "deployments/{deploymentId}", nil)},
	{"offline", 3, true, 200, do("DELETE", "site", nil)},
	{"cancel ended", 2, true, 409, do("POST", "deployments/{deploymentId}/cancel", nil)},
	{"delete", 3, true, 200, do("DELETE", "deployments/{deploymentId}", nil)},
}

// TestCalls checks the numbers of DynamoDB calls of a first deployment and of a build.
func TestCalls(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	p := ada.newProject("First", workspace.Team)
	r := ada.Do(http.MethodPost, deploymentsURL(p), object{}).Want(t, 202)
	ctx := db.CountCalls(t.Context())
	j := f.claim(p, r.Text("id"))
	if _, err := f.store.Begin(ctx, j, f.Clock.Now()); err != nil || db.Calls(ctx) != 3 || r.Calls != 5 {
		t.Errorf("the first deployment made %d calls, Begin %d, want 5 and 3: %v", r.Calls, db.Calls(ctx), err)
	}
	ctx = db.CountCalls(t.Context())
	if _, err := f.store.Finish(ctx, j, deployment.Outcome{}, f.Clock.Now()); err != nil || db.Calls(ctx) != 3 {
		t.Errorf("Finish made %d calls, want 3: %v", db.Calls(ctx), err)
	}
}

// TestPermissions checks which roles may make which requests, and the number of calls of each.
func TestPermissions(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	owner, stranger := f.newUser("owner"), f.newUser("stranger")
	users := map[workspace.Role]*user{}
	for _, role := range []workspace.Role{workspace.Owner, workspace.Admin, workspace.Member, workspace.Viewer} {
		users[role] = f.newUser("the-" + string(role))
		f.SetRole(owner.Personal, users[role].User, role)
	}
	newProject := func(visibility workspace.Visibility) (p, d string) {
		p = owner.newProject("First", visibility)
		owner.deployAndBuild(p)
		d = owner.deploy(p, "preview")
		f.build(p, d)
		return p, d
	}
	for role, u := range users {
		p, d := newProject(workspace.Team)
		for _, q := range requests {
			want := q.status
			if q.write && role == workspace.Viewer {
				want = http.StatusForbidden
			}
			f.Clock.Advance(10 * time.Second)
			if r := q.do(u, p, d); r.Status != want || want == q.status && r.Calls != q.calls {
				t.Errorf("%s as %s: got %s after %d calls, want %d after %d", q.name, role, r.Raw, r.Calls, want, q.calls)
			}
		}
		owner.Do(http.MethodDelete, "/api/projects/"+p, nil).Want(t, http.StatusOK)
	}
	for visibility, want := range map[workspace.Visibility]int{
		workspace.Private: http.StatusNotFound, workspace.Team: http.StatusNotFound, workspace.Public: http.StatusForbidden,
	} {
		p, d := newProject(visibility)
		for _, q := range requests {
			if r := q.do(stranger, p, d); r.Status != want {
				t.Errorf("%s of a %s project as a stranger: got %s, want %d", q.name, visibility, r.Raw, want)
			}
		}
	}
	p, _ := newProject(workspace.Private)
	for _, q := range requests {
		r := q.do(users[workspace.Viewer], p, "dpl_01K9ZQ3V7M8T5XW2ABCDEFGHJK")
		if r.Status != http.StatusNotFound {
			t.Errorf("%s of a private project as a viewer: got %s", q.name, r.Raw)
		}
	}
}

// TestUnknown checks requests for deployments that do not exist.
func TestUnknown(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	p, other := ada.newProject("First", workspace.Team), ada.newProject("Second", workspace.Team)
	for range 2 {
		for _, d := range []string{"dpl_01K9ZQ3V7M8T5XW2ABCDEFGHJK", "x", other, "dpl_"} {
			ada.Get(deploymentURL(p, d)).Want(t, http.StatusNotFound, fault.CodeDeploymentNotFound)
			ada.Get(deploymentURL(p, d)+"/log").Want(t, http.StatusNotFound, fault.CodeDeploymentNotFound)
			ada.Get(deploymentURL(p, d)+"/files").Want(t, http.StatusNotFound, fault.CodeDeploymentNotFound)
			for _, action := range []string{"/promote", "/cancel"} {
				ada.Do(http.MethodPost, deploymentURL(p, d)+action, nil).
					Want(t, http.StatusNotFound, fault.CodeDeploymentNotFound)
			}
			ada.Do(http.MethodDelete, deploymentURL(p, d), nil).Want(t, http.StatusNotFound, fault.CodeDeploymentNotFound)
		}
		ada.deployAndBuild(p) // with a site, too
	}
	ada.Do(http.MethodPut, siteURL(other), object{"spa": true}).Want(t, http.StatusNotFound, fault.CodeSiteNotFound)
	ada.Do(http.MethodDelete, siteURL(other), nil).Want(t, http.StatusNotFound, fault.CodeSiteNotFound)
}
