package faults

import (
	"fmt"
	"net/http"
	"testing"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/platformtest"
	"devplatform/shared/awsclient"
)

// Changes succeed while the queues or the streams are unavailable. Their events are delivered after the outage.
func TestDeliveriesWaitOutAnOutage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, f := range selectFaults(
		lost.service(queues),
		failing.service(streams),
		failing.table("WebhooksTable"), // of the fan-out and the workers
		queueThrottled,
		failing.service(queues),
		cut.service(queues),
		torn.service(streams),
	) {
		if !t.Run(f.name, func(t *testing.T) { w.changeDuring(t, f) }) {
			break
		}
	}
}

// changeDuring makes changes during a fault that does not affect them.
func (w *world) changeDuring(t *testing.T, f fault) {
	t.Helper()
	w.t, w.ada.T = t, t
	w.cloud.inject(f)
	for i := range 10 {
		w.ada.Save(w.project, "/main.ts", fmt.Sprint(f.name, i)).Want(t, http.StatusOK)
	}
	w.ada.NewProject("During "+f.name, nil)
	platformtest.Eventually(t, "an invocation fails because of the fault", func() bool {
		w.cloud.mu.Lock()
		defer w.cloud.mu.Unlock()
		return w.cloud.hits > awsclient.MaxAttempts
	})
	hits := w.cloud.repair()
	w.waitForDeliveries()
	w.checkConsistency()
	t.Logf("%d calls had the fault", hits)
}

// Without the keys, a function cannot authenticate users, and returns 503. It fetches the keys after the fault, without
// a restart.
func TestSecretsAreDownAtTheStart(t *testing.T) {
	t.Parallel()
	for _, f := range selectFaults(
		fault{name: "throttled", handle: replying(dynamotest.Refusal(http.StatusBadRequest, "ThrottlingException", ""))},
		cut, dead, failing, torn,
	) {
		f := f.service(vault)
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			c := newCloud(t)
			p := c.start()
			w := &world{t: t, cloud: c, platform: p}
			c.inject(f)
			ada := w.client()
			account := object{"email": "ada@example.com", "username": "ada", "password": platformtest.Password}.String()
			signUp := request{name: "sign up", client: ada, method: "POST", path: "/api/auth/signup", body: account}
			stale := request{name: "projects", client: ada, method: "GET", path: "/api/projects"}
			ada.HTTP.Jar.SetCookies(address(t, p.URL), []*http.Cookie{{Name: "session", Value: foreignToken}})
			for _, o := range sendAll([]request{signUp, stale}) {
				if o.took > gatewayTimeout {
					t.Errorf("%s took %v, want at most %v", o.name, o.took, gatewayTimeout)
				}
				checkUnavailable(w, o.request, o.response)
			}
			if c.repair() == 0 {
				t.Fatal("no secret was read")
			}
			platformtest.Eventually(t, "a sign-up succeeds", func() bool { return signUp.send().Status == http.StatusCreated })
			ada.Do("POST", "/api/auth/login", object{"email": "ada@example.com", "password": platformtest.Password}.String()).
				Want(t, http.StatusOK)
			platformtest.Eventually(t, "the projects are listed", func() bool { return stale.send().Status == http.StatusOK })
		})
	}
}

// foreignToken is a session token with an invalid signature. Only a function with the keys can detect that.
const foreignToken = "eyJhbGciOiJIUzI1NiIsImtpZCI6ImsxIiwidHlwIjoiSldUIn0.eyJpc3MiOiJkZXZwbGF0Zm9ybSIsInN1YiI6InVzcl8wMUtHQTRWNU4wQUJDREVGR0hKS01OUFFSUyIsInNpZCI6InNlc18wMUtHQTRWNU4xQUJDREVGR0hKS01OUFFSUyIsImlhdCI6MTc2OTg0NzMzMCwiZXhwIjo0MDcwNDUyMTMwfQ.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
