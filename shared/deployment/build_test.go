package deployment_test

import (
	"crypto/rand"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"devplatform/shared/deployment"
	"devplatform/shared/deployment/failure"
	"devplatform/shared/workspace"
)

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
