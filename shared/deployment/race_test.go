package deployment_test

import (
	"errors"
	"testing"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/shared/db"
	"devplatform/shared/deployment"
	"devplatform/shared/job"
	"devplatform/shared/site"
	"devplatform/shared/workspace"
)

// TestProjectDeletionRaces checks that no address of a deleted project shows anything if another transaction runs
// between the read and the write of the deletion, or if the deletion runs between the read and the write of another
// operation.
func TestProjectDeletionRaces(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	wire := dynamotest.NewWire(t, f.Endpoint, nil)
	slow := f.process(wire.Client())
	moved := "moved"
	for name, op := range map[string]func(s *services, p, ready string, held building) error{
		"first deployment": func(s *services, p, _ string, _ building) error {
			return second(s.deployments.CreateDeployment(t.Context(), ada.Caller(), deployInput(p, deployment.Production)))
		},
		"deploy": func(s *services, p, _ string, _ building) error {
			return second(s.deployments.CreateDeployment(t.Context(), ada.Caller(), deployInput(p, deployment.Production)))
		},
		"finish": func(s *services, _, _ string, held building) error {
			return second(s.store.Finish(t.Context(), held.job, deployment.Outcome{}, f.Clock.Now()))
		},
		"promote": func(s *services, p, ready string, _ building) error {
			return second(s.deployments.PromoteDeployment(t.Context(), ada.Caller(), ref(p, ready)))
		},
		"move": func(s *services, p, _ string, _ building) error {
			return second(s.deployments.UpdateSite(t.Context(), ada.Caller(), siteInput(p, &moved, nil)))
		},
	} {
		for _, deletionIsSlow := range []bool{true, false} {
			p := ada.newProject("First", workspace.Team)
			var ready string
			var held building
			if name != "first deployment" {
				ready = ada.deploy(p, "preview")
				f.build(p, ready)
				held = f.begin(p, ada.deploy(p, "production"))
			}
			var inner error
			in := &ref(p, "").InProject
			if deletionIsSlow {
				wire.Before("TransactWriteItems", func() { inner = op(f.services, p, ready, held) })
				if _, err := slow.project.DeleteProject(t.Context(), ada.Caller(), in); err != nil || inner != nil {
					t.Fatalf("%s during the deletion: got %v, %v", name, inner, err)
				}
			} else {
				wire.Before("TransactWriteItems", func() { _, inner = f.project.DeleteProject(t.Context(), ada.Caller(), in) })
				if err := op(slow, p, ready, held); err == nil || inner != nil {
					t.Fatalf("the deletion during %s: got %v, %v", name, inner, err)
				}
			}
			f.checkGone(name, p)
			f.Clock.Advance(job.LeaseTime) // the build in progress counts until then
		}
	}
}

// TestBuildsRace checks that two workers cannot both begin the last build that the limit of an account allows.
func TestBuildsRace(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.builds = 1
	f.restart()
	ada := f.newUser("ada")
	p, q := ada.newProject("First", workspace.Team), ada.newProject("Second", workspace.Team)
	a, b := ada.deploy(p, "production"), ada.deploy(q, "production")
	wire := dynamotest.NewWire(t, f.Endpoint, nil)
	j := f.claim(q, b)
	wire.Before("TransactWriteItems", func() { f.begin(p, a) })
	if _, err := f.process(wire.Client()).store.Begin(t.Context(), j, f.Clock.Now()); !errors.Is(err, job.ErrBusy) {
		t.Errorf("got %v, want ErrBusy", err)
	}
}

// checkGone checks that a project has no site, and that no address of it shows anything.
func (f *fixture) checkGone(name, projectID string) {
	f.T.Helper()
	if _, err := f.Projects.Get(f.T.Context(), db.SiteKey(projectID)); err == nil {
		f.T.Errorf("%s: the site exists", name)
	}
	for _, item := range dynamotest.Dump(f.T, f.SDK, f.sites) {
		a, err := db.Decode[site.Address](item)
		if err != nil {
			f.T.Fatal(err)
		}
		if a.ProjectID == projectID && (a.DeploymentID != "" || a.ReservedFor == "") {
			f.T.Errorf("%s: the address %v is %+v", name, db.KeyOf(item), a)
		}
	}
}
