package e2e

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"devplatform/infra/hooktest"
	"devplatform/infra/platformtest"
)

// TestHangingEndpointsDoNotDelayOtherAccounts creates webhooks whose endpoint never responds in several workspaces of
// one account, and then many events in each workspace. Meanwhile, the deliveries of another account arrive promptly.
// The limit is far above a normal latency, and below the 15 s that an attempt at a hanging endpoint takes.
func TestHangingEndpointsDoNotDelayOtherAccounts(t *testing.T) {
	t.Parallel()
	const workspaces, webhooks, deliveries, limit = 3, 20, 20, 5 * time.Second
	r := hooktest.New(t)
	p := platformtest.Start(t)

	grace := platformtest.NewClient(t, p.URL)
	grace.SignUp("grace")
	quiet := grace.NewProject("Quiet", nil)
	grace.Subscribe(r.URL("/ok"), nil)
	grace.Save(quiet, "/a.txt", "first")
	received(t, r, "/ok", 1)

	ada := platformtest.NewClient(t, p.URL)
	ada.SignUp("ada")
	var noisy []string
	for i := range workspaces {
		body := platformtest.Object{"name": fmt.Sprint("Noisy ", i)}
		workspace, _ := ada.Do("POST", "/api/workspaces", body.String()).Want(t, http.StatusCreated)["id"].(string)
		in := platformtest.Object{"workspaceId": workspace}
		noisy = append(noisy, ada.NewProject("Noisy", in))
		for range webhooks {
			ada.Subscribe(r.URL("/hang"), in)
		}
	}
	var group sync.WaitGroup
	for _, project := range noisy {
		group.Go(func() { createFiles(ada, project) })
	}
	group.Wait()

	for i := range deliveries {
		grace.Save(quiet, "/a.txt", fmt.Sprint(i)).Want(t, http.StatusOK)
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		_, err := r.WaitFor(ctx, "/ok", i+2)
		cancel()
		if err != nil {
			t.Fatalf("delivery %d did not arrive within %v: %v", i+1, limit, err)
		}
	}
	received(t, r, "/hang", 1)
}

// createFiles creates 20 files in a project with one batch. Goroutines of a test can call it.
func createFiles(c *platformtest.Client, project string) {
	c.T.Helper()
	var operations []platformtest.Object
	for i := range 20 {
		path := fmt.Sprintf("/%d.txt", i)
		operations = append(operations, platformtest.Object{"op": "create", "path": path, "content": "x"})
	}
	body := platformtest.Object{"operations": operations}
	response, err := c.Try("POST", "/api/projects/"+project+"/files/batch", body.String())
	if err != nil || response.Status != http.StatusOK {
		c.T.Errorf("batch: got status %d with body %s and error %v, want status 200", response.Status, response.Body, err)
	}
}
