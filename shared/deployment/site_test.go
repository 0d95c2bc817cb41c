package deployment_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"devplatform/infra/slicetest"
	"devplatform/shared/db"
	"devplatform/shared/deployment"
	"devplatform/shared/fault"
	"devplatform/shared/job"
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
		"Todo list": "todo-list-", "www": "www-", "Admin": "admin-", "X": "x-", "??": "project",
		strings.Repeat("ab ", 33): strings.Repeat("ab-", 10),
	} {
		if got := label(eve, name); !strings.HasPrefix(got, prefix) || len(got) > 40 || len(got) < 3 {
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
	d := ada.deployAndBuild(p)
	eve.deployAndBuild(q)
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
	f.Clock.Advance(30*24*time.Hour + time.Second)
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
		d := ada.deployAndBuild(p)
		label := ada.Get(siteURL(p)).Text("label")
		own := ownLabel(ada.Get(deploymentURL(p, d)).Text("url"))
		if got := f.address(label).SPA; got != want || f.address(own).SPA != want {
			t.Errorf("%q: got spa %v, want %v", framework, got, want)
		}
		ada.Do(http.MethodPut, siteURL(p), object{"spa": !want}).Want(t, http.StatusOK)
		ada.deployAndBuild(p)
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
	d := ada.deployAndBuild(p)
	put := func(fields object) slicetest.Response { return ada.Do(http.MethodPut, siteURL(p), fields) }
	put(object{"label": "moved"}).Want(t, http.StatusOK)
	f.block("first")
	put(object{"label": "first"}).Want(t, http.StatusOK)
	put(object{"label": "moved"}).Want(t, http.StatusForbidden, fault.CodeAccessDenied)
	put(object{"label": "third", "spa": true}).Want(t, http.StatusForbidden, fault.CodeAccessDenied)
	put(object{"label": "first", "spa": true}).Want(t, http.StatusOK)
	next := ada.deployAndBuild(p)
	if a := f.address("first"); !a.Blocked || a.DeploymentID != next || a.ReservedFor != "" || !a.SPA {
		t.Errorf("got %+v, want the blocked address", a)
	}
	ada.Do(http.MethodPost, deploymentURL(p, d)+"/promote", nil).Want(t, http.StatusOK)
	ada.Do(http.MethodDelete, siteURL(p), nil).Want(t, http.StatusOK)
	ada.Do(http.MethodDelete, "/api/projects/"+p, nil).Want(t, http.StatusOK)
	if a := f.address("first"); !a.Blocked || a.ReservedFor != ada.Personal {
		t.Errorf("after the deletion of the project: got %+v, want the blocked and reserved label", a)
	}
}

// TestRemoveLabels checks that the labels that are reserved for a workspace that has ended are free, except for labels
// that an operator has blocked or the workspace has claimed again.
func TestRemoveLabels(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	p := ada.newProject("First", workspace.Team)
	ada.deployAndBuild(p)
	for _, label := range []string{"second", "first", "third", "fourth"} { // the site had "first" before
		ada.Do(http.MethodPut, siteURL(p), object{"label": label}).Want(t, http.StatusOK)
	}
	f.block("third")
	var listed []string
	for key := range f.Dump(f.Tables.Projects) {
		if label, ok := strings.CutPrefix(key.SK, "LABEL#"); ok {
			listed = append(listed, label)
		}
	}
	if slices.Sort(listed); !slices.Equal(listed, []string{"first", "second", "third"}) {
		t.Errorf("the labels %q are listed, want the three that are reserved", listed)
	}
	for range 2 {
		if err := f.store.RemoveLabels(t.Context(), ada.Personal); err != nil {
			t.Error(err)
		}
	}
	for label, exists := range map[string]bool{"first": false, "second": false, "third": true, "fourth": true} {
		if a := f.address(label); (a.ProjectID != "") != exists {
			t.Errorf("%s: got the address %+v, want one: %v", label, a, exists)
		}
	}
}

// block blocks an address, as an operator does.
func (f *fixture) block(label string) {
	f.T.Helper()
	blocked := expression.Set(expression.Name("blocked"), expression.Value(true))
	f.Transact(f.Client.Table(f.sites).Update(db.AddressKey(label), blocked))
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
	d := ada.deployAndBuild(p)
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
	if f.live("first") != "" || f.address("first").ReservedFor != ada.Personal || f.address(own).ProjectID != "" {
		t.Error("an address of a deleted project shows a deployment, or its label is not reserved")
	}
	_, err := f.store.Finish(t.Context(), building.job, deployment.Outcome{}, f.Clock.Now())
	if !errors.Is(err, job.ErrLost) {
		t.Errorf("got %v", err)
	}
	f.remove(p, queued)
	f.cleaner.HandleAll()
	if got := f.Objects(); !cmp.Equal(got, []string{"sites/other"}) {
		t.Errorf("got the objects %q, want none of the project", got)
	}
	if _, err := f.jobs.Claim(t.Context(), p, building.ID, f.Clock.Now()); !errors.Is(err, job.ErrNotClaimable) {
		t.Errorf("the job of the build in progress: got error %v, want ErrNotClaimable", err)
	}
	f.Clock.Advance(job.LeaseTime)
	f.remove(p, building.ID)
	page, err := f.Projects.Query(t.Context(), db.Query{Prefix: db.ProjectPartition(p)})
	if err != nil || len(page.Items) != 0 {
		t.Errorf("got %v, %v, want no records", page.Items, err)
	}
	q := eve.newProject("First", workspace.Team)
	eve.deploy(q, "production")
	if got := eve.Get(siteURL(q)).Text("label"); !strings.HasPrefix(got, "first-") {
		t.Errorf("another workspace has the reserved label: got %s", got)
	}
	again := ada.newProject("First", workspace.Team)
	if ada.deployAndBuild(again); f.live("first") == "" {
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
	f.cleaner.HandleAll()
	f.Clock.Advance(job.LeaseTime)
	f.remove(p, d.ID)
	page, err := f.Projects.Query(t.Context(), db.Query{Prefix: db.ProjectPartition(p)})
	if err != nil || len(page.Items) != 0 {
		t.Errorf("got %v, %v, want no records", page.Items, err)
	}
}

// TestSiteOfProject checks the site in the responses of the project, which cost no further call.
func TestSiteOfProject(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	p := ada.newProject("Bakery", workspace.Team)
	ada.newProject("Other", workspace.Team)
	want := func(when, url, deploymentID, status string) {
		t.Helper()
		var site any
		if url != "" {
			site = map[string]any{"url": url, "deploymentId": nil, "status": status}
			if deploymentID != "" {
				site = map[string]any{"url": url, "deploymentId": deploymentID, "status": status}
			}
		}
		one := ada.Get("/api/projects/"+p).Want(t, http.StatusOK)
		list := ada.Get("/api/projects?q=bakery").Want(t, http.StatusOK)
		if diff := cmp.Diff(site, one.Body["site"]); diff != "" || len(list.List("projects")) != 1 {
			t.Errorf("%s: got %s; site (-want +got):\n%s", when, list.Raw, diff)
		} else if diff := cmp.Diff(site, list.List("projects")[0]["site"]); diff != "" || list.Calls != 4 {
			t.Errorf("%s: the list made %d calls; site (-want +got):\n%s", when, list.Calls, diff)
		}
	}
	change := func(address, project expression.UpdateBuilder) { // as an operator does
		key := db.ProjectKey(ada.Personal, p)
		f.Transact(f.Client.Table(f.sites).Update(db.AddressKey("moved"), address), f.Projects.Update(key, project))
	}
	address, project := expression.Name("blocked"), expression.Name("siteBlocked")
	const url, moved = "https://bakery.example.app", "https://moved.example.app"
	want("new", "", "", "")
	first := ada.deploy(p, "production")
	want("queued", url, "", "offline")
	f.build(p, first)
	want("live", url, first, "live")
	second := ada.deploy(p, "preview")
	f.build(p, second)
	want("preview", url, first, "live")
	ada.Do(http.MethodPost, deploymentURL(p, second)+"/promote", nil).Want(t, http.StatusOK)
	want("promoted", url, second, "live")
	ada.Do(http.MethodPut, siteURL(p), object{"label": "moved"}).Want(t, http.StatusOK)
	want("moved", moved, second, "live")
	r := ada.Do(http.MethodPut, "/api/projects/"+p, object{"description": "New"}).Want(t, http.StatusOK)
	if site, _ := r.Body["site"].(map[string]any); site["deploymentId"] != second {
		t.Errorf("the update of the project returns the site %v", site)
	}
	yes := expression.Value(true)
	change(expression.Set(address, yes), expression.Set(project, yes))
	want("blocked", moved, second, "blocked")
	third := ada.deployAndBuild(p)
	want("blocked, another deployment", moved, third, "blocked")
	ada.Do(http.MethodDelete, siteURL(p), nil).Want(t, http.StatusOK)
	want("blocked and offline", moved, "", "blocked")
	change(expression.Remove(address), expression.Remove(project))
	want("offline", moved, "", "offline")
	f.block("bakery") // the label that was given up
	ada.Do(http.MethodPut, siteURL(p), object{"label": "bakery"}).Want(t, http.StatusOK)
	want("moved to a blocked label", url, "", "blocked")
	ada.Do(http.MethodDelete, "/api/projects/"+p, nil).Want(t, http.StatusOK)
	p = ada.newProject("Bakery", workspace.Team)
	want("another project", "", "", "")
	next := ada.deployAndBuild(p)
	want("another project with the blocked label", url, next, "blocked")
}
