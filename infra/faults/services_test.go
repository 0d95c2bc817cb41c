package faults

import (
	"net/http"
	"testing"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/platformtest"
	"devplatform/shared/awsclient"
)

// The queue and the streams are down while people work: their changes are made as ever, and are told of once it is over.
func TestDeliveriesWaitOutAnOutage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, tr := range some(
		lost.service(queues),
		failing.service(streams),
		failing.table("WebhooksTable"), // the fan-out's and the worker's
		queueThrottled,
		failing.service(queues),
		cut.service(queues),
		torn.service(streams),
	) {
		if !t.Run(tr.name, func(t *testing.T) { w.outlast(t, tr) }) {
			break
		}
	}
}

// outlast makes changes during trouble that is not about them.
func (w *world) outlast(t *testing.T, tr trouble) {
	t.Helper()
	w.t, w.ada.T = t, t
	w.cloud.suffer(tr)
	for i := range 10 {
		w.ada.Save(w.project, "/main.ts", tr.name+string(rune('a'+i))).Want(t, http.StatusOK)
	}
	w.ada.NewProject("During "+tr.name, nil)
	platformtest.Eventually(t, "trouble for whoever delivers", func() bool {
		w.cloud.mu.Lock()
		defer w.cloud.mu.Unlock()
		return w.cloud.hits > awsclient.MaxAttempts // an invocation, at least, has failed
	})
	hits := w.cloud.mend()
	w.told()
	w.audit()
	t.Logf("%d calls met it", hits)
}

// Without its keys a function can make nobody out. It says so, and needs no restart to get them.
func TestSecretsAreDownAtTheStart(t *testing.T) {
	t.Parallel()
	for _, tr := range some(
		trouble{name: "throttled", happen: replying(dynamotest.Refusal(http.StatusBadRequest, "ThrottlingException", ""))},
		cut, dead, failing, torn,
	) {
		tr := tr.service(vault)
		t.Run(tr.name, func(t *testing.T) {
			t.Parallel()
			c := newCloud(t)
			p := c.start()
			w := &world{t: t, cloud: c, platform: p}
			c.suffer(tr)
			ada := w.client()
			signUp := object{"email": "ada@example.com", "username": "ada", "password": platformtest.Password}.String()
			if a := ada.Do("POST", "/api/auth/signup", signUp); a.Status != http.StatusCreated { // it needs no key
				a.WantError(t, http.StatusServiceUnavailable, "SERVICE_UNAVAILABLE")
			}
			login := request{name: "log in", client: ada, method: "POST", path: "/api/auth/login",
				body: object{"email": "ada@example.com", "password": platformtest.Password}.String()}
			stale := request{name: "projects", client: ada, method: "GET", path: "/api/projects"}
			ada.HTTP.Jar.SetCookies(address(t, p.URL), []*http.Cookie{{Name: "session", Value: foreignToken}})
			for _, o := range sendAll([]request{login, stale}) {
				if o.took > patience {
					t.Errorf("%s took %v", o.name, o.took)
				}
				checkShape(w, o.request, o.answer)
			}
			if c.mend() == 0 {
				t.Fatal("nobody asked for a secret")
			}
			platformtest.Eventually(t, "a log-in", func() bool { return login.send().Status == http.StatusOK })
			platformtest.Eventually(t, "the list of projects", func() bool { return stale.send().Status == http.StatusOK })
		})
	}
}

// foreignToken is a session token whose signature only the keys could tell from a true one.
const foreignToken = "eyJhbGciOiJIUzI1NiIsImtpZCI6ImsxIiwidHlwIjoiSldUIn0.eyJpc3MiOiJkZXZwbGF0Zm9ybSIsInN1YiI6InVzcl8wMUtHQTRWNU4wQUJDREVGR0hKS01OUFFSUyIsInNpZCI6InNlc18wMUtHQTRWNU4xQUJDREVGR0hKS01OUFFSUyIsImlhdCI6MTc2OTg0NzMzMCwiZXhwIjo0MDcwNDUyMTMwfQ.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
