package worker_test

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"devplatform/infra/slicetest"
	"devplatform/shared/awsclient"
	"devplatform/shared/db"
	"devplatform/shared/deployment"
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
	var held []deployment.Deployment
	for other, p := range others {
		d, err := f.store.Begin(t.Context(), p.id, other, rand.Text(), f.clock.Now())
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, d)
	}
	err := f.worker.Handle(t.Context(), received)[0]
	if !errors.Is(err, lambdafn.ErrLater) || !strings.Contains(err.Error(), "5s") {
		t.Errorf("got error %v, want ErrLater after 5 s", err)
	}
	if status := p.record(id).Status; status != deployment.Queued {
		t.Errorf("the deployment is %s, want queued", status)
	}
	if err := f.store.Release(t.Context(), held[0], f.clock.Now(), time.Hour); err != nil {
		t.Fatal(err)
	}
	if err := f.worker.Handle(t.Context(), received)[0]; err != nil {
		t.Error(err)
	}
	p.checkLive("Hello")
}

// While a worker holds the lease, another one returns the message to the queue until the lease ends.
func TestLeaseIsHeld(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p := f.newUser("ada").newProject(small("Hello"))
	p.request()
	received := f.messages()
	first := &slicetest.Process{Step: 6, At: func() error {
		f.clock.Advance(40 * time.Second)
		err := f.worker.Handle(t.Context(), received)[0]
		if !errors.Is(err, lambdafn.ErrLater) || !strings.Contains(err.Error(), "1m0s") {
			t.Errorf("got error %v, want ErrLater until the lease ends", err)
		}
		return nil
	}}
	if err := f.process(first).worker.Handle(t.Context(), received)[0]; err != nil || !first.Reached() {
		t.Errorf("got error %v", err)
	}
	p.checkLive("Hello")
}

// A worker whose build has lost its lease stops the build, and frees its place among those of the account.
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
		var lose sync.Once
		var cause atomic.Value
		blocked := f.through(func(r *http.Request) (*http.Response, error) {
			if !isUpload(r) {
				return slicetest.Transfers.Do(r)
			}
			lose.Do(func() { loseLease(p, id) })
			<-r.Context().Done()
			cause.Store(context.Cause(r.Context()))
			return nil, r.Context().Err()
		})
		blocked.worker.SetBuildTime(10 * time.Second)
		blocked.worker.SetLeaseCheck(20 * time.Millisecond)
		if errs := f.work(blocked); errs[0] != nil {
			t.Errorf("%s: the message was not handled: %v", name, errs[0])
		}
		if err, _ := cause.Load().(error); !errors.Is(err, deployment.ErrLost) {
			t.Errorf("%s: the build ended because of %v, want ErrLost", name, err)
		}
		builds, err := f.projects.Get(t.Context(), db.BuildsKey(ada.caller.UserID))
		if err != nil || builds[id] != nil {
			t.Errorf("%s: got the builds in progress %v, error %v, want none", name, builds, err)
		}
	}
}

// While a build holds its lease, the checks do not stop it.
func TestLeaseChecks(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p := f.newUser("ada").newProject(small("Hello"))
	id := p.request()
	var uploading atomic.Bool
	var checks atomic.Int32
	slow := f.through(func(r *http.Request) (*http.Response, error) {
		isCheck := uploading.Load() && strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".BatchGetItem")
		if isCheck && checks.Add(1) == 2 {
			return nil, errors.New("no connection")
		}
		if isUpload(r) {
			uploading.Store(true)
			for r.Context().Err() == nil && checks.Load() < 4 {
				awsclient.Sleep(r.Context(), time.Millisecond)
			}
		}
		return slicetest.Transfers.Do(r)
	})
	slow.worker.SetLeaseCheck(time.Millisecond)
	if errs := f.work(slow); errs[0] != nil {
		t.Errorf("the message was not handled: %v", errs[0])
	}
	if status := p.record(id).Status; status != deployment.Ready {
		t.Errorf("the deployment is %s, want ready", status)
	}
}

// A check that panics ends the build, because the worker would not notice that it has lost its lease. The next attempt
// succeeds.
func TestLeaseCheckPanics(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p := f.newUser("ada").newProject(small("Hello"))
	p.request()
	received := f.messages()
	var uploading atomic.Bool
	broken := f.through(func(r *http.Request) (*http.Response, error) {
		if uploading.Load() && strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".BatchGetItem") {
			panic("broken")
		}
		if isUpload(r) {
			uploading.Store(true)
			<-r.Context().Done()
			return nil, r.Context().Err()
		}
		return slicetest.Transfers.Do(r)
	})
	broken.worker.SetLeaseCheck(time.Millisecond)
	if err := broken.worker.Handle(t.Context(), received)[0]; !errors.Is(err, lambdafn.ErrLater) || !uploading.Load() {
		t.Errorf("got error %v, want ErrLater", err)
	}
	if err := f.worker.Handle(t.Context(), received)[0]; err != nil {
		t.Error(err)
	}
	p.checkLive("Hello")
}
