package deployment_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/google/go-cmp/cmp"

	"devplatform/shared/db"
	"devplatform/shared/deployment"
	"devplatform/shared/deployment/failure"
	"devplatform/shared/fault"
	"devplatform/shared/job"
	"devplatform/shared/workspace"
)

// TestDeploy follows a deployment from the request until it is live.
func TestDeploy(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	p := ada.newProject("Todo list", workspace.Private)
	ada.Get(siteURL(p)).Want(t, http.StatusNotFound, fault.CodeSiteNotFound)
	r := ada.Do(http.MethodPost, deploymentsURL(p), object{"message": "First"}).Want(t, http.StatusAccepted)
	d := r.Text("id")
	if r.Text("status") != "queued" || r.Text("target") != "production" || r.Body["live"] != false ||
		!strings.HasPrefix(r.Text("url"), "https://todo-list--") {
		t.Errorf("got %s", r.Raw)
	}
	if want := `{"ownerId":"` + p + `","id":"` + d + `"}`; len(f.sent) != 1 || f.sent[0] != want {
		t.Errorf("got the messages %q, want %q", f.sent, want)
	}
	own := ownLabel(r.Text("url"))
	if f.live("todo-list") != "" || f.live(own) != "" {
		t.Error("an address shows a deployment that is not ready")
	}
	built := f.build(p, d)
	if a := f.address("todo-list"); a.DeploymentID != d || !a.Production || a.AccountID != ada.UserID {
		t.Errorf("got the address %+v", a)
	}
	if a := f.address(own); a.DeploymentID != d || a.Production {
		t.Errorf("got the own address %+v", a)
	}
	r = ada.Get(deploymentURL(p, d)).Want(t, http.StatusOK)
	if r.Text("status") != "ready" || r.Body["live"] != true || r.Body["durationMs"] != 900.0 || r.Body["number"] != 1.0 {
		t.Errorf("got %s", r.Raw)
	}
	s := ada.Get(siteURL(p)).Want(t, http.StatusOK)
	if s.Text("url") != "https://todo-list.example.app" || s.Text("deploymentId") != d ||
		s.Text("updatedAt") != r.Text("readyAt") {
		t.Errorf("got %s", s.Raw)
	}
	want := []string{"deployment.completed " + d + " ready", "project.deployed " + d + " ready deploy"}
	if diff := cmp.Diff(want, f.events()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	_, err := f.store.Finish(t.Context(), built.job, deployment.Outcome{}, f.Clock.Now())
	if !errors.Is(err, job.ErrLost) {
		t.Errorf("a repeated Finish: %v", err)
	}
	if len(f.events()) != 2 {
		t.Errorf("got the events %q", f.events())
	}
	log := ada.Get(deploymentURL(p, d)+"/log").Want(t, http.StatusOK).List("lines")
	if len(log) != 1 || !strings.Contains(log[0]["text"].(string), "private") {
		t.Errorf("got the log %v", log)
	}
}

// TestCancel checks cancellations of queued and building deployments, and by newer requests.
func TestCancel(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	p := ada.newProject("Shop front", workspace.Team)
	a := ada.deploy(p, "production")
	other := ada.deploy(p, "preview")
	b := ada.deploy(p, "production")
	if got := ada.status(p, a) + ada.status(p, other) + ada.status(p, b); got != "canceledqueuedqueued" {
		t.Errorf("got %s", got)
	}
	building := f.begin(p, b)
	r := ada.Do(http.MethodPost, deploymentURL(p, b)+"/cancel", nil).Want(t, http.StatusAccepted)
	if r.Text("status") != "canceled" {
		t.Errorf("got %s", r.Raw)
	}
	ada.Do(http.MethodPost, deploymentURL(p, b)+"/cancel", nil).Want(t, http.StatusConflict, fault.CodeConflict)
	for name, err := range map[string]error{
		"Begin":  second(f.store.Begin(t.Context(), building.job, f.Clock.Now())),
		"Check":  f.jobs.Check(t.Context(), building.job),
		"Finish": second(f.store.Finish(t.Context(), building.job, deployment.Outcome{}, f.Clock.Now())),
	} {
		if !errors.Is(err, job.ErrLost) {
			t.Errorf("%s of a canceled build: got %v", name, err)
		}
	}
	if _, err := f.jobs.Claim(t.Context(), p, b, f.Clock.Now()); !errors.Is(err, job.ErrNotClaimable) {
		t.Errorf("got %v", err)
	}
	want := []string{"deployment.completed " + a + " canceled", "deployment.completed " + b + " canceled"}
	if diff := cmp.Diff(want, f.events()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	// The objects of the canceled build are removed when its worker has ended.
	if diff := cmp.Diff(map[string]string{a: deployment.RemovalJob}, f.due()); diff != "" {
		t.Errorf("due (-want +got):\n%s", diff)
	}
	f.Clock.Advance(job.LeaseTime)
	due := map[string]string{a: deployment.RemovalJob, b: deployment.RemovalJob, other: deployment.BuildJob}
	if diff := cmp.Diff(due, f.due()); diff != "" {
		t.Errorf("due (-want +got):\n%s", diff)
	}
}

func second[T any](_ T, err error) error { return err }

// TestOldDeploymentsEnd checks that a deployment can end, and can be superseded, although there are 20 newer ones.
func TestOldDeploymentsEnd(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.limits.ProjectMinute = 1000
	ada := f.newUser("ada")
	failed := &failure.Error{Code: failure.BuildFailed}
	for _, outcome := range []deployment.Outcome{{Files: 1, Bytes: 1}, {Error: failed}} {
		p := ada.newProject("Shop front", workspace.Team)
		d := f.begin(p, ada.deploy(p, "preview"))
		queued := ada.deploy(p, "preview")
		for range 21 {
			ada.deploy(p, "production")
		}
		if _, err := f.store.Finish(t.Context(), d.job, outcome, f.Clock.Now()); err != nil {
			t.Fatal(err)
		}
		ada.deploy(p, "preview")
		r := ada.Get(deploymentURL(p, queued))
		if status := r.Text("status"); r.Status == http.StatusOK && status != "canceled" {
			t.Errorf("got status %q, want the older preview to be canceled", status)
		}
	}
}

// TestNotConfigured checks the operations that need a domain for sites.
func TestNotConfigured(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	p := ada.newProject("Shop front", workspace.Team)
	d := ada.deployAndBuild(p)
	f.origin = ""
	f.restart()
	ada.Do(http.MethodPost, deploymentsURL(p), object{}).Want(t, 501, fault.CodeSitesNotConfigured)
	ada.Do(http.MethodPost, deploymentURL(p, d)+"/promote", nil).Want(t, 501, fault.CodeSitesNotConfigured)
	ada.Do(http.MethodPut, siteURL(p), object{"spa": true}).Want(t, 501, fault.CodeSitesNotConfigured)
	ada.Get(deploymentsURL(p)).Want(t, http.StatusOK)
	ada.Do(http.MethodDelete, siteURL(p), nil).Want(t, http.StatusOK)
}

// TestKept checks that old deployments become removing, even if their records are damaged, but never the live one.
func TestKept(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	p := ada.newProject("Shop front", workspace.Team)
	live := ada.deployAndBuild(p)
	var previews []string
	for range 21 {
		d := ada.deploy(p, "preview")
		f.build(p, d)
		previews = append(previews, d)
		if len(previews) > 1 {
			continue
		}
		damage := expression.Set(expression.Name("status"), expression.Value("damaged"))
		if _, err := f.Client.Do(t.Context(), f.Projects.Update(db.DeploymentKey(p, d), damage)); err != nil {
			t.Fatal(err)
		}
	}
	if ada.status(p, live) != "ready" || ada.status(p, previews[0]) != "" || ada.status(p, previews[1]) != "ready" {
		t.Error("wrong deployments are kept")
	}
	r := ada.Get(deploymentsURL(p)+"?limit=15").Want(t, http.StatusOK)
	rest := ada.Get(deploymentsURL(p)+"?limit=15&cursor="+r.Text("nextCursor")).Want(t, http.StatusOK)
	ids := append(r.Texts("deployments", "id"), rest.Texts("deployments", "id")...)
	if len(ids) != 21 || ids[0] != previews[20] || ids[20] != live || rest.Text("nextCursor") != "" {
		t.Errorf("got %v", ids)
	}
	if got := ada.Get(deploymentsURL(p)+"?target=production&status=ready").Texts("deployments", "id"); len(got) != 1 {
		t.Errorf("got %v", got)
	}
	if diff := cmp.Diff(map[string]string{previews[0]: deployment.RemovalJob}, f.due()); diff != "" {
		t.Errorf("due (-want +got):\n%s", diff)
	}
	f.remove(p, previews[0])
	if _, err := f.Projects.Get(t.Context(), db.DeploymentKey(p, previews[0])); !errors.Is(err, db.ErrNotFound) {
		t.Errorf("got %v", err)
	}
}

// TestSendFails checks that a deployment whose message was not sent is due.
func TestSendFails(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	p := ada.newProject("Shop front", workspace.Team)
	f.sendErr = errors.New("no queue")
	d := ada.deploy(p, "production")
	f.Clock.Advance(time.Minute)
	if diff := cmp.Diff(map[string]string{d: deployment.BuildJob}, f.due()); diff != "" {
		t.Errorf("due (-want +got):\n%s", diff)
	}
}
