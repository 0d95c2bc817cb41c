package worker_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"

	"devplatform/infra/slicetest"
	"devplatform/shared/db"
	"devplatform/shared/deployment"
	"devplatform/shared/job"
	"devplatform/shared/lambdafn"
)

// Beyond the limit of builds in progress, the message returns to the queue. The deployment stays queued.
func TestBusyAccount(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	others := map[string]*published{}
	for range maxBuilds {
		p := ada.newProject(small("Hello"))
		others[p.request()] = p
	}
	f.messages()
	p := ada.newProject(small("Hello"))
	id := p.request()
	received := f.messages()
	var held []job.Job
	for other, p := range others {
		j, err := f.jobs.Claim(t.Context(), p.id, other, f.Clock.Now())
		if err == nil {
			_, err = f.builder.Store.Begin(t.Context(), j, f.Clock.Now())
		}
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, j)
	}
	err := f.worker.Handle(t.Context(), received)[0]
	if !errors.Is(err, lambdafn.ErrLater) || !strings.Contains(err.Error(), "5s") {
		t.Errorf("got error %v, want ErrLater after 5 s", err)
	}
	if status := p.record(id).Status; status != deployment.Queued {
		t.Errorf("the deployment is %s, want queued", status)
	}
	if err := f.builder.Store.EndBuild(t.Context(), held[0]); err != nil {
		t.Fatal(err)
	}
	if err := f.worker.Handle(t.Context(), received)[0]; err != nil {
		t.Error(err)
	}
	p.checkLive("Hello")
}

// A worker whose build has lost its lease stops the build, and frees its place among the builds of the account.
func TestLostBuildStops(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	for name, loseLease := range map[string]func(p *published, id string){
		"canceled":        pauses["it is canceled"],
		"deleted":         pauses["it is deleted"],
		"project deleted": pauses["the project is deleted"],
	} {
		p := ada.newProject(small("Hello"))
		id := p.request()
		f.messages()
		j, err := f.jobs.Claim(t.Context(), p.id, id, f.Clock.Now())
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		var lose sync.Once
		blocked := f.through(func(r *http.Request) (*http.Response, error) {
			if !isUpload(r) {
				return slicetest.Transfers.Do(r)
			}
			lose.Do(func() {
				loseLease(p, id)
				cancel(f.jobs.Check(t.Context(), j)) // as package job does
			})
			<-r.Context().Done()
			return nil, r.Context().Err()
		})
		if err := blocked.builder.Kinds()[0].Run(ctx, j); !errors.Is(err, job.ErrLost) {
			t.Errorf("%s: the build ended with %v, want ErrLost", name, err)
		}
		builds, err := f.Projects.Get(t.Context(), db.BuildsKey(ada.Caller().UserID))
		if err != nil || builds[id] != nil {
			t.Errorf("%s: got the builds in progress %v, error %v, want none", name, builds, err)
		}
	}
}
