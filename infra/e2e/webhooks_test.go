package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"devplatform/infra/hooktest"
	"devplatform/infra/platformtest"
	"devplatform/infra/testmode"
)

// retryLimit limits the wait for the scheduled retry of a delivery.
const retryLimit = 10 * time.Minute

// deliveryLimit limits the wait for a delivery that arrives at once on an idle machine.
const deliveryLimit = 2 * time.Minute

// received waits until an endpoint has received n requests for a path, and returns them.
func received(t testing.TB, r *hooktest.Receiver, path string, n int) []hooktest.Request {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), deliveryLimit)
	defer cancel()
	all, err := r.WaitFor(ctx, path, n)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestWebhooks creates webhooks, receives events, redelivers one, rotates the secret and deletes a webhook, over http
// and https. A webhook whose endpoint is gone is disabled, and reported in a mail.
func TestWebhooks(t *testing.T) {
	t.Parallel()
	p := platformtest.Start(t)
	for name, base := range map[string]string{"http": p.URL, "https": p.HTTPS} {
		t.Run(name, func(t *testing.T) {
			r := hooktest.New(t)
			ada := platformtest.NewClient(t, base)
			ada.SignUp("ada" + name)
			project := ada.NewProject("Hooked", nil)
			all := ada.Subscribe(r.URL("/ok/all"), nil)
			ada.Subscribe(r.URL("/ok/deleted"), platformtest.Object{"events": []string{"project.deleted"}, "projectId": project})
			other := ada.NewProject("Elsewhere", nil)
			ada.Save(project, "/a.txt", "a").Want(t, http.StatusCreated)
			ada.Do("DELETE", "/api/projects/"+project+"/files?path=/a.txt", "").Want(t, http.StatusOK)
			feed := map[string]json.RawMessage{}
			for _, id := range []string{project, other} {
				for eventID, payload := range ada.Feed(id) {
					feed[eventID] = payload
				}
			}
			ada.Do("DELETE", "/api/projects/"+project, "").Want(t, http.StatusOK)
			ada.Do("DELETE", "/api/projects/"+other, "").Want(t, http.StatusOK)

			requests := received(t, r, "/ok/all", 5)
			for _, request := range requests {
				if err := request.Verify(platformtest.HookSecret); err != nil {
					t.Error(err)
				}
				header := request.Header
				if header.Get("Content-Type") != "application/json" || header.Get("X-Service-Timestamp") == "" {
					t.Errorf("got header %v, want the content type of JSON and a timestamp", header)
				}
				if event, ok := feed[request.ID()]; ok && string(event) != string(request.Body) {
					t.Errorf("the endpoint received %s, want the event of the feed, %s", request.Body, event)
				}
			}
			if types := typesOf(requests); types != "file.created file.deleted project.created project.deleted project.deleted" {
				t.Errorf("got events %s, want all events of both projects", types)
			}
			if types := typesOf(received(t, r, "/ok/deleted", 1)); types != "project.deleted" {
				t.Errorf("got events %s for the subscription to project.deleted", types)
			}
			hook := "/api/webhooks/" + all
			platformtest.Eventually(t, "five deliveries succeeded", func() bool {
				return len(ada.Do("GET", hook+"/deliveries?status=succeeded", "").List(t, "deliveries")) == 5
			})
			deliveries := ada.Do("GET", hook+"/deliveries", "").List(t, "deliveries")
			first := deliveries[len(deliveries)-1]
			ada.Do("POST", fmt.Sprintf("%s/deliveries/%s/redeliver", hook, first["id"]), "").Want(t, http.StatusAccepted)
			redelivered := received(t, r, "/ok/all", 6)[5]
			deliveryID := redelivered.Header.Get("X-Service-Delivery")
			if redelivered.ID() != first["eventId"] || deliveryID != first["id"] {
				t.Errorf("got delivery %s of event %s, want %v of %v",
					deliveryID, redelivered.ID(), first["id"], first["eventId"])
			}
			secret, _ := ada.Do("PUT", hook, `{"secret":null}`).Want(t, http.StatusOK)["secret"].(string)
			if attempt := ada.Do("POST", hook+"/test", "{}").Want(t, http.StatusOK); attempt["statusCode"] != 200.0 {
				t.Errorf("got test attempt %v, want status code 200", attempt)
			}
			rotated := received(t, r, "/ok/all", 7)[6]
			if err := rotated.Verify(secret); err != nil || rotated.VerifyStandard(platformtest.HookSecret) != nil {
				t.Errorf("after the rotation: got error %v with the new secret, %v with the old one, want both to be valid",
					err, rotated.VerifyStandard(platformtest.HookSecret))
			}
			ada.Do("DELETE", hook, "").Want(t, http.StatusOK)
			ada.Do("GET", hook+"/deliveries", "").WantError(t, http.StatusNotFound, "WEBHOOK_NOT_FOUND")
			before := r.Count("/ok/all")
			ada.Subscribe(r.URL("/ok/later"), nil)
			ada.Subscribe(r.URL("/gone"), nil)
			ada.NewProject("Later", nil)
			received(t, r, "/ok/later", 1)
			platformtest.Eventually(t, "a mail reports that the webhook of the endpoint /gone was disabled", func() bool {
				return slices.ContainsFunc(p.Mails("ada"+name+"@example.com"), func(m platformtest.Mail) bool {
					return m.Subject == "A webhook was disabled at devplatform" && strings.Contains(m.Text, "410 Gone")
				})
			})
			if after := r.Count("/ok/all"); after != before {
				t.Errorf("a deleted webhook received %d requests, want none", after-before)
			}
		})
	}
}

// typesOf returns the types of the events in requests, sorted.
func typesOf(requests []hooktest.Request) string {
	var types []string
	for _, r := range requests {
		types = append(types, r.Header.Get("X-Service-Event"))
	}
	slices.Sort(types)
	return strings.Join(types, " ")
}

// TestPrivateEndpointsAreRejected runs the platform with the setting of a deployed stack. It accepts no webhooks with
// private addresses, and sends no requests to those that exist.
func TestPrivateEndpointsAreRejected(t *testing.T) {
	t.Parallel()
	r := hooktest.New(t)
	urls := []string{r.SecureURL("/ok"), strings.Replace(r.SecureURL("/ok"), "127.0.0.1", "localhost", 1)}
	dir := t.TempDir()
	p := platformtest.StartIn(t, dir)
	ada := platformtest.NewClient(t, p.URL)
	ada.SignUp("ada")
	hooks := []string{ada.Subscribe(urls[0], nil), ada.Subscribe(urls[1], nil)}
	p.Interrupt(time.Minute)
	p = platformtest.StartIn(t, dir, "WEBHOOK_ALLOW_PRIVATE=false")
	ada = platformtest.NewClient(t, p.URL)
	ada.Login("ada")
	for _, url := range append(urls, r.URL("/ok")) {
		body := platformtest.Object{"url": url, "events": []string{"*"}}
		ada.Do("POST", "/api/webhooks", body.String()).WantError(t, http.StatusBadRequest, "VALIDATION_FAILED")
	}
	for i, hook := range hooks {
		attempt := ada.Do("POST", "/api/webhooks/"+hook+"/test", "{}").Want(t, http.StatusOK)
		if reason, _ := attempt["error"].(string); attempt["statusCode"] != nil || !strings.Contains(reason, "public") {
			t.Errorf("%s: got attempt %v, want an error about public addresses", urls[i], attempt)
		}
	}
	if n := r.Total(); n > 0 {
		t.Errorf("the endpoint received %d requests, want none", n)
	}
}

// TestWebhooksSurviveKills kills functions and the platform while changes are made and delivered. Both endpoints
// receive every event of the feed. If a function is killed during an attempt, the retry job repeats the attempt after
// its lease has expired. This takes minutes, so the test runs in make faults only. In make test, TestKill of this
// package and the tests of killed functions in infra/faults are the short form.
func TestWebhooksSurviveKills(t *testing.T) {
	t.Parallel()
	if !testmode.IsNightly() {
		t.Skip("it takes minutes: make faults runs it")
	}
	r := hooktest.New(t)
	dir := t.TempDir()
	p := platformtest.StartIn(t, dir)
	c := platformtest.NewClient(t, p.URL)
	c.SignUp("ada")
	project := c.NewProject("Hooked", nil)
	paths := []string{"/ok/a", "/ok/b"}
	for _, path := range paths {
		c.Subscribe(r.URL(path), nil)
	}
	const starts, batches = 4, 8
	for start := range starts {
		for batch := range batches {
			var operations []platformtest.Object
			for file := range 20 {
				operations = append(operations, platformtest.Object{
					"op": "create", "path": fmt.Sprintf("/%d/%d/%d.txt", start, batch, file), "content": "x",
				})
			}
			// A kill can make the request fail before or after the change. The feed contains the changes that were made.
			body := platformtest.Object{"operations": operations}
			_, _ = c.Try("POST", "/api/projects/"+project+"/files/batch", body.String())
			killFunction(p)
		}
		if start < starts-1 {
			p.Kill()
			p = platformtest.StartIn(t, dir)
			c.Base = p.URL
		}
	}
	platformtest.Eventually(t, "the platform handles requests after the last kill", func() bool {
		a, err := c.Try("GET", "/api/projects/"+project+"/events", "")
		return err == nil && a.Status == http.StatusOK
	})
	feed := c.Feed(project)
	delete(feed, firstOf(feed)) // the project was created before the webhooks
	missing := func() (all []string) {
		for _, path := range paths {
			got := r.IDs(path)
			for id := range feed {
				if got[id] == 0 {
					all = append(all, path+" "+id)
				}
			}
		}
		return all
	}
	ctx, cancel := context.WithTimeout(t.Context(), retryLimit)
	defer cancel()
	if err := r.Wait(ctx, func(*hooktest.Receiver) bool { return len(missing()) == 0 }); err != nil {
		t.Errorf("%d deliveries of %d events are missing, such as %s: %v", len(missing()), len(feed), missing()[0], err)
	}
	t.Logf("%d events, %d requests", len(feed), r.Total())
	if len(feed) < starts*batches*20/2 {
		t.Errorf("got %d events, want at least half of the changes to succeed", len(feed))
	}
}

// killFunction kills a random instance of the platform's functions.
func killFunction(p *platformtest.Platform) {
	children := p.Children()
	if len(children) == 0 {
		return
	}
	if process, err := os.FindProcess(children[rand.IntN(len(children))]); err == nil {
		_ = process.Kill()
	}
}

// firstOf returns the ID of the oldest event. IDs sort in the order of time.
func firstOf(feed map[string]json.RawMessage) string {
	first := ""
	for id := range feed {
		if first == "" || id < first {
			first = id
		}
	}
	return first
}

// TestFailingEndpointsDoNotDelayOthers delivers events to an endpoint while other endpoints hang or fail. Redirects are
// not followed.
func TestFailingEndpointsDoNotDelayOthers(t *testing.T) {
	t.Parallel()
	const saves = 15
	r := hooktest.New(t)
	p := platformtest.Start(t)
	c := platformtest.NewClient(t, p.URL)
	c.SignUp("ada")
	project := c.NewProject("Hooked", nil)
	for _, path := range []string{"/ok", "/hang", "/drip", "/huge", "/reset", "/redirect", "/status/500"} {
		c.Subscribe(r.URL(path), nil)
	}
	for i := range saves {
		c.Save(project, "/a.txt", fmt.Sprint(i))
	}
	received(t, r, "/ok", saves)
	if redirected := r.Count("/ok/redirected"); redirected > 0 {
		t.Errorf("%d redirects were followed, want none", redirected)
	}
}
