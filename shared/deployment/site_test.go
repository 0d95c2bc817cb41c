package deployment_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/google/go-cmp/cmp"

	jsonv2 "github.com/go-json-experiment/json"

	"devplatform/infra/slicetest"
	"devplatform/shared/db"
	"devplatform/shared/deployment"
	"devplatform/shared/event"
	"devplatform/shared/fault"
	"devplatform/shared/job"
	"devplatform/shared/lambdafn"
	"devplatform/shared/site"
	"devplatform/shared/workspace"
)

// TestFirstLabel checks the label that the first deployment claims.
func TestFirstLabel(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada, eve := f.newUser("ada"), f.newUser("eve")
	label := func(u *user, name string) string {
		p := u.newProject(name, workspace.Team)
		u.deploy(p, "preview")
		return u.Get(siteURL(p)).Want(t, http.StatusOK).Text("label")
	}
	if got := label(ada, "Todo list"); got != "todo-list" {
		t.Errorf("got %s", got)
	}
	for name, prefix := range map[string]string{
		"Todo list": "todo-list-", "www": "www-", "Admin": "admin-", "X": "x-", "??": "project-",
		strings.Repeat("ab ", 33): strings.Repeat("ab-", 10),
	} {
		if got := label(eve, name); !strings.HasPrefix(got, prefix) && name != "??" || len(got) > 40 || len(got) < 3 {
			t.Errorf("%s: got %q, want the prefix %q", name, got, prefix)
		}
	}
}

// TestLabel checks changes of the label.
func TestLabel(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada, eve := f.newUser("ada"), f.newUser("eve")
	p, q := ada.newProject("First", workspace.Team), eve.newProject("Second", workspace.Team)
	d := ada.deployed(p)
	eve.deployed(q)
	put := func(u *user, projectID string, label any) slicetest.Response {
		return u.Do(http.MethodPut, siteURL(projectID), object{"label": label})
	}
	for _, label := range []string{
		"a", "ab", "-ab", "ab-", "a--b", "Abc", "a_b", "www", "a.b", strings.Repeat("a", 41), "é12",
	} {
		put(ada, p, label).Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
	}
	put(ada, p, "second").Want(t, http.StatusConflict, fault.CodeConflict)
	if r := put(ada, p, "moved").Want(t, http.StatusOK); r.Text("url") != "https://moved.example.app" {
		t.Errorf("got %s", r.Raw)
	}
	if f.live("moved") != d || f.live("first") != "" {
		t.Error("the live deployment is not at the new address only")
	}
	put(eve, q, "first").Want(t, http.StatusConflict) // reserved
	put(ada, p, "first").Want(t, http.StatusOK)
	put(ada, p, "moved").Want(t, http.StatusOK)
	if a := f.address("moved"); a.DeploymentID != d || a.ReservedFor != "" || a.ExpiresAt != 0 {
		t.Errorf("got %+v, want the address of the site", a)
	}
	f.clock.Advance(30*24*time.Hour + time.Second)
	put(eve, q, "first").Want(t, http.StatusOK)
	ada.Do(http.MethodPut, siteURL(p), object{"spa": true}).Want(t, http.StatusOK)
	own := ownLabel(ada.Get(deploymentURL(p, d)).Text("url"))
	if !f.address("moved").SPA || !f.address(own).SPA || f.address("first").SPA {
		t.Error("not all addresses of the site have the setting")
	}
}

// TestFirstSettings checks that unknown paths of a React app show its page, unless the site's setting is changed.
func TestFirstSettings(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	for framework, want := range map[string]bool{"react": true, " React": true, "static": false, "react-x": false} {
		p := ada.Do(http.MethodPost, "/api/projects", object{"name": "My app", "framework": framework}).
			Want(t, http.StatusCreated).Text("id")
		d := ada.deployed(p)
		label := ada.Get(siteURL(p)).Text("label")
		own := ownLabel(ada.Get(deploymentURL(p, d)).Text("url"))
		if got := f.address(label).SPA; got != want || f.address(own).SPA != want {
			t.Errorf("%q: got spa %v, want %v", framework, got, want)
		}
		ada.Do(http.MethodPut, siteURL(p), object{"spa": !want}).Want(t, http.StatusOK)
		ada.deployed(p)
		if got := f.address(label).SPA; got == want {
			t.Errorf("%q: a later deployment changed spa to %v", framework, got)
		}
	}
}

// TestBlockedLabel checks that a block stays when the workspace claims its reserved label again, that a blocked site
// cannot change its label, and that its other operations work.
func TestBlockedLabel(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	p := ada.newProject("First", workspace.Team)
	d := ada.deployed(p)
	put := func(fields object) slicetest.Response { return ada.Do(http.MethodPut, siteURL(p), fields) }
	put(object{"label": "moved"}).Want(t, http.StatusOK)
	f.block("first")
	put(object{"label": "first"}).Want(t, http.StatusOK)
	put(object{"label": "moved"}).Want(t, http.StatusForbidden, fault.CodeAccessDenied)
	put(object{"label": "third", "spa": true}).Want(t, http.StatusForbidden, fault.CodeAccessDenied)
	put(object{"label": "first", "spa": true}).Want(t, http.StatusOK)
	next := ada.deployed(p)
	if a := f.address("first"); !a.Blocked || a.DeploymentID != next || a.ReservedFor != "" || !a.SPA {
		t.Errorf("got %+v, want the blocked address", a)
	}
	ada.Do(http.MethodPost, deploymentURL(p, d)+"/promote", nil).Want(t, http.StatusOK)
	ada.Do(http.MethodDelete, siteURL(p), nil).Want(t, http.StatusOK)
	ada.Do(http.MethodDelete, "/api/projects/"+p, nil).Want(t, http.StatusOK)
	if a := f.address("first"); !a.Blocked || a.ReservedFor != ada.personal {
		t.Errorf("after the deletion of the project: got %+v, want the blocked and reserved label", a)
	}
}

// block blocks an address, as an operator does.
func (f *fixture) block(label string) {
	f.t.Helper()
	f.transact(f.sites.Update(db.AddressKey(label), expression.Set(expression.Name("blocked"), expression.Value(true))))
}

// TestFiles checks the list of the files of an output.
func TestFiles(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	p := ada.newProject("First", workspace.Team)
	d := ada.deploy(p, "production")
	if r := ada.Get(deploymentURL(p, d)+"/files").Want(t, http.StatusOK); len(r.List("files")) != 0 {
		t.Errorf("got %s", r.Raw)
	}
	m := site.Manifest{Files: map[string]site.File{}}
	for i := range 3 {
		m.Files[fmt.Sprintf("/%d.html", i)] = site.File{Size: i, ContentType: "text/html; charset=utf-8"}
	}
	data, err := jsonv2.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	f.manifest = sha256.Sum256(data)
	if err := f.bucket.Create(t.Context(), site.ManifestKey(d, f.manifest[:]), data); err != nil {
		t.Fatal(err)
	}
	f.build(p, d)
	r := ada.Get(deploymentURL(p, d)+"/files?limit=2").Want(t, http.StatusOK)
	rest := ada.Get(deploymentURL(p, d)+"/files?cursor="+r.Text("nextCursor")).Want(t, http.StatusOK)
	paths := append(r.Texts("files", "path"), rest.Texts("files", "path")...)
	if diff := cmp.Diff([]string{"/0.html", "/1.html", "/2.html"}, paths); diff != "" {
		t.Errorf("paths (-want +got):\n%s", diff)
	}
}

// TestDeleteProject checks that the addresses go away with the project, and later the records and objects.
func TestDeleteProject(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada, eve := f.newUser("ada"), f.newUser("eve")
	p := ada.newProject("First", workspace.Team)
	d := ada.deployed(p)
	own := ownLabel(ada.Get(deploymentURL(p, d)).Text("url"))
	queued := ada.deploy(p, "preview")
	building := f.begin(p, ada.deploy(p, "production"))
	for _, key := range []string{
		site.ObjectsOf(d) + "a", site.ObjectsOf(d) + "b", site.ObjectsOf(building.ID) + "a", "sites/other",
	} {
		if err := f.bucket.Create(t.Context(), key, []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	if r := ada.Do(http.MethodDelete, "/api/projects/"+p, nil).Want(t, http.StatusOK); r.Calls != 3 {
		t.Errorf("the deletion made %d calls, want 3", r.Calls)
	}
	if f.live("first") != "" || f.address("first").ReservedFor != ada.personal || f.address(own).ProjectID != "" {
		t.Error("an address of a deleted project shows a deployment, or its label is not reserved")
	}
	_, err := f.store.Finish(t.Context(), building.job, deployment.Outcome{}, f.clock.Now())
	if !errors.Is(err, job.ErrLost) {
		t.Errorf("got %v", err)
	}
	f.remove(p, queued)
	f.handleDeletion(p)
	if got := f.objects("sites/"); !cmp.Equal(got, []string{"sites/other"}) {
		t.Errorf("got the objects %q, want none of the project", got)
	}
	if _, err := f.jobs.Claim(t.Context(), p, building.ID, f.clock.Now()); !errors.Is(err, job.ErrNotClaimable) {
		t.Errorf("the job of the build in progress: got error %v, want ErrNotClaimable", err)
	}
	f.clock.Advance(job.LeaseTime)
	f.remove(p, building.ID)
	page, err := f.projects.Query(t.Context(), db.Query{Prefix: db.ProjectPartition(p)})
	if err != nil || len(page.Items) != 0 {
		t.Errorf("got %v, %v, want no records", page.Items, err)
	}
	q := eve.newProject("First", workspace.Team)
	eve.deploy(q, "production")
	if got := eve.Get(siteURL(q)).Text("label"); !strings.HasPrefix(got, "first-") {
		t.Errorf("another workspace has the reserved label: got %s", got)
	}
	again := ada.newProject("First", workspace.Team)
	if ada.deployed(again); f.live("first") == "" {
		t.Error("the workspace does not have its reserved label")
	}
}

// TestDeleteCanceledBuild checks that the objects of a canceled build of a deleted project are removed after its lease.
func TestDeleteCanceledBuild(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	p := ada.newProject("First", workspace.Team)
	d := f.begin(p, ada.deploy(p, "production"))
	ada.Do(http.MethodPost, deploymentURL(p, d.ID)+"/cancel", nil).Want(t, http.StatusAccepted)
	ada.Do(http.MethodDelete, "/api/projects/"+p, nil).Want(t, http.StatusOK)
	f.handleDeletion(p)
	f.clock.Advance(job.LeaseTime)
	f.remove(p, d.ID)
	page, err := f.projects.Query(t.Context(), db.Query{Prefix: db.ProjectPartition(p)})
	if err != nil || len(page.Items) != 0 {
		t.Errorf("got %v, %v, want no records", page.Items, err)
	}
}

// handleDeletion runs the cleanup for the event of the deletion of a project.
func (f *fixture) handleDeletion(projectID string) {
	f.t.Helper()
	for _, item := range slicetest.Dump(f.t, f.sdk, f.names.events) {
		r, err := event.FromItem(item)
		if err != nil {
			f.t.Fatal(err)
		}
		if r.Type == event.ProjectDeleted && r.ProjectID == projectID {
			if err := f.cleanup.Handle(f.t.Context(), lambdafn.StreamRecord{EventName: "INSERT", NewImage: item}); err != nil {
				f.t.Fatal(err)
			}
		}
	}
}

func (f *fixture) objects(prefix string) (keys []string) {
	f.t.Helper()
	all, _, err := f.bucket.List(f.t.Context(), prefix, "")
	if err != nil {
		f.t.Fatal(err)
	}
	for _, o := range all {
		keys = append(keys, o.Key)
	}
	return keys
}

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

// TestCalls checks the number of DynamoDB calls of each request.
func TestCalls(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	p := ada.newProject("First", workspace.Team)
	f.clock.Advance(time.Minute)
	if r := ada.Do(http.MethodPost, deploymentsURL(p), object{}).Want(t, 202); r.Calls != 5 {
		t.Errorf("the first deployment made %d calls, want 5", r.Calls)
	}
	d := ada.deploy(p, "preview")
	f.build(p, d)
	for _, q := range requests {
		if r := q.do(ada, p, d).Want(t, q.status); r.Calls != q.calls {
			t.Errorf("%s: made %d calls, want %d", q.name, r.Calls, q.calls)
		}
	}
	d = ada.deploy(p, "production")
	ctx := db.CountCalls(t.Context())
	j := f.claim(p, d)
	if _, err := f.store.Begin(ctx, j, f.clock.Now()); err != nil || db.Calls(ctx) != 3 {
		t.Errorf("Begin made %d calls, want 3: %v", db.Calls(ctx), err)
	}
	ctx = db.CountCalls(t.Context())
	if _, err := f.store.Finish(ctx, j, deployment.Outcome{}, f.clock.Now()); err != nil || db.Calls(ctx) != 3 {
		t.Errorf("Finish made %d calls, want 3: %v", db.Calls(ctx), err)
	}
}

// TestPermissions checks which roles may make which requests.
func TestPermissions(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	owner, stranger := f.newUser("owner"), f.newUser("stranger")
	users := map[workspace.Role]*user{}
	for _, role := range []workspace.Role{workspace.Owner, workspace.Admin, workspace.Member, workspace.Viewer} {
		users[role] = f.newUser("the-" + string(role))
		f.addMember(owner.personal, users[role], role)
	}
	newProject := func(visibility workspace.Visibility) (p, d string) {
		p = owner.newProject("First", visibility)
		owner.deployed(p)
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
			f.clock.Advance(10 * time.Second)
			if r := q.do(u, p, d); r.Status != want {
				t.Errorf("%s as %s: got %s, want %d", q.name, role, r.Raw, want)
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
		ada.deployed(p) // with a site, too
	}
	ada.Do(http.MethodPut, siteURL(other), object{"spa": true}).Want(t, http.StatusNotFound, fault.CodeSiteNotFound)
	ada.Do(http.MethodDelete, siteURL(other), nil).Want(t, http.StatusNotFound, fault.CodeSiteNotFound)
}
