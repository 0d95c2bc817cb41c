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
	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

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
	data, err := json.Marshal(m)
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
