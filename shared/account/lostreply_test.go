package account

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/limit"
)

// useDynamoDB makes the service use DynamoDB through an SDK client.
func (w *world) useDynamoDB(sdk *dynamodb.Client) {
	client := db.Wrap(sdk, w.clock.Now)
	w.service.store = newStore(client, w.tables)
	w.service.sessions.store = w.service.store
	w.service.counters = limit.New(client, client.Table(w.tables.Accounts), w.clock.Now)
	w.server.Config.Handler = w.gateway(w.service.Router(testEdge))
}

// The SDK repeats a request if its response is lost. The repetition must not fail because of the first request.
func TestLostResponses(t *testing.T) {
	t.Parallel()
	h := newCodeHost(t)
	w := newWorld(t, h.with())
	wire := dynamotest.NewWire(t, aws.ToString(w.sdk.Options().BaseEndpoint), nil)
	w.useDynamoDB(wire.Client())
	b := w.browser()
	step := func(name, operation string, do func() answer, want int) {
		t.Helper()
		wire.Break(operation, dynamotest.LostReply)
		if a := do(); a.Status != want {
			t.Errorf("%s: %d %s, want %d", name, a.Status, a.Raw, want)
		}
		if wire.Hits() != 1 {
			t.Fatalf("%s: no response was lost", name)
		}
	}
	step("signup", "TransactWriteItems", func() answer { return b.signup("ada") }, http.StatusCreated)
	step("login", "TransactWriteItems", func() answer { return b.login("ada", goodPassword) }, http.StatusOK)
	if got := w.loginHits("ada@example.com", "203.0.113.1"); got != [3]int{0, 1, 0} {
		t.Errorf("refunded more than once: %v", got)
	}
	step("me", "BatchGetItem", b.me, http.StatusOK)
	step("password", "TransactWriteItems", func() answer {
		return b.Do(http.MethodPut, "/api/auth/password", map[string]string{"currentPassword": goodPassword, "newPassword": "a wholly new password"})
	}, http.StatusOK)
	step("logout", "DeleteItem", func() answer { return b.Do(http.MethodPost, "/api/auth/logout", nil) }, http.StatusOK)

	step("start", "PutItem", func() answer { return b.Do(http.MethodGet, "/api/auth/codehost", nil) }, http.StatusFound)
	step("callback", "TransactWriteItems", func() answer { return b.signIn(h, octocat(1, verified("octo@example.com"))) }, http.StatusFound)
	second := w.browser()
	second.signIn(h, octocat(1)).Want(t, http.StatusFound)
	list := b.Do(http.MethodGet, "/api/auth/sessions", nil).Want(t, http.StatusOK)
	sessions, _ := list.Body["sessions"].([]any)
	if len(sessions) != 2 {
		t.Fatalf("sessions %s", list.Raw)
	}
	newest, _ := sessions[0].(map[string]any)
	step("end session", "TransactWriteItems", func() answer {
		return b.Do(http.MethodDelete, "/api/auth/sessions/"+newest["id"].(string), nil)
	}, http.StatusOK)
	w.clock.Advance(sessionRenewalEvery)
	step("renewal", "UpdateItem", b.me, http.StatusOK)
}

// While DynamoDB is unavailable, the response is 503 with Retry-After, without internal details.
func TestStorageDown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.member("ada")
	dead := httptest.NewServer(http.NotFoundHandler())
	dead.Close()
	w.useDynamoDB(dynamotest.Client(dead.URL, dynamotest.Once))
	for name, a := range map[string]answer{
		"me": b.me(), "login": b.login("ada", goodPassword), "signup": b.signup("eve"), "logout": b.Do(http.MethodPost, "/api/auth/logout", nil),
	} {
		if a.Status != http.StatusServiceUnavailable || a.Text("code") != string(fault.CodeServiceUnavailable) || a.Header.Get("Retry-After") == "" {
			t.Errorf("%s: %d %s", name, a.Status, a.Raw)
		}
		if strings.Contains(a.Raw, "127.0.0.1") || strings.Contains(a.Raw, "dynamo") {
			t.Errorf("%s exposes internal details: %s", name, a.Raw)
		}
	}
}
