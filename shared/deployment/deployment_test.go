package deployment_test

import (
	"crypto/rand"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"devplatform/shared/db"
	"devplatform/shared/deployment"
	"devplatform/shared/deployment/failure"
	"devplatform/shared/fault"
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
	if want := `{"projectId":"` + p + `","deploymentId":"` + d + `"}`; len(f.sent) != 1 || f.sent[0] != want {
		t.Errorf("got the messages %q, want %q", f.sent, want)
	}
	own := ownLabel(r.Text("url"))
	if f.live("todo-list") != "" || f.live(own) != "" {
		t.Error("an address shows a deployment that is not ready")
	}
	built := f.build(p, d)
	if a := f.address("todo-list"); a.DeploymentID != d || !a.Production || a.AccountID != ada.caller.UserID {
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
	if _, err := f.store.Finish(t.Context(), built, deployment.Outcome{Files: 2, Bytes: 100}, f.clock.Now()); err != nil {
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

// TestRollbackBeatsSlowBuild checks that a build does not replace a later promotion.
func TestRollbackBeatsSlowBuild(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	p := ada.newProject("Shop front", workspace.Team)
	first, second := ada.deployed(p), ada.deployed(p)
	slow := f.begin(p, ada.deploy(p, "production"))
	r := ada.Do(http.MethodPost, deploymentURL(p, first)+"/promote", nil).Want(t, http.StatusOK)
	if r.Body["live"] != true {
		t.Errorf("got %s", r.Raw)
	}
	if _, err := f.store.Finish(t.Context(), slow, deployment.Outcome{}, f.clock.Now()); err != nil {
		t.Fatal(err)
	}
	if got := f.live("shop-front"); got != first {
		t.Errorf("the live deployment is %s, want %s (second: %s, slow: %s)", got, first, second, slow.ID)
	}
	ada.Do(http.MethodDelete, deploymentURL(p, first), nil).Want(t, http.StatusConflict, fault.CodeConflict)
	ada.Do(http.MethodDelete, deploymentURL(p, second), nil).Want(t, http.StatusOK)
	if ada.status(p, second) != "" {
		t.Error("a deleted deployment is visible")
	}
	ada.Do(http.MethodDelete, siteURL(p), nil).Want(t, http.StatusOK)
	if f.live("shop-front") != "" || ada.Get(siteURL(p)).Body["deploymentId"] != nil {
		t.Error("the site is not offline")
	}
	ada.Do(http.MethodDelete, deploymentURL(p, first), nil).Want(t, http.StatusOK)
	ada.Do(http.MethodPost, deploymentURL(p, slow.ID)+"/promote", nil).Want(t, http.StatusOK)
	if f.live("shop-front") != slow.ID {
		t.Error("the site is not online again")
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
		"WriteLog": f.store.WriteLog(t.Context(), building, deployment.LogLine{Text: "Late"}),
		"Release":  f.store.Release(t.Context(), building, f.clock.Now(), 0),
		"Finish":   second(f.store.Finish(t.Context(), building, deployment.Outcome{}, f.clock.Now())),
	} {
		if !errors.Is(err, deployment.ErrLost) {
			t.Errorf("%s of a canceled build: got %v", name, err)
		}
	}
	if _, err := f.store.Begin(t.Context(), p, b, rand.Text(), f.clock.Now()); !errors.Is(err, deployment.ErrEnded) {
		t.Errorf("got %v", err)
	}
	want := []string{"deployment.completed " + a + " canceled", "deployment.completed " + b + " canceled"}
	if diff := cmp.Diff(want, f.events()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	// The objects of the canceled build are removed when its worker has ended.
	if due := f.due(); len(due) != 0 {
		t.Errorf("got %v due, want none", due)
	}
	f.clock.Advance(deployment.LeaseTime)
	if due := f.due(); len(due) != 2 {
		t.Errorf("got %v due, want the queued and the canceled one", due)
	}
}

func second[T any](_ T, err error) error { return err }

// due returns the IDs of the deployments that are due.
func (f *fixture) due() (ids []string) {
	f.t.Helper()
	all, err := f.store.Due(f.t.Context(), f.clock.Now(), 100)
	if err != nil {
		f.t.Fatal(err)
	}
	for _, d := range all {
		ids = append(ids, d.ID)
	}
	return ids
}

// TestInterrupted checks that an interrupted build is taken over once, and fails the second time.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	p := ada.newProject("Shop front", workspace.Team)
	d := ada.deploy(p, "production")
	first := f.begin(p, d)
	held, err := f.store.Begin(t.Context(), p, d, rand.Text(), f.clock.Now())
	if !errors.Is(err, deployment.ErrLeased) || !held.LeaseEnds.Time().After(f.clock.Now()) {
		t.Fatalf("got %v, %v", held, err)
	}
	f.clock.Advance(deployment.LeaseTime)
	f.begin(p, d)
	_, err = f.store.Finish(t.Context(), first, deployment.Outcome{}, f.clock.Now())
	if !errors.Is(err, deployment.ErrLost) {
		t.Errorf("the first worker: got %v", err)
	}
	f.clock.Advance(deployment.LeaseTime)
	if _, err := f.store.Begin(t.Context(), p, d, rand.Text(), f.clock.Now()); !errors.Is(err, deployment.ErrEnded) {
		t.Errorf("got %v", err)
	}
	r := ada.Get(deploymentURL(p, d)).Want(t, http.StatusOK)
	if e, _ := r.Body["error"].(map[string]any); r.Text("status") != "failed" || e["code"] != "BUILD_INTERRUPTED" {
		t.Errorf("got %s", r.Raw)
	}
	if diff := cmp.Diff([]string{"deployment.completed " + d + " failed"}, f.events()); diff != "" {
		t.Error(diff)
	}
}

// TestRelease checks that a released build can be taken over any number of times, until 15 minutes have passed.
func TestRelease(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	p := ada.newProject("Shop front", workspace.Team)
	d := ada.deploy(p, "production")
	for range 4 {
		if err := f.store.Release(t.Context(), f.begin(p, d), f.clock.Now(), 10*time.Second); err != nil {
			t.Fatal(err)
		}
		f.clock.Advance(10 * time.Second)
		if due := f.due(); len(due) != 1 {
			t.Errorf("got %v due, want the deployment", due)
		}
	}
	f.build(p, d)
	if due := f.due(); len(due) != 0 {
		t.Errorf("got %v due, want none", due)
	}

	late := ada.deploy(p, "production")
	begun := f.begin(p, late)
	f.clock.Advance(16 * time.Minute)
	if err := f.store.Release(t.Context(), begun, f.clock.Now(), 0); err != nil {
		t.Fatal(err)
	}
	if _, err := f.store.Begin(t.Context(), p, late, rand.Text(), f.clock.Now()); !errors.Is(err, deployment.ErrEnded) {
		t.Errorf("after 16 minutes: got %v", err)
	}
	if got := ada.Get(deploymentURL(p, late)).Text("status"); got != "failed" {
		t.Errorf("after 16 minutes: got status %s, want failed", got)
	}
}

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
		if _, err := f.store.Finish(t.Context(), d, outcome, f.clock.Now()); err != nil {
			t.Fatal(err)
		}
		ada.deploy(p, "preview")
		r := ada.Get(deploymentURL(p, queued))
		if status := r.Text("status"); r.Status == http.StatusOK && status != "canceled" {
			t.Errorf("got status %q, want the older preview to be canceled", status)
		}
	}
}

// TestFailed checks a build that fails.
func TestFailed(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	p := ada.newProject("Shop front", workspace.Team)
	d := f.begin(p, ada.deploy(p, "production"))
	broken := &failure.Error{Code: failure.BuildFailed, Message: `Expected ";".`, Path: "/a.ts", Line: 3, Column: 4}
	if _, err := f.store.Finish(t.Context(), d, deployment.Outcome{Error: broken}, f.clock.Now()); err != nil {
		t.Fatal(err)
	}
	r := ada.Get(deploymentURL(p, d.ID)).Want(t, http.StatusOK)
	if e, _ := r.Body["error"].(map[string]any); e["path"] != "/a.ts" || e["line"] != 3.0 || r.Body["live"] != false {
		t.Errorf("got %s", r.Raw)
	}
	ada.Do(http.MethodPost, deploymentURL(p, d.ID)+"/promote", nil).Want(t, http.StatusConflict)
	if f.live("shop-front") != "" {
		t.Error("a failed deployment is live")
	}
	all, err := f.store.Due(t.Context(), f.clock.Now(), 10)
	if err != nil || len(all) != 1 || all[0].Status != deployment.Failed {
		t.Fatalf("got %v, %v, want the failed deployment, whose objects must be removed", all, err)
	}
	if err := f.store.Removed(t.Context(), all[0]); err != nil {
		t.Fatal(err)
	}
	if ada.status(p, d.ID) != "failed" || len(f.due()) != 0 {
		t.Error("the failed deployment does not exist, or is due")
	}
}

// TestBuildsInProgress checks the limit of builds of an account, and that a worker that dies does not keep its place.
func TestBuildsInProgress(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	var ps, ds []string
	for i := range 5 {
		ps = append(ps, ada.newProject("Project "+string(rune('a'+i)), workspace.Team))
		ds = append(ds, ada.deploy(ps[i], "production"))
	}
	begun := []deployment.Deployment{f.begin(ps[0], ds[0]), f.begin(ps[1], ds[1]), f.begin(ps[2], ds[2])}
	busy := func(i int) bool {
		_, err := f.store.Begin(t.Context(), ps[i], ds[i], rand.Text(), f.clock.Now())
		if err != nil && !errors.Is(err, deployment.ErrBusy) {
			t.Fatal(err)
		}
		return err != nil
	}
	if !busy(3) {
		t.Error("the fourth build began")
	}
	if _, err := f.store.Finish(t.Context(), begun[0], deployment.Outcome{}, f.clock.Now()); err != nil {
		t.Fatal(err)
	}
	if busy(3) || !busy(4) {
		t.Error("the place of a finished build is not used exactly once")
	}
	ada.Do(http.MethodPost, deploymentURL(ps[1], ds[1])+"/cancel", nil).Want(t, http.StatusAccepted)
	if !busy(4) {
		t.Error("the place of a canceled build is free although its worker may still build")
	}
	if err := f.store.EndBuild(t.Context(), begun[1]); err != nil {
		t.Fatal(err)
	}
	if busy(4) {
		t.Error("the place of a canceled build whose worker has ended is not free")
	}
	f.clock.Advance(deployment.LeaseTime)
	ds = append(ds, ada.deploy(ps[0], "production"), ada.deploy(ps[1], "production"))
	ps = append(ps, ps[0], ps[1])
	if busy(5) || busy(6) {
		t.Error("workers that died keep their places")
	}
}

// TestLimits checks the limits of requests and of stored output.
func TestLimits(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.limits = deployment.Limits{ProjectMinute: 2, AccountDay: 4, AccountBytes: 200}
	f.restart()
	ada := f.newUser("ada")
	p := ada.newProject("Shop front", workspace.Team)
	post := func() int { return ada.Do(http.MethodPost, deploymentsURL(p), object{}).Status }
	if got := []int{post(), post(), post()}; !cmp.Equal(got, []int{202, 202, 429}) {
		t.Errorf("in a minute: got %v", got)
	}
	f.clock.Advance(time.Minute)
	if got := []int{post(), post()}; !cmp.Equal(got, []int{202, 202}) {
		t.Errorf("in the next minute: got %v", got)
	}
	f.clock.Advance(time.Minute)
	ada.Do(http.MethodPost, deploymentsURL(p), object{}).Want(t, http.StatusTooManyRequests, fault.CodeRateLimited)
	f.clock.Advance(24 * time.Hour)
	first := ada.deployed(p)
	ada.deployed(p)
	f.clock.Advance(time.Minute)
	ada.Do(http.MethodPost, deploymentsURL(p), object{}).Want(t, http.StatusPaymentRequired, fault.CodeQuotaExceeded)
	ada.Do(http.MethodDelete, deploymentURL(p, first), nil).Want(t, http.StatusOK)
	ada.deployed(p)
	f.clock.Advance(time.Minute)
	ada.Do(http.MethodPost, deploymentsURL(p), object{}).Want(t, http.StatusPaymentRequired)
	ada.Do(http.MethodDelete, "/api/projects/"+p, nil).Want(t, http.StatusOK)
	ada.deploy(ada.newProject("Another one", workspace.Team), "preview")
}

// TestOutputLimit checks that builds which were requested below the limit of stored output cannot exceed it together.
func TestOutputLimit(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.limits.AccountBytes = 2000
	f.restart()
	ada := f.newUser("ada")
	p, q := ada.newProject("First", workspace.Team), ada.newProject("Second", workspace.Team)
	finish := func(d deployment.Deployment, size int) error {
		return second(f.store.Finish(t.Context(), d, deployment.Outcome{Files: 1, Bytes: size}, f.clock.Now()))
	}
	one, two := f.begin(p, ada.deploy(p, "production")), f.begin(q, ada.deploy(q, "production"))
	if err := finish(one, 1500); err != nil {
		t.Fatal(err)
	}
	var failed *failure.Error
	if err := finish(two, 501); !errors.As(err, &failed) || failed.Code != failure.OutputTooLarge {
		t.Fatalf("beyond the limit: got error %v, want OUTPUT_TOO_LARGE", err)
	}
	if got := ada.status(q, two.ID); got != "building" {
		t.Errorf("the build that does not fit is %s, want building", got)
	}
	if err := finish(two, 500); err != nil {
		t.Errorf("at the limit: got error %v", err)
	}
	ada.Do(http.MethodPost, deploymentsURL(p), object{}).Want(t, http.StatusPaymentRequired, fault.CodeQuotaExceeded)
}

// TestNotConfigured checks the operations that need a domain for sites.
func TestNotConfigured(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	p := ada.newProject("Shop front", workspace.Team)
	d := ada.deployed(p)
	f.origin = ""
	f.restart()
	ada.Do(http.MethodPost, deploymentsURL(p), object{}).Want(t, 501, fault.CodeSitesNotConfigured)
	ada.Do(http.MethodPost, deploymentURL(p, d)+"/promote", nil).Want(t, 501, fault.CodeSitesNotConfigured)
	ada.Do(http.MethodPut, siteURL(p), object{"spa": true}).Want(t, 501, fault.CodeSitesNotConfigured)
	ada.Get(deploymentsURL(p)).Want(t, http.StatusOK)
	ada.Do(http.MethodDelete, siteURL(p), nil).Want(t, http.StatusOK)
}

// TestKept checks that old deployments become removing, but never the live one.
func TestKept(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	p := ada.newProject("Shop front", workspace.Team)
	live := ada.deployed(p)
	var previews []string
	for range 21 {
		d := ada.deploy(p, "preview")
		f.build(p, d)
		previews = append(previews, d)
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
	all, err := f.store.Due(t.Context(), f.clock.Now(), 10)
	if err != nil || len(all) != 1 || all[0].ID != previews[0] || all[0].Status != deployment.Removing {
		t.Fatalf("got %v, %v", all, err)
	}
	woken, err := f.store.Wake(t.Context(), all[0], f.clock.Now().Add(time.Minute))
	if err != nil || len(f.due()) != 0 {
		t.Fatalf("got %v, %v", woken, err)
	}
	if _, err := f.store.Wake(t.Context(), all[0], f.clock.Now()); !errors.Is(err, db.ErrStale) {
		t.Errorf("a second wake: got %v", err)
	}
	if err := f.store.Removed(t.Context(), woken); err != nil {
		t.Fatal(err)
	}
	if _, err := f.projects.Get(t.Context(), db.DeploymentKey(p, previews[0])); !errors.Is(err, db.ErrNotFound) {
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
	f.clock.Advance(time.Minute)
	if due := f.due(); len(due) != 1 || due[0] != d {
		t.Errorf("got %v due", due)
	}
}

// logOf returns the lines of the log of a deployment.
func (u *user) logOf(projectID, deploymentID string) (lines []map[string]any) {
	u.f.t.Helper()
	for cursor := ""; ; {
		r := u.Get(deploymentURL(projectID, deploymentID)+"/log?limit=100"+cursor).Want(u.f.t, http.StatusOK)
		lines = append(lines, r.List("lines")...)
		if r.Text("nextCursor") == "" {
			return lines
		}
		cursor = "&cursor=" + r.Text("nextCursor")
	}
}

// TestLog checks that the end of a long log is stored, that the lines of an attempt replace those of the one before, and
// that the notice of the request stays.
func TestLog(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	p := ada.newProject("Shop front", workspace.Private)
	d := f.begin(p, ada.deploy(p, "production"))
	write := func(lines ...deployment.LogLine) []map[string]any {
		t.Helper()
		if err := f.store.WriteLog(t.Context(), d, lines...); err != nil {
			t.Fatal(err)
		}
		return ada.logOf(p, d.ID)
	}
	checkEnds := func(name string, got []map[string]any, n int, second, last string) {
		t.Helper()
		if len(got) != n || !strings.Contains(got[0]["text"].(string), "is private") || got[1]["text"] != second ||
			got[n-1]["text"] != last {
			t.Fatalf("%s: got %d lines %v, want %d, the second %q, the last %q", name, len(got), got, n, second, last)
		}
	}
	line := func(size int) deployment.LogLine {
		return deployment.LogLine{Level: deployment.Info, Text: strings.Repeat("é", size/2), Path: "/a.ts", Line: 7}
	}
	end := deployment.LogLine{Level: deployment.Error, Text: "The end"}
	checkEnds("short", write(line(2), end), 3, "é", "The end")
	checkEnds("as long as possible", write(append(slices.Repeat([]deployment.LogLine{line(2)}, 497), end)...), 499, "é",
		"The end")
	checkEnds("many lines", write(append(slices.Repeat([]deployment.LogLine{line(2)}, 600), end)...), 500,
		"The log is too long. Its first 103 lines are left out.", "The end")
	got := write(append(slices.Repeat([]deployment.LogLine{line(5000)}, 50), end)...)
	checkEnds("long lines", got, 27, "The log is too long. Its first 26 lines are left out.", "The end")
	if text := got[2]["text"].(string); len(text) != 4096 || got[2]["path"] != "/a.ts" || got[2]["line"] != 7.0 {
		t.Errorf("got the line %v, want one with 4,096 bytes", got[2])
	}
	checkEnds("second attempt", write(end), 2, "The end", "The end")
}
