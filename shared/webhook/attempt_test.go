package webhook

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/slicetest"
	"devplatform/shared/event"
	"devplatform/shared/fault"
	"devplatform/shared/webhook/delivery"
	"devplatform/shared/workspace"
)

func TestTestDeliveries(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.user("ada")
	path := ada.createWebhook("/ok", object{"active": false, "secret": "s"})
	before := f.storedWebhook(path)
	for i, tc := range []struct {
		body any
		want event.Type
	}{
		{nil, event.WebhookTest},
		{object{}, event.WebhookTest},
		{object{"type": "webhook.test"}, event.WebhookTest},
		{object{"type": "file.created"}, event.FileCreated},
		{object{"type": "deployment.completed"}, event.DeploymentCompleted},
	} {
		response := ada.Do("POST", path+"/test", tc.body).Want(t, http.StatusOK)
		want := map[string]any{
			"at": f.timestamp(), "statusCode": 200.0, "durationMs": 0.0, "error": nil,
			"response": response.Body["response"], "deliveryId": response.Text("deliveryId"),
		}
		if diff := cmp.Diff(want, response.Body); diff != "" {
			t.Errorf("the result of the test (-want +got):\n%s", diff)
		}
		request := f.receiver.Requests()[i]
		if err := request.Verify("s"); err != nil {
			t.Error(err)
		}
		if got := request.Header.Get("X-Service-Event"); got != string(tc.want) {
			t.Errorf("X-Service-Event: got %s, want %s", got, tc.want)
		}
		if got := request.Header.Get("X-Service-Delivery"); got != response.Text("deliveryId") {
			t.Errorf("X-Service-Delivery: got %s, want %s", got, response.Text("deliveryId"))
		}
		logged := ada.Get(path+"/deliveries/"+response.Text("deliveryId")).Want(t, http.StatusOK)
		if logged.Text("status") != "succeeded" || logged.Text("type") != string(tc.want) ||
			logged.Text("eventId") != request.ID() || len(logged.List("attempts")) != 1 {
			t.Errorf("got delivery %s, want one successful attempt of event %s with type %s", logged.Raw, request.ID(), tc.want)
		}
		if !strings.Contains(logged.Raw, `"payload":`+string(request.Body)) {
			t.Errorf("got delivery %s, want the payload %s", logged.Raw, request.Body)
		}
		if !strings.Contains(string(request.Body), ada.userID) {
			t.Errorf("the event does not contain the user ID of the actor: %s", request.Body)
		}
	}
	if diff := cmp.Diff(before, f.storedWebhook(path)); diff != "" {
		t.Errorf("the tests changed the webhook:\n%s", diff)
	}
	for _, invalid := range []any{
		object{"type": "file.*"}, object{"type": "*"}, object{"type": "lunch"}, object{"type": nil}, object{"type": 1},
		"[]", "null", "{",
	} {
		ada.Do("POST", path+"/test", invalid).Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
	}
	if messages, requests := f.receiveMessages(), f.receiver.Total(); len(messages) != 0 || requests != 5 {
		t.Errorf("got %d messages and %d requests, want 0 and 5", len(messages), requests)
	}
}

// A failed test is not retried, and is not recovered.
func TestFailedTestDelivery(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.user("ada")
	path := ada.createWebhook("/status/500")
	response := ada.Do("POST", path+"/test", nil).Want(t, http.StatusOK)
	if response.Body["statusCode"] != 500.0 || response.Text("error") == "" {
		t.Errorf("got %s, want status 500 and an error", response.Raw)
	}
	d := f.storedDelivery(delivery.Delivery{WebhookID: f.storedWebhook(path).ID, ID: response.Text("deliveryId")})
	if d.Status != delivery.Failed || d.Due != "" || d.NextAttemptAt != nil {
		t.Errorf("got %+v, want a failed delivery without a next attempt", d)
	}
	recovered := ada.Do("POST", path+"/recover", object{"since": noon}).Want(t, http.StatusAccepted)
	if recovered.Body["count"] != 0.0 {
		t.Errorf("a test was recovered: %s", recovered.Raw)
	}
}

// Each operation is limited to ten requests a minute for each webhook. Requests that are denied are not counted.
func TestOperationLimits(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada, eve := f.user("ada"), f.user("eve")
	path, other := ada.createWebhook("/ok"), ada.createWebhook("/ok")
	d := f.putDelivery(path, succeeded)
	f.clock.Advance(20 * time.Second)
	for name, call := range limitedCalls {
		call(eve, path, d).Want(t, http.StatusNotFound)
		for range 10 {
			wantSuccess(t, name, call(ada, path, d))
		}
		wantLimited(t, name, call(ada, path, d))
	}
	ada.Do("POST", other+"/test", nil).Want(t, http.StatusOK)
	f.clock.Advance(40 * time.Second)
	for name, call := range limitedCalls {
		wantSuccess(t, name+" after a minute", call(ada, path, d))
	}
}

// limitedCalls are the requests about a webhook, and a delivery of it, that are limited.
var limitedCalls = map[string]func(u *user, path string, d delivery.Delivery) slicetest.Response{
	"test": func(u *user, path string, _ delivery.Delivery) slicetest.Response {
		return u.Do("POST", path+"/test", nil)
	},
	"redeliver": func(u *user, path string, d delivery.Delivery) slicetest.Response {
		return u.Do("POST", path+"/deliveries/"+d.ID+"/redeliver", nil)
	},
	"recover": func(u *user, path string, _ delivery.Delivery) slicetest.Response {
		return u.Do("POST", path+"/recover", object{"since": noon})
	},
}

func wantSuccess(t *testing.T, name string, response slicetest.Response) {
	t.Helper()
	if response.Status >= 300 {
		t.Errorf("%s: got %d %s, want a success", name, response.Status, response.Raw)
	}
}

// wantLimited checks that a request was rejected, 20 s after the minute began.
func wantLimited(t *testing.T, name string, response slicetest.Response) {
	t.Helper()
	response.Want(t, http.StatusTooManyRequests, fault.CodeRateLimited)
	if got := response.Header.Get("Retry-After"); got != "40" {
		t.Errorf("%s: got Retry-After %s, want 40", name, got)
	}
}

// hangingEndpoint is an endpoint that responds when release is called.
func hangingEndpoint(t *testing.T) (url string, arrived <-chan struct{}, release func()) {
	t.Helper()
	requests, released := make(chan struct{}, 100), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		requests <- struct{}{}
		<-released
	}))
	release = sync.OnceFunc(func() { close(released) })
	t.Cleanup(server.Close)
	t.Cleanup(release)
	return server.URL, requests, release
}

// A user has at most one test in progress, a workspace three. A test whose function crashed counts for 30 seconds.
func TestTestsInProgress(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	url, arrived, release := hangingEndpoint(t)
	var users []*user
	roles := map[*user]workspace.Role{}
	for _, name := range []string{"ada", "grace", "linus", "edith"} {
		users = append(users, f.user(name))
		roles[users[len(users)-1]] = workspace.Owner
	}
	team := f.workspace(roles)
	path := users[0].createWebhook("/ok", object{"workspaceId": team, "url": url})
	other := users[0].createWebhook("/ok", object{"workspaceId": team})
	own := users[0].createWebhook("/ok")
	var tests sync.WaitGroup
	for _, u := range users[:3] {
		tests.Go(func() {
			// session, pointer, role, webhook, the begin of the test, delivery, and the end of the test
			response := u.Do("POST", path+"/test", nil)
			if response.Status != http.StatusOK || response.Calls != 6 {
				t.Errorf("got %d %s with %d calls to DynamoDB, want 200 with 6", response.Status, response.Raw, response.Calls)
			}
		})
		<-arrived
	}
	f.clock.Advance(time.Second)
	for range maxOperations + 1 { // rejected tests do not count
		rejected := users[0].Do("POST", own+"/test", nil).Want(t, http.StatusTooManyRequests, fault.CodeRateLimited)
		if !strings.HasPrefix(rejected.Text("error"), "You have") || rejected.Header.Get("Retry-After") != "29" {
			t.Errorf("got %s with Retry-After %s, want an error about the user with Retry-After 29",
				rejected.Raw, rejected.Header.Get("Retry-After"))
		}
	}
	rejected := users[3].Do("POST", other+"/test", nil).Want(t, http.StatusTooManyRequests, fault.CodeRateLimited)
	if !strings.HasPrefix(rejected.Text("error"), "The workspace has") {
		t.Errorf("got %s, want an error about the workspace", rejected.Raw)
	}
	f.clock.Advance(testLease)
	users[0].Do("POST", own+"/test", nil).Want(t, http.StatusOK)
	release()
	tests.Wait()
	for _, u := range users {
		u.Do("POST", path+"/test", nil).Want(t, http.StatusOK)
	}
}

// If the end of a test cannot be stored, the test succeeds, and counts until its lease expires.
func TestEndOfTestIsNotStored(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.user("ada")
	path := ada.createWebhook("/ok")
	wire := f.newWire()
	wire.Before("PutItem", func() { wire.Break("TransactWriteItems", dynamotest.ServerError) })
	ada.Do("POST", path+"/test", nil).Want(t, http.StatusOK)
	wire.Clear()
	ada.Do("POST", path+"/test", nil).Want(t, http.StatusTooManyRequests, fault.CodeRateLimited)
	f.clock.Advance(testLease)
	ada.Do("POST", path+"/test", nil).Want(t, http.StatusOK)
}

// Each operation has a limit for each user, in addition to the limit for each webhook.
func TestOperationLimitsOfUsers(t *testing.T) {
	t.Parallel()
	f := withLimits(t, func(l *Limits) { l.UserCalls = 3 })
	ada, grace := f.user("ada"), f.user("grace")
	team := f.workspace(map[*user]workspace.Role{ada: workspace.Owner, grace: workspace.Owner})
	var paths []string
	var deliveries []delivery.Delivery
	for range 4 {
		path := ada.createWebhook("/ok", object{"workspaceId": team})
		paths, deliveries = append(paths, path), append(deliveries, f.putDelivery(path, succeeded))
	}
	f.clock.Advance(20*time.Second - f.clock.Now().Sub(noon))
	for name, call := range limitedCalls {
		for i := range 3 {
			wantSuccess(t, name, call(ada, paths[i], deliveries[i]))
		}
		wantLimited(t, name, call(ada, paths[3], deliveries[3]))
		wantSuccess(t, name+" by another user", call(grace, paths[3], deliveries[3]))
	}
}
