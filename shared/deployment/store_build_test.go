package deployment_test

import (
	"errors"
	"net/http"
	"testing"

	"devplatform/shared/db"
	"devplatform/shared/deployment"
	"devplatform/shared/id"
	"devplatform/shared/job"
	"devplatform/shared/workspace"
)

// TestUselessJob checks that a job without a deployment to build ends.
func TestUselessJob(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	p := ada.newProject("Shop front", workspace.Team)
	for _, d := range []string{ada.deployAndBuild(p), f.IDs.New(id.Deployment)} {
		f.Transact(f.jobs.Add(job.New(deployment.BuildJob, p, d, ada.UserID, f.Clock.Now())))
		if _, err := f.store.Begin(t.Context(), f.claim(p, d), f.Clock.Now()); !errors.Is(err, job.ErrLost) {
			t.Errorf("got error %v, want ErrLost", err)
		}
		f.Clock.Advance(job.LeaseTime)
		if due := f.due(); len(due) != 0 {
			t.Errorf("got the jobs %v, want none", due)
		}
	}
}

// TestBuildOfEndedWorkspace checks that a build neither begins nor goes live after its workspace has ended, and that
// its job ends.
func TestBuildOfEndedWorkspace(t *testing.T) {
	t.Parallel()
	for name, begins := range map[string]bool{"before the build": false, "during the build": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			ada := f.newUser("ada")
			p := ada.newProject("Shop front", workspace.Team)
			id := ada.deploy(p, "production")
			end := f.Projects.Delete(db.WorkspaceKey(ada.Personal))
			var j job.Job
			var err error
			if begins {
				j = f.begin(p, id).job
				f.Transact(end)
				_, err = f.store.Finish(t.Context(), j, deployment.Outcome{Manifest: f.manifest[:]}, f.Clock.Now())
			} else {
				j = f.claim(p, id)
				f.Transact(end)
				_, err = f.store.Begin(t.Context(), j, f.Clock.Now())
			}
			if !errors.Is(err, job.ErrLost) || f.live("shop-front") != "" {
				t.Errorf("got error %v and the live deployment %q, want ErrLost and none", err, f.live("shop-front"))
			}
			if err := f.jobs.Check(t.Context(), j); !errors.Is(err, job.ErrLost) {
				t.Errorf("the job has not ended: %v", err)
			}
		})
	}
}

// TestBuildsInProgress checks the limit of builds of an account, and that a build whose worker dies does not count
// after the lease of the worker.
func TestBuildsInProgress(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	var ps, ds []string
	for i := range 5 {
		ps = append(ps, ada.newProject("Project "+string(rune('a'+i)), workspace.Team))
		ds = append(ds, ada.deploy(ps[i], "production"))
	}
	owner := f.claim(ps[0], ds[0]).Group
	f.Clock.Advance(job.LeaseTime)
	damaged := map[string]string{"dpl_1": "9999-01-01T00:00:00.000Z", "dpl_2": "damaged", "dpl_3": "x"} // do not count
	if _, err := f.Client.Do(t.Context(), f.Projects.Put(db.BuildsKey(owner), damaged)); err != nil {
		t.Fatal(err)
	}
	begun := []building{f.begin(ps[0], ds[0]), f.begin(ps[1], ds[1]), f.begin(ps[2], ds[2])}
	isBusy := func(i int) bool { // begins a build, and reports whether the account has too many builds in progress
		j := f.claim(ps[i], ds[i])
		_, err := f.store.Begin(t.Context(), j, f.Clock.Now())
		if err != nil {
			if !errors.Is(err, job.ErrBusy) {
				t.Fatal(err)
			}
			if err := f.jobs.Postpone(t.Context(), j, f.Clock.Now()); err != nil {
				t.Fatal(err)
			}
		}
		return err != nil
	}
	if !isBusy(3) {
		t.Error("the fourth build began")
	}
	if _, err := f.store.Finish(t.Context(), begun[0].job, deployment.Outcome{}, f.Clock.Now()); err != nil {
		t.Fatal(err)
	}
	if isBusy(3) || !isBusy(4) {
		t.Error("the place of a finished build is not used exactly once")
	}
	ada.Do(http.MethodPost, deploymentURL(ps[1], ds[1])+"/cancel", nil).Want(t, http.StatusAccepted)
	if !isBusy(4) {
		t.Error("the place of a canceled build is free although its worker may still build")
	}
	if err := f.store.EndBuild(t.Context(), begun[1].job); err != nil {
		t.Fatal(err)
	}
	if isBusy(4) {
		t.Error("the place of a canceled build whose worker has ended is not free")
	}
	f.Clock.Advance(job.LeaseTime)
	ds = append(ds, ada.deploy(ps[0], "production"), ada.deploy(ps[1], "production"))
	ps = append(ps, ps[0], ps[1])
	if isBusy(5) || isBusy(6) {
		t.Error("workers that died keep their places")
	}
}
