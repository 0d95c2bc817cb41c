package worker_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"devplatform/infra/slicetest"
	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/deployment"
)

// Sweeps send each message that was lost, remove the objects of deployments that were canceled, deleted, or failed, and
// handle more deployments than fit in a page.
func TestSweep(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.worker.SetSweepPage(2)
	ada := f.newUser("ada")
	var lostMessages, deleted []*published
	for range 5 {
		p := ada.newProject(small("Hello"))
		first := p.deploy().Text("id")
		p.deploy()
		p.Do(http.MethodDelete, p.url(first), nil).Want(t, http.StatusOK)
		deleted = append(deleted, p)
	}
	for range 5 {
		p := ada.newProject(small("Hello"))
		p.request()
		lostMessages = append(lostMessages, p)
	}
	f.messages()
	canceled := ada.newProject(small("Hello"))
	canceledID := canceled.request()
	f.work(f.process(&slicetest.Process{Step: calls - 3, At: func() error {
		canceled.Do(http.MethodPost, canceled.url(canceledID, "/cancel"), nil).Want(t, http.StatusAccepted)
		return slicetest.Kill()
	}}))
	if len(f.objects(canceledID)) == 0 {
		t.Error("the canceled deployment has no objects")
	}
	f.clock.Advance(lost)
	for range 6 {
		f.sweep(0)
	}
	for _, p := range lostMessages {
		p.checkLive("Hello")
	}
	for _, p := range deleted {
		p.checkLive("Hello")
	}
	if keys := f.objects(canceledID); len(keys) > 0 {
		t.Errorf("the objects %v of the canceled deployment remain", keys)
	}
	if d := canceled.record(canceledID); d.Status != deployment.Canceled || d.DueAt != nil {
		t.Errorf("got the record %+v, want it to be canceled and not due", d)
	}
	live := map[string]bool{}
	for _, p := range slices.Concat(deleted, lostMessages) {
		for _, a := range p.addresses() {
			live[a.DeploymentID] = true
		}
	}
	if len(live) != 10 {
		t.Errorf("%d deployments are live, want 10", len(live))
	}
	for _, key := range f.objects("") {
		if id := strings.Split(key, "/")[1]; !live[id] {
			t.Errorf("the object %s of a deleted deployment remains", key)
		}
	}
	due, err := f.store.Due(t.Context(), f.clock.Now().Add(time.Hour), 100)
	if err != nil || len(due) > 0 {
		t.Errorf("%d deployments are due, error %v, want none", len(due), err)
	}
	if f.sweep(time.Hour); len(f.messages()) > 0 {
		t.Error("another sweep sent messages")
	}
}

// Every sweep reports the longest delay of a build. The delay grows until a worker receives the message.
func TestOldestBuild(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	// sweep makes a sweep after each of some minutes, and calls work after each. It returns the delays that the sweeps
	// report.
	sweep := func(minutes int, work func()) (delays []string) {
		for range minutes {
			f.clock.Advance(time.Minute)
			if err := f.worker.Sweep(t.Context()); err != nil {
				t.Error(err)
			}
			log := f.log.String()
			_, delay, _ := strings.Cut(log[max(0, strings.LastIndex(log, "OldestBuild=")):], "[")
			delay, _, _ = strings.Cut(delay, "]")
			delays = append(delays, delay)
			work()
		}
		return delays
	}
	check := func(name string, got []string, want ...string) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("%s: got the delays %v, want %v", name, got, want)
		}
	}
	nothing := func() {}
	p := ada.newProject(small("Hello"))
	p.request()
	check("no worker", sweep(7, nothing), "0", "60", "120", "180", "240", "300", "360")
	f.work(f.clients)
	check("after the build", sweep(1, nothing), "0")

	id := p.request()
	f.messages() // is lost
	if _, err := f.store.Begin(t.Context(), p.id, id, "token", f.clock.Now()); err != nil {
		t.Fatal(err)
	}
	check("interrupted build", sweep(5, nothing), "60", "120", "180", "240", "300")
	f.work(f.clients)
	check("after the second attempt", sweep(1, nothing), "0")

	builds := map[string]string{}
	for i := range maxBuilds {
		builds[fmt.Sprint("dpl_", i)] = clock.Stamp(f.clock.Now().Add(24 * time.Hour)).String()
	}
	item, err := db.Encode(builds)
	if err == nil {
		err = f.db.Transact(t.Context(), f.projects.Put(db.BuildsKey(ada.caller.UserID), item))
	}
	if err != nil {
		t.Fatal(err)
	}
	p.request()
	received := f.messages()
	delays := sweep(5, nothing)
	check("before a worker finds that the account is busy", delays, "0", "60", "120", "180", "240")
	delays = slices.Compact(sweep(12, func() { f.worker.Handle(t.Context(), received) }))
	check("busy account", delays, "300", "0")
	check("the message is lost", slices.Compact(sweep(12, nothing))[:3], "0", "60", "120")
}
