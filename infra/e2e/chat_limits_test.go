package e2e

import (
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"devplatform/infra/hooktest"
	"devplatform/infra/platformtest"
)

// TestSlowChatsDoNotDisturbOthers starts five chats in each of ten accounts, with a model that does not respond.
// Three of each account hang, and the others are rejected. Meanwhile, requests of another account to every group of
// endpoints, the assistant included, respond with their normal status.
func TestSlowChatsDoNotDisturbOthers(t *testing.T) {
	t.Parallel()
	const accounts, chats, allowed = 10, 5, 3
	var hangs atomic.Bool
	var atModel, answered atomic.Int64
	release := make(chan struct{})
	m := newFakeModel(t, func(a *modelAnswer) {
		if hangs.Load() {
			atModel.Add(1)
			select {
			case <-release:
			case <-a.ctx.Done():
				return
			}
		}
		a.text("Yes.")
		a.end(100, 20)
	})
	hooks := hooktest.New(t)
	// There are instances for the chats that are allowed, and ten more.
	p := m.start(t, fmt.Sprint("LAMBDA_CONCURRENCY=", accounts*allowed+10))
	signUp := func(name string) (c *platformtest.Client, project string) {
		c = platformtest.NewClient(t, p.URL)
		c.SignUp(name)
		return c, c.NewProject("Site", nil)
	}
	chat := func(project string) string {
		return platformtest.Object{"projectId": project, "message": "Is it?"}.String()
	}
	other, otherProject := signUp("other")
	hook := other.Subscribe(hooks.URL("/ok"), nil)

	hangs.Store(true)
	var requests sync.WaitGroup
	responses := make([][]platformtest.Response, accounts)
	for i := range accounts {
		c, project := signUp(fmt.Sprint("user", i))
		c.HTTP.Timeout = time.Minute
		responses[i] = make([]platformtest.Response, chats)
		for j := range chats {
			requests.Go(func() {
				responses[i][j], _ = c.Try("POST", "/api/ai/chat", chat(project))
				answered.Add(1)
			})
		}
	}
	platformtest.Eventually(t, "all chats hang or are rejected", func() bool {
		return atModel.Load()+answered.Load() == accounts*chats
	})
	hangs.Store(false)
	slowest := time.Duration(0)
	for _, request := range []struct {
		method, path, body string
		want               int
	}{
		{"GET", "/api/auth/me", "", http.StatusOK},
		{"GET", "/api/workspaces", "", http.StatusOK},
		{"GET", "/api/projects", "", http.StatusOK},
		{"POST", "/api/projects/" + otherProject + "/files", `{"path":"/a.txt","content":"a"}`, http.StatusCreated},
		{"GET", "/api/projects/" + otherProject + "/deployments", "", http.StatusOK},
		{"GET", "/api/webhooks", "", http.StatusOK},
		{"POST", "/api/webhooks/" + hook + "/test", "{}", http.StatusOK},
		{"GET", "/api/openapi.json", "", http.StatusOK},
		{"GET", "/api/ai/usage", "", http.StatusOK},
		{"GET", "/api/ai/conversations/" + otherProject, "", http.StatusOK},
		{"POST", "/api/ai/generate", `{"prompt":"Is it?"}`, http.StatusOK},
		{"POST", "/api/ai/chat", chat(otherProject), http.StatusOK},
	} {
		start := time.Now()
		other.Do(request.method, request.path, request.body).Want(t, request.want)
		slowest = max(slowest, time.Since(start))
	}
	t.Logf("the slowest of the other account's requests took %v while %d chats hung", slowest, atModel.Load())
	if slowest > 5*time.Second { // a new instance of a function starts in less
		t.Errorf("a request took %v while chats hung, want at most 5 s", slowest)
	}
	close(release)
	requests.Wait()
	for i, ofAccount := range responses {
		completed := 0
		for _, response := range ofAccount {
			if response.Status == http.StatusOK {
				completed++
				continue
			}
			response.WantError(t, http.StatusTooManyRequests, "RATE_LIMITED")
			if response.Header.Get("Retry-After") == "" {
				t.Errorf("account %d: the rejected chat has no Retry-After header", i)
			}
		}
		if completed != allowed {
			t.Errorf("account %d: %d chats were answered, want %d", i, completed, allowed)
		}
	}
}
