package deployment_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"devplatform/shared/deployment"
	"devplatform/shared/deployment/failure"
	"devplatform/shared/fault"
	"devplatform/shared/workspace"
)

// TestLimits checks the limits of requests and of stored output.
func TestLimits(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.limits, f.maxOutput = deployment.Limits{ProjectMinute: 2, AccountDay: 4}, 200 // bytes, of two builds
	f.restart()
	ada := f.newUser("ada")
	p := ada.newProject("Shop front", workspace.Team)
	post := func() int { return ada.Do(http.MethodPost, deploymentsURL(p), object{}).Status }
	if got := []int{post(), post(), post()}; !cmp.Equal(got, []int{202, 202, 429}) {
		t.Errorf("in a minute: got %v", got)
	}
	f.Clock.Advance(time.Minute)
	if got := []int{post(), post()}; !cmp.Equal(got, []int{202, 202}) {
		t.Errorf("in the next minute: got %v", got)
	}
	f.Clock.Advance(time.Minute)
	ada.Do(http.MethodPost, deploymentsURL(p), object{}).Want(t, http.StatusTooManyRequests, fault.CodeRateLimited)
	f.Clock.Advance(24 * time.Hour)
	first := ada.deployAndBuild(p)
	ada.deployAndBuild(p)
	f.Clock.Advance(time.Minute)
	ada.Do(http.MethodPost, deploymentsURL(p), object{}).Want(t, http.StatusPaymentRequired, fault.CodeQuotaExceeded)
	ada.Do(http.MethodDelete, deploymentURL(p, first), nil).Want(t, http.StatusOK)
	ada.deployAndBuild(p)
	f.Clock.Advance(time.Minute)
	ada.Do(http.MethodPost, deploymentsURL(p), object{}).Want(t, http.StatusPaymentRequired)
	ada.Do(http.MethodDelete, "/api/projects/"+p, nil).Want(t, http.StatusOK)
	ada.deploy(ada.newProject("Another one", workspace.Team), "preview")
}

// TestOutputLimit checks that builds which were requested below the limit of stored output cannot exceed it together.
func TestOutputLimit(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.maxOutput = 2000
	f.restart()
	ada := f.newUser("ada")
	p, q := ada.newProject("First", workspace.Team), ada.newProject("Second", workspace.Team)
	finish := func(d building, size int) error {
		return second(f.store.Finish(t.Context(), d.job, deployment.Outcome{Files: 1, Bytes: size}, f.Clock.Now()))
	}
	one, two := f.begin(p, ada.deploy(p, "production")), f.begin(q, ada.deploy(q, "production"))
	if err := finish(one, 1500); err != nil {
		t.Fatal(err)
	}
	err := finish(two, 501)
	if failed, ok := errors.AsType[*failure.Error](err); !ok || failed.Code != failure.OutputTooLarge {
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
