package worker_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/slicetest"
	"devplatform/infra/testmode"
	"devplatform/shared/deployment"
	"devplatform/shared/job"
	"devplatform/shared/lambdafn"
)

// lost is more than the time for which a worker holds its lease.
const lost = job.LeaseTime + time.Second

// calls is the minimum number of calls to AWS of a worker that builds the files of small.
const calls = 14

// small returns the files of a project whose page and robots.txt contain a text.
func small(text string) map[string]string {
	return map[string]string{"/index.html": "<!doctype html><h1>" + text + "</h1>", "/public/robots.txt": text}
}

// checkLive checks that the production address shows the files of small.
func (p *published) checkLive(text string) {
	p.f.T.Helper()
	files := p.live()
	if len(files) != 2 || !strings.Contains(files["/index.html"], text) || files["/robots.txt"] != text {
		p.f.T.Errorf("the site shows %q, want the text %q", files, text)
	}
}

// checkLog checks that the log of a deployment of the files of small has the lines of one attempt.
func (p *published) checkLog(deploymentID string) {
	p.f.T.Helper()
	log := p.logOf(deploymentID)
	if len(log) != 2 || !strings.HasPrefix(log[0], "info Read 2 files") ||
		!strings.HasPrefix(log[1], "info Built 2 files") {
		p.f.T.Errorf("got the log %q, want the lines of one attempt", log)
	}
}

// checkDeletion takes the site offline, deletes a deployment, and checks that its objects and records are removed.
func (p *published) checkDeletion(deploymentID string) {
	p.f.T.Helper()
	p.Do(http.MethodDelete, "/api/projects/"+p.id+"/site", nil).Want(p.f.T, http.StatusOK)
	p.Do(http.MethodDelete, p.url(deploymentID), nil).Want(p.f.T, http.StatusOK)
	p.checkGone(deploymentID)
}

// checkGone checks that a sweep removes the objects and the records of a deployment.
func (p *published) checkGone(deploymentID string) {
	p.f.T.Helper()
	p.f.sweep(lost) // a canceled worker may write until then; a deployment of a deleted project becomes due
	p.f.sweep(0)
	if keys := p.f.objects(deploymentID); len(keys) > 0 {
		p.f.T.Errorf("%d objects remain after the deletion: %v", len(keys), keys)
	}
	for key := range p.f.Dump(p.f.Tables.Projects) {
		if strings.Contains(key.SK, deploymentID) {
			p.f.T.Errorf("the record %v remains after the deletion", key)
		}
	}
}

// A worker can be killed at every call. A sweep wakes another one, which finishes the deployment.
func TestWorkerIsKilled(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	slicetest.Steps(t, calls, func(p *slicetest.Process) {
		p.At = slicetest.Kill
		project := ada.newProject(small("Hello"))
		id := project.request()
		f.work(f.process(p))
		f.sweep(lost)
		d := project.Get(project.url(id)).Want(t, http.StatusOK)
		if d.Text("status") != "ready" || d.Body["live"] != true {
			t.Errorf("got %s, want the deployment to be ready and live", d.Raw)
		}
		want := []string{"deployment.completed ready", "project.deployed ready deploy"}
		if diff := cmp.Diff(want, f.events(id)); diff != "" {
			t.Errorf("events: mismatch (-want +got):\n%s", diff)
		}
		project.checkLive("Hello")
		project.checkLog(id)
		if j := project.job(id); j.ID != "" {
			t.Errorf("the deployment has the job %+v, want none", j)
		}
		project.checkDeletion(id)
	})
}

// The response of every call can be lost. The deployment still ends once.
func TestResponsesAreLost(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	slicetest.Steps(t, calls, func(p *slicetest.Process) {
		p.At, p.LosesResponse = slicetest.Kill, true
		project := ada.newProject(small("Hello"))
		id := project.request()
		received := f.messages()
		c := f.process(p)
		for range 3 { // a message that returns to the queue is received again
			if c.worker.Handle(t.Context(), received)[0] == nil {
				break
			}
		}
		f.sweep(lost)
		if d, j := project.record(id), project.job(id); d.Status != deployment.Ready || j.ID != "" {
			t.Errorf("got the record %+v and the job %+v, want it to be ready, and no job", d, j)
		}
		want := []string{"deployment.completed ready", "project.deployed ready deploy"}
		if diff := cmp.Diff(want, f.events(id)); diff != "" {
			t.Errorf("events: mismatch (-want +got):\n%s", diff)
		}
		project.checkLive("Hello")
		project.checkLog(id)
	})
}

// A worker that removes the objects of a deployment can be killed at every call. The next one completes the removal.
func TestRemovalIsKilled(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	slicetest.Steps(t, 5, func(p *slicetest.Process) {
		p.At = slicetest.Kill
		project := ada.newProject(small("Hello"))
		first, second := project.deploy().Text("id"), project.deploy().Text("id")
		project.Do(http.MethodDelete, project.url(first), nil).Want(t, http.StatusOK)
		if err := f.worker.Sweep(t.Context()); err != nil {
			t.Error(err)
		}
		f.work(f.process(p))
		f.sweep(2 * time.Minute)
		if keys := f.objects(first); len(keys) > 0 || project.record(first).ID != "" || project.job(first).ID != "" {
			t.Errorf("the record, the job or %d objects of the deleted deployment remain", len(keys))
		}
		if len(f.objects(second)) == 0 {
			t.Error("the objects of another deployment are gone")
		}
	})
}

// visible returns all that users, visitors and webhooks see of a project and a deployment.
func (p *published) visible(deploymentID string) string {
	p.f.T.Helper()
	var all strings.Builder
	for _, path := range []string{p.url(deploymentID), p.url(deploymentID, "/log"), "/api/projects/" + p.id + "/site"} {
		r := p.Get(path)
		delete(r.Body, "requestId")
		fmt.Fprintln(&all, r.Status, r.Body)
	}
	for label, a := range p.addresses() {
		if a.Production {
			fmt.Fprintln(&all, label, a.DeploymentID, p.f.output(a))
		}
	}
	fmt.Fprintln(&all, p.f.events(deploymentID))
	return all.String()
}

// pauses are the things that happen while a worker is paused.
var pauses = map[string]func(p *published, deploymentID string){
	"another worker finishes": func(p *published, id string) {
		p.save(small("Changed"))
		p.f.sweep(lost)
		if status := p.record(id).Status; status != deployment.Ready {
			p.f.T.Errorf("the other worker left the deployment %s, want ready", status)
		}
	},
	"it is canceled": func(p *published, id string) {
		p.Do(http.MethodPost, p.url(id, "/cancel"), nil)
	},
	"it is deleted": func(p *published, id string) {
		p.Do(http.MethodDelete, p.url(id), nil)
	},
	"a newer one goes live": func(p *published, _ string) {
		p.save(small("Changed"))
		p.deploy()
	},
	"the project is deleted": func(p *published, _ string) {
		p.Do(http.MethodDelete, "/api/projects/"+p.id, nil).Want(p.f.T, http.StatusOK)
	},
	"the project is deleted and cleaned up": func(p *published, _ string) {
		p.Do(http.MethodDelete, "/api/projects/"+p.id, nil).Want(p.f.T, http.StatusOK)
		p.f.cleaner.HandleAll()
	},
}

// A worker can be paused at every call. When it continues after its deployment has ended, it changes nothing that users
// and visitors can see, and the objects that it still writes are removed with the deployment.
func TestWorkerIsPaused(t *testing.T) {
	testmode.SkipIfShort(t)
	t.Parallel()
	for name, during := range pauses {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			ada := f.newUser("ada")
			slicetest.Steps(t, calls, func(p *slicetest.Process) {
				project := ada.newProject(small("Hello"))
				id, before := project.request(), ""
				p.At = func() error {
					during(project, id)
					before = project.visible(id)
					return nil
				}
				for _, err := range f.work(f.process(p)) {
					if err != nil && !errors.Is(err, lambdafn.ErrLater) {
						t.Errorf("the paused worker reports %v, want no failure", err)
					}
				}
				if !p.HasReachedStep() {
					return
				}
				after := project.visible(id)
				if name == "a newer one goes live" { // the paused worker still holds its lease, and ends its deployment
					if files := project.live(); files["/robots.txt"] != "Changed" {
						t.Errorf("the site shows %q, want the newer deployment", files)
					}
					return
				}
				if diff := cmp.Diff(before, after); diff != "" {
					t.Errorf("the paused worker made a visible change (-before +after):\n%s", diff)
				}
				switch {
				case name == "another worker finishes" || project.record(id).Status == deployment.Canceled:
					project.checkDeletion(id)
				case strings.HasPrefix(name, "the project is deleted"):
					f.cleaner.HandleAll()
					project.checkGone(id)
				case project.record(id).Status == deployment.Removing:
					project.checkGone(id)
				}
			})
		})
	}
}
