package worker_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"devplatform/infra/slicetest"
	"devplatform/shared/deployment"
)

// Sweeps send each message that was lost, and remove the objects of deployments that were canceled, deleted, or failed.
func TestSweep(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
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
	f.work(f.process(&slicetest.Process{Step: calls - 3, At: func() error { // after an upload
		canceled.Do(http.MethodPost, canceled.url(canceledID, "/cancel"), nil).Want(t, http.StatusAccepted)
		return slicetest.Kill()
	}}))
	if len(f.objects(canceledID)) == 0 {
		t.Error("the canceled deployment has no objects")
	}
	f.Clock.Advance(lost)
	f.sweep(0)
	for _, p := range lostMessages {
		p.checkLive("Hello")
	}
	for _, p := range deleted {
		p.checkLive("Hello")
	}
	if keys := f.objects(canceledID); len(keys) > 0 {
		t.Errorf("the objects %v of the canceled deployment remain", keys)
	}
	if d := canceled.record(canceledID); d.Status != deployment.Canceled {
		t.Errorf("got the record %+v, want it to be canceled", d)
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
	due, err := f.jobs.Due(t.Context(), f.Clock.Now().Add(time.Hour), 100)
	if err != nil || len(due) > 0 {
		t.Errorf("%d jobs are due, error %v, want none", len(due), err)
	}
	if f.sweep(time.Hour); len(f.messages()) > 0 {
		t.Error("another sweep sent messages")
	}
}
