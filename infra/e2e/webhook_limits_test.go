package e2e

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"devplatform/infra/hooktest"
	"devplatform/infra/platformtest"
)

// TestHangingTestsDoNotDelayOthers tests webhooks whose endpoints hang, by many users at the same time. The other
// endpoints of webhooks respond to another user as usual.
func TestHangingTestsDoNotDelayOthers(t *testing.T) {
	t.Parallel()
	const users = 20
	r := hooktest.New(t)
	p := platformtest.Start(t, "LAMBDA_CONCURRENCY=10")
	clients, hooks := make([]*platformtest.Client, users), make([]string, users)
	for i := range users {
		clients[i] = platformtest.NewClient(t, p.URL)
		clients[i].SignUp(fmt.Sprintf("user%d", i))
		hooks[i] = clients[i].Subscribe(r.URL("/hang"), nil)
	}
	other := platformtest.NewClient(t, p.URL)
	other.SignUp("other")
	other.Subscribe(r.URL("/ok"), nil)
	var tests sync.WaitGroup
	statuses := make([]int, users)
	for i, c := range clients {
		tests.Go(func() {
			if response, err := c.Try("POST", "/api/webhooks/"+hooks[i]+"/test", "{}"); err == nil {
				statuses[i] = response.Status
			}
		})
	}
	platformtest.Eventually(t, "ten tests are in progress", func() bool { return r.Count("/hang") >= 10 })
	clients[0].Do("POST", "/api/webhooks/"+hooks[0]+"/test", "{}").
		WantError(t, http.StatusServiceUnavailable, "SERVICE_UNAVAILABLE")
	slowest := time.Duration(0)
	for range 200 {
		start := time.Now()
		other.Do("GET", "/api/webhooks", "").Want(t, http.StatusOK)
		slowest = max(slowest, time.Since(start))
	}
	t.Logf("the slowest of 200 requests took %v while %d tests hung", slowest, r.Count("/hang"))
	if slowest > 2*time.Second { // a test takes 15 s
		t.Errorf("a request took %v while tests hung, want at most 2 s", slowest)
	}
	tests.Wait()
	hung, throttled := 0, 0
	for _, status := range statuses {
		switch status {
		case http.StatusOK:
			hung++
		case http.StatusServiceUnavailable: // the function has no instance left
			throttled++
		}
	}
	if hung != 10 || hung+throttled != users {
		t.Errorf("got the statuses %v of the tests, want ten times 200, and 503 otherwise", statuses)
	}
}
