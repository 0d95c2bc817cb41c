package account

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"devplatform/shared/api"
	"devplatform/shared/db"
)

// lossy stands between the world and DynamoDB. While an operation is named, the reply to the next such request is lost
// after DynamoDB has done what was asked.
type lossy struct {
	operation atomic.Pointer[string]
	lost      atomic.Int32
}

// lose has the reply to the next request of that operation go missing.
func (l *lossy) lose(operation string) { l.operation.Store(&operation) }

func (l *lossy) start(t *testing.T, endpoint string) string {
	t.Helper()
	target, err := url.Parse(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		operation := l.operation.Load()
		if operation == nil || !strings.HasSuffix(r.Header.Get("X-Amz-Target"), "."+*operation) || !l.operation.CompareAndSwap(operation, nil) {
			proxy.ServeHTTP(w, r)
			return
		}
		rec := httptest.NewRecorder()
		proxy.ServeHTTP(rec, r)
		_, _ = io.Copy(io.Discard, rec.Body)
		l.lost.Add(1)
		panic(http.ErrAbortHandler) // the connection is cut
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// lossyWorld is a world whose replies can get lost.
func lossyWorld(t *testing.T, options ...option) (*world, *lossy) {
	t.Helper()
	l := &lossy{}
	w := newWorld(t, options...)
	o := w.sdk.Options()
	o.BaseEndpoint = aws.String(l.start(t, aws.ToString(o.BaseEndpoint)))
	o.Retryer = retry.NewStandard(func(o *retry.StandardOptions) {
		o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
	})
	w.service.store.client = db.Wrap(dynamodb.New(o), w.clock.Now)
	w.service.store.accounts = w.service.store.client.Table(w.tables.Accounts)
	w.service.store.projects = w.service.store.client.Table(w.tables.Projects)
	w.server.Config.Handler = w.gateway(Router(testEdge, w.service))
	return w, l
}

// The SDK sends a request again when its reply is lost. What was done must then not stand in its own way.
func TestLostReplies(t *testing.T) {
	t.Parallel()
	h := newCodeHost(t)
	w, l := lossyWorld(t, h.with())
	b := w.browser()
	step := func(name, operation string, do func() answer, want int) {
		t.Helper()
		before := l.lost.Load()
		l.lose(operation)
		if a := do(); a.status != want {
			t.Errorf("%s: %d %s, want %d", name, a.status, a.raw, want)
		}
		if l.lost.Load() != before+1 {
			t.Fatalf("%s: no reply was lost", name)
		}
	}
	step("signup", "TransactWriteItems", func() answer { return b.signup("ada") }, http.StatusCreated)
	step("login", "TransactWriteItems", func() answer { return b.login("ada", goodPassword) }, http.StatusOK)
	if got := w.loginHits("ada@example.com", "203.0.113.1"); got != [3]int{0, 1, 0} {
		t.Errorf("given back more than once: %v", got)
	}
	step("me", "BatchGetItem", b.me, http.StatusOK)
	step("password", "TransactWriteItems", func() answer {
		return b.do(http.MethodPut, "/api/auth/password", map[string]string{"currentPassword": goodPassword, "newPassword": "a wholly new password"})
	}, http.StatusOK)
	step("logout", "DeleteItem", func() answer { return b.do(http.MethodPost, "/api/auth/logout", nil) }, http.StatusOK)

	step("start", "PutItem", func() answer { return b.do(http.MethodGet, "/api/auth/codehost", nil) }, http.StatusFound)
	step("callback", "TransactWriteItems", func() answer { return b.enter(h, octocat(1, verified("octo@example.com"))) }, http.StatusFound)
	second := w.browser()
	second.enter(h, octocat(1)).want(t, http.StatusFound)
	list := b.do(http.MethodGet, "/api/auth/sessions", nil).want(t, http.StatusOK)
	sessions, _ := list.body["sessions"].([]any)
	if len(sessions) != 2 {
		t.Fatalf("sessions %s", list.raw)
	}
	newest, _ := sessions[0].(map[string]any)
	step("end session", "TransactWriteItems", func() answer {
		return b.do(http.MethodDelete, "/api/auth/sessions/"+newest["id"].(string), nil)
	}, http.StatusOK)
	w.clock.Advance(sessionRenewalEvery)
	step("renewal", "UpdateItem", b.me, http.StatusOK)
}

// When DynamoDB is gone the answer is 503, says when to come back, and tells nothing.
func TestStorageDown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.member("ada")
	o := w.sdk.Options()
	dead := httptest.NewServer(http.NotFoundHandler())
	dead.Close()
	o.BaseEndpoint = aws.String(dead.URL)
	o.RetryMaxAttempts = 1
	w.service.store.client = db.Wrap(dynamodb.New(o), w.clock.Now)
	w.service.store.accounts = w.service.store.client.Table(w.tables.Accounts)
	w.server.Config.Handler = w.gateway(Router(testEdge, w.service))
	for name, a := range map[string]answer{
		"me": b.me(), "login": b.login("ada", goodPassword), "signup": b.signup("eve"), "logout": b.do(http.MethodPost, "/api/auth/logout", nil),
	} {
		if a.status != http.StatusServiceUnavailable || a.text("code") != string(api.CodeServiceUnavailable) || a.header.Get("Retry-After") == "" {
			t.Errorf("%s: %d %s", name, a.status, a.raw)
		}
		if strings.Contains(a.raw, "127.0.0.1") || strings.Contains(a.raw, "dynamo") {
			t.Errorf("%s tells too much: %s", name, a.raw)
		}
	}
}
