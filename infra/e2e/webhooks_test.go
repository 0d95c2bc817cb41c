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
)

// received waits until n requests have come to a path.
func received(t testing.TB, r *hooktest.Receiver, path string, n int) []hooktest.Request {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	all, err := r.WaitFor(ctx, path, n)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestWebhooks is the story of a webhook, over both protocols.
func TestWebhooks(t *testing.T) {
	t.Parallel()
	p := platformtest.Start(t)
	for name, base := range map[string]string{"plain": p.URL, "secure": p.HTTPS} {
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
				if at := request.Header.Get("X-Service-Timestamp"); request.Header.Get("Content-Type") != "application/json" || at == "" {
					t.Errorf("headers %v", request.Header)
				}
				if shown, ok := feed[request.ID()]; ok && string(shown) != string(request.Body) {
					t.Errorf("the feed shows %s, the endpoint got %s", shown, request.Body)
				}
			}
			if types := typesOf(requests); types != "file.created file.deleted project.created project.deleted project.deleted" {
				t.Errorf("delivered were %s", types)
			}
			if types := typesOf(received(t, r, "/ok/deleted", 1)); types != "project.deleted" {
				t.Errorf("delivered to the narrow one were %s", types)
			}
			hook := "/api/webhooks/" + all
			platformtest.Eventually(t, "the log of five deliveries", func() bool {
				return len(ada.Do("GET", hook+"/deliveries?status=succeeded", "").List(t, "deliveries")) == 5
			})
			deliveries := ada.Do("GET", hook+"/deliveries", "").List(t, "deliveries")
			first := deliveries[len(deliveries)-1]
			ada.Do("POST", fmt.Sprintf("%s/deliveries/%s/redeliver", hook, first["id"]), "").Want(t, http.StatusAccepted)
			again := received(t, r, "/ok/all", 6)[5]
			if again.ID() != first["eventId"] || again.Header.Get("X-Service-Delivery") != first["id"] {
				t.Errorf("redelivered was %s of %s", again.Header.Get("X-Service-Delivery"), again.ID())
			}
			secret, _ := ada.Do("PUT", hook, `{"secret":null}`).Want(t, http.StatusOK)["secret"].(string)
			if attempt := ada.Do("POST", hook+"/test", "{}").Want(t, http.StatusOK); attempt["statusCode"] != 200.0 {
				t.Errorf("the test's attempt was %v", attempt)
			}
			rotated := received(t, r, "/ok/all", 7)[6]
			if err := rotated.Verify(secret); err != nil || rotated.VerifyStandard(platformtest.HookSecret) != nil {
				t.Errorf("after the rotation: %v, and the old secret: %v", err, rotated.VerifyStandard(platformtest.HookSecret))
			}
			ada.Do("DELETE", hook, "").Want(t, http.StatusOK)
			ada.Do("GET", hook+"/deliveries", "").WantError(t, http.StatusNotFound, "WEBHOOK_NOT_FOUND")
			before := r.Count("/ok/all")
			ada.Subscribe(r.URL("/ok/later"), nil)
			ada.NewProject("Later", nil)
			received(t, r, "/ok/later", 1)
			if after := r.Count("/ok/all"); after != before {
				t.Errorf("%d requests came to a webhook that was deleted", after-before)
			}
		})
	}
}

// typesOf are the types of the events in requests, sorted.
func typesOf(requests []hooktest.Request) string {
	var types []string
	for _, r := range requests {
		types = append(types, r.Header.Get("X-Service-Event"))
	}
	slices.Sort(types)
	return strings.Join(types, " ")
}

// TestWebhooksKeepOutOfPrivateNetworks runs the platform with the deployed stack's rule: an endpoint on this machine is never
// connected to.
func TestWebhooksKeepOutOfPrivateNetworks(t *testing.T) {
	t.Parallel()
	r := hooktest.New(t)
	p := platformtest.Start(t, "WEBHOOK_ALLOW_PRIVATE=false")
	ada := platformtest.NewClient(t, p.URL)
	ada.SignUp("ada")
	body := platformtest.Object{"url": r.URL("/ok"), "events": []string{"*"}}
	ada.Do("POST", "/api/webhooks", body.String()).WantError(t, http.StatusBadRequest, "VALIDATION_FAILED")
	for _, url := range []string{r.SecureURL("/ok"), strings.Replace(r.SecureURL("/ok"), "127.0.0.1", "localhost", 1)} {
		hook := ada.Subscribe(url, nil)
		attempt := ada.Do("POST", "/api/webhooks/"+hook+"/test", "{}").Want(t, http.StatusOK)
		if reason, _ := attempt["error"].(string); attempt["statusCode"] != nil || !strings.Contains(reason, "public") {
			t.Errorf("%s: %v", url, attempt)
		}
	}
	if n := r.Total(); n > 0 {
		t.Errorf("%d requests arrived", n)
	}
}

// TestWebhooksSurviveKills kills functions and the whole platform with -9 while changes are made and delivered: every event of
// the feed reaches both subscribers. An attempt that died with its function is made anew once its lease is over and the retry
// job comes by, which is minutes of real time.
func TestWebhooksSurviveKills(t *testing.T) {
	t.Parallel()
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
	const lives, batches = 4, 8
	for life := range lives {
		for batch := range batches {
			var operations []platformtest.Object
			for file := range 20 {
				operations = append(operations, platformtest.Object{"op": "create", "path": fmt.Sprintf("/%d/%d/%d.txt", life, batch, file), "content": "x"})
			}
			// A kill may take the answer, or the change: the feed tells what happened.
			_, _ = c.Try("POST", "/api/projects/"+project+"/files/batch", platformtest.Object{"operations": operations}.String())
			killFunction(p)
		}
		if life < lives-1 {
			p.Kill()
			p = platformtest.StartIn(t, dir)
			c.Base = p.URL
		}
	}
	platformtest.Eventually(t, "the last kill has taken its answer", func() bool {
		a, err := c.Try("GET", "/api/projects/"+project+"/events", "")
		return err == nil && a.Status == http.StatusOK
	})
	feed := c.Feed(project)
	delete(feed, firstOf(feed)) // the project's creation came before the webhooks
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
	ctx, cancel := context.WithTimeout(t.Context(), 6*time.Minute)
	defer cancel()
	if err := r.Wait(ctx, func(*hooktest.Receiver) bool { return len(missing()) == 0 }); err != nil {
		t.Errorf("of %d events %d did not arrive, such as %s: %v", len(feed), len(missing()), missing()[0], err)
	}
	t.Logf("%d events, %d requests", len(feed), r.Total())
	if len(feed) < lives*batches*20/2 {
		t.Errorf("only %d events: most of the changes were lost, which is not what is tested", len(feed))
	}
}

// killFunction ends one of the platform's functions, whichever.
func killFunction(p *platformtest.Platform) {
	children := p.Children()
	if len(children) == 0 {
		return
	}
	if process, err := os.FindProcess(children[rand.IntN(len(children))]); err == nil {
		_ = process.Kill()
	}
}

// firstOf is the id of the oldest event: ids sort in the order of time.
func firstOf(feed map[string]json.RawMessage) string {
	first := ""
	for id := range feed {
		if first == "" || id < first {
			first = id
		}
	}
	return first
}

// TestHangingEndpointsHoldNobodyUp lets one of two endpoints hang while events keep coming.
func TestHangingEndpointsHoldNobodyUp(t *testing.T) {
	t.Parallel()
	r := hooktest.New(t)
	p := platformtest.Start(t)
	c := platformtest.NewClient(t, p.URL)
	c.SignUp("ada")
	project := c.NewProject("Hooked", nil)
	for _, path := range []string{"/ok", "/hang", "/drip", "/huge", "/reset", "/redirect", "/status/500"} {
		c.Subscribe(r.URL(path), nil)
	}
	for i := range 50 {
		c.Save(project, "/a.txt", fmt.Sprint(i))
	}
	received(t, r, "/ok", 50)
	if redirected := r.Count("/ok/redirected"); redirected > 0 {
		t.Errorf("%d redirects were followed", redirected)
	}
}
