package e2e

import (
	"net/http"
	"testing"

	"devplatform/infra/platformtest"
)

// TestDeployCheck runs the checks that a new version must pass before it gets traffic, with the functions of the local
// platform.
func TestDeployCheck(t *testing.T) {
	t.Parallel()
	p := platformtest.Start(t)
	c := platformtest.NewClient(t, p.AWS)
	const invoke = "/2015-03-31/functions/DeployCheckFunction/invocations"
	for range 2 { // the checks can be repeated
		body := c.Do("POST", invoke, "{}").Want(t, http.StatusOK)
		if body["status"] != "Succeeded" || body["failures"] != nil {
			t.Errorf("got %v, want the status Succeeded without failures", body)
		}
	}
}
