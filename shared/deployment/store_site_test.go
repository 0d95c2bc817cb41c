package deployment_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"devplatform/shared/deployment"
	"devplatform/shared/site"
	"devplatform/shared/workspace"
)

// earlier returns the deployments whose files an address still serves, the latest first.
func (f *fixture) earlier(label string) (ids []string) {
	f.T.Helper()
	for _, e := range f.address(label).Earlier {
		own := f.address(e.Label)
		if e.Until > f.Clock.Now().Unix() && own.DeploymentID == e.DeploymentID && !own.Blocked {
			ids = append(ids, e.DeploymentID)
		}
	}
	return ids
}

// TestEarlier checks which deployments the address of a site lists.
func TestEarlier(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	p := ada.newProject("Bakery", workspace.Team)
	label := "bakery"
	var all []string
	want := func(when string, want ...string) {
		t.Helper()
		if got := f.earlier(label); !slices.Equal(got, want) {
			t.Errorf("%s: the address lists %v, want %v of %v", when, got, want, all)
		}
	}
	promote := func(d string) {
		ada.Do(http.MethodPost, deploymentURL(p, d)+"/promote", nil).Want(t, http.StatusOK)
	}
	for range 7 {
		all = append(all, ada.deployAndBuild(p))
	}
	want("after seven deployments", all[5], all[4], all[3], all[2], all[1])
	ada.Do(http.MethodDelete, deploymentURL(p, all[4]), nil).Want(t, http.StatusOK)
	want("after a deletion", all[5], all[3], all[2], all[1])
	promote(all[2])
	want("after a rollback", all[6], all[5], all[3], all[1])
	promote(all[2])
	want("after the same again", all[6], all[5], all[3], all[1])
	f.block(ownLabel(ada.Get(deploymentURL(p, all[3])).Text("url")))
	want("after a block", all[6], all[5], all[1])
	label = "moved"
	ada.Do(http.MethodPut, siteURL(p), object{"label": label}).Want(t, http.StatusOK)
	want("after a move", all[6], all[5], all[1])
	promote(all[5])
	want("after another rollback", all[2], all[6], all[1])
	label = "bakery"
	ada.Do(http.MethodPut, siteURL(p), object{"label": label}).Want(t, http.StatusOK)
	want("after a move to the reserved label", all[2], all[6], all[1])
	f.Clock.Advance(7*24*time.Hour - time.Hour)
	promote(all[0])
	want("after nearly seven days", all[5], all[2], all[6], all[1])
	f.Clock.Advance(2 * time.Hour)
	want("two hours later", all[5])
	promote(all[1])
	want("after another one", all[0], all[5])
	ada.Do(http.MethodDelete, siteURL(p), nil).Want(t, http.StatusOK)
	want("offline")
	promote(all[5])
	want("live again")
	promote(all[6])
	want("live again and replaced", all[5])
}

// TestEarlierIsKept checks that old deployments are not removed while the address of the site serves their files.
func TestEarlierIsKept(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	p := ada.newProject("Bakery", workspace.Team)
	replaced := ada.deployAndBuild(p)
	for range 20 {
		ada.deploy(p, "preview")
	}
	live := ada.deployAndBuild(p)
	if ada.status(p, replaced) != "ready" {
		t.Error("the deployment that was live until now is removed")
	}
	f.Clock.Advance(7 * 24 * time.Hour)
	ada.deploy(p, "preview")
	if ada.status(p, replaced) != "" || ada.status(p, live) != "ready" {
		t.Error("seven days later, the deployment is not removed")
	}
}

// TestHashedNames checks that the own address of a deployment has its files with hashed names, and no other record has.
func TestHashedNames(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	p := ada.newProject("Bakery", workspace.Team)
	d := f.begin(p, ada.deploy(p, "production"))
	names := site.NamesOf(site.Manifest{Files: map[string]site.File{"/assets/a-ABCD2345.js": {Hashed: true}}})
	if _, err := f.store.Finish(t.Context(), d.job, deployment.Outcome{HashedNames: names}, f.Clock.Now()); err != nil {
		t.Fatal(err)
	}
	if own := f.address(d.Label); len(names) == 0 || !slices.Equal(own.Hashed, names) {
		t.Errorf("got the own address %+v, want the names %v", own, names)
	}
	if a := f.address("bakery"); a.DeploymentID != d.ID || a.Hashed != nil {
		t.Errorf("got the address %+v of the site, want no names", a)
	}
}
