package hooktest_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/hooktest"
)

// newClient returns an HTTP client that does not follow redirects, like senders of webhooks.
func newClient(t *testing.T, r *hooktest.Receiver) *http.Client {
	t.Helper()
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: r.Certificates()}}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// post sends an event with an ID.
func post(ctx context.Context, t *testing.T, client *http.Client, url, id string) (*http.Response, error) {
	t.Helper()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(`{"id":"`+id+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("webhook-id", id)
	response, err := client.Do(request)
	if err == nil {
		t.Cleanup(func() { _ = response.Body.Close() })
	}
	return response, err
}

func TestBehaviours(t *testing.T) {
	t.Parallel()
	r := hooktest.New(t)
	client := newClient(t, r)
	for _, test := range []struct {
		path     string
		statuses []int       // of consecutive requests with the same webhook-id
		header   http.Header // of the first response
	}{
		{path: "/ok", statuses: []int{200, 200}},
		{path: "/ok/billing", statuses: []int{200}},
		{path: "/status/500", statuses: []int{500, 500}},
		{path: "/status/204/audit", statuses: []int{204}},
		{path: "/status/100", statuses: []int{404}}, // 100 is not a final status
		{path: "/status/503?n=1", statuses: []int{503, 200, 200}},
		{path: "/fail", statuses: []int{500, 200}},
		{path: "/fail/twice?n=2&status=502", statuses: []int{502, 502, 200}},
		{path: "/gone", statuses: []int{410}},
		{path: "/retry-after?s=120", statuses: []int{429}, header: http.Header{"Retry-After": {"120"}}},
		{
			path:     "/retry-after/unavailable?s=Fri,+31+Dec+1999+23:59:59+GMT&status=503&n=1",
			statuses: []int{503, 200},
			header:   http.Header{"Retry-After": {"Fri, 31 Dec 1999 23:59:59 GMT"}},
		},
		{path: "/redirect", statuses: []int{302}, header: http.Header{"Location": {"/ok/redirected"}}},
		{
			path:     "/redirect/away?to=http://169.254.169.254/&status=307",
			statuses: []int{307},
			header:   http.Header{"Location": {"http://169.254.169.254/"}},
		},
		{path: "/slow?ms=1", statuses: []int{200}},
		{path: "/elsewhere", statuses: []int{404}},
	} {
		for i, want := range test.statuses {
			response, err := post(t.Context(), t, client, r.URL(test.path), "evt_1")
			if err != nil {
				t.Fatalf("%s: %v", test.path, err)
			}
			if response.StatusCode != want {
				t.Errorf("%s: request %d: got status %d, want %d", test.path, i+1, response.StatusCode, want)
			}
			for name, values := range test.header {
				if got := response.Header.Get(name); i == 0 && got != values[0] {
					t.Errorf("%s: header %s: got %q, want %q", test.path, name, got, values[0])
				}
			}
		}
	}
	if r.Count("/ok/redirected") != 0 {
		t.Error("the client followed a redirect")
	}
}

func TestFailuresAreCountedByIDAndPath(t *testing.T) {
	t.Parallel()
	r := hooktest.New(t)
	client := newClient(t, r)
	for _, request := range []struct {
		path, id string
		want     int // status of the response
	}{
		{"/fail/a", "evt_1", 500},
		{"/fail/a", "evt_2", 500},
		{"/fail/b", "evt_1", 500},
		{"/fail/a", "evt_1", 200},
		{"/fail/a", "evt_1", 200},
	} {
		response, err := post(t.Context(), t, client, r.URL(request.path), request.id)
		if err != nil {
			t.Fatal(err)
		}
		if response.StatusCode != request.want {
			t.Errorf("%s to %s: got status %d, want %d", request.id, request.path, response.StatusCode, request.want)
		}
	}
	if diff := cmp.Diff(map[string]int{"evt_1": 3, "evt_2": 1}, r.IDs("/fail/a")); diff != "" {
		t.Errorf("IDs of /fail/a (-want +got):\n%s", diff)
	}
	if ids := r.IDs("/fail"); ids != nil {
		t.Errorf("IDs of /fail: got %v, want none", ids)
	}
	wantCounts := map[string]int{"total": 5, "/fail/b": 1, "/fail": 0, "evt_1": 4}
	counts := map[string]int{
		"total":   r.Total(),
		"/fail/b": r.Count("/fail/b"),
		"/fail":   r.Count("/fail"),
		"evt_1":   r.CountID("evt_1"),
	}
	if diff := cmp.Diff(wantCounts, counts); diff != "" {
		t.Errorf("number of requests (-want +got):\n%s", diff)
	}
	var attempts, statuses []int
	for _, request := range r.To("/fail/a") {
		attempts = append(attempts, request.Attempt)
		statuses = append(statuses, request.Status)
	}
	if diff := cmp.Diff([]int{1, 1, 2, 3}, attempts); diff != "" {
		t.Errorf("attempts (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int{500, 500, 200, 200}, statuses); diff != "" {
		t.Errorf("statuses (-want +got):\n%s", diff)
	}
	r.Reset()
	if r.Total() != 0 || r.Count("/fail/a") != 0 {
		t.Errorf("after Reset: got %d requests, want 0", r.Total())
	}
}

func TestRequestsAreRecorded(t *testing.T) {
	t.Parallel()
	r := hooktest.New(t)
	before := time.Now()
	if _, err := post(t.Context(), t, newClient(t, r), r.SecureURL("/ok/x?y=z"), "evt_1"); err != nil {
		t.Fatal(err)
	}
	got := r.Requests()[0]
	if got.Method != "POST" || got.Path != "/ok/x" || got.Query.Get("y") != "z" {
		t.Errorf("recorded %s %s with the query %v, want POST /ok/x with y=z", got.Method, got.Path, got.Query)
	}
	if string(got.Body) != `{"id":"evt_1"}` || got.ID() != "evt_1" || got.Header.Get("User-Agent") == "" {
		t.Errorf("recorded the body %q and the header %v, want the body and the header of evt_1", got.Body, got.Header)
	}
	if after := time.Now(); got.At.Before(before) || got.At.After(after) {
		t.Errorf("recorded the time %v, want one from %v to %v", got.At, before, after)
	}
	if _, err := post(t.Context(), t, http.DefaultClient, r.SecureURL("/ok"), "evt_2"); err == nil {
		t.Error("a client that does not trust the certificate got a response")
	}
}

func TestIncompleteResponses(t *testing.T) {
	t.Parallel()
	r := hooktest.New(t)
	client := newClient(t, r)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := post(ctx, t, client, r.URL("/hang"), "evt_1"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("/hang: got the error %v, want %v", err, context.DeadlineExceeded)
	}
	for _, url := range []string{r.URL("/reset"), r.SecureURL("/reset")} {
		if _, err := post(t.Context(), t, client, url, "evt_1"); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("%s: got the error %v, want %v", url, err, syscall.ECONNRESET)
		}
	}
	response, err := post(t.Context(), t, client, r.URL("/drip?ms=1"), "evt_1")
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("/drip: got the response %v and the error %v, want status 200", response, err)
	}
	if n, err := io.CopyN(io.Discard, response.Body, 5); n != 5 || err != nil {
		t.Errorf("/drip: read %d bytes with the error %v, want 5 bytes", n, err)
	}
	response, err = post(t.Context(), t, client, r.URL("/huge"), "evt_1")
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("/huge: got the response %v and the error %v, want status 200", response, err)
	}
	if n, err := io.CopyN(io.Discard, response.Body, 10<<20); n != 10<<20 || err != nil {
		t.Errorf("/huge: read %d bytes with the error %v, want 10 MiB", n, err)
	}
}

func TestCloseEndsRequestsInProgress(t *testing.T) {
	t.Parallel()
	r := hooktest.New(nil)
	client := newClient(t, r)
	results := make(chan error)
	for _, path := range []string{"/hang", "/drip", "/slow?ms=3600000"} {
		go func() {
			response, err := post(context.WithoutCancel(t.Context()), t, client, r.URL(path), "evt_1")
			if err == nil {
				_, err = io.Copy(io.Discard, response.Body)
			}
			results <- err
		}()
	}
	if err := r.Wait(t.Context(), func(r *hooktest.Receiver) bool { return r.Total() == 3 }); err != nil {
		t.Fatal(err)
	}
	r.Close()
	r.Close() // a second call has no effect
	for range 3 {
		if err := <-results; err == nil {
			t.Error("a request in progress ended without an error")
		}
	}
}

func TestHandle(t *testing.T) {
	t.Parallel()
	r := hooktest.New(t)
	client := newClient(t, r)
	r.Handle("/hang", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTeapot)
	}))
	response, err := post(t.Context(), t, client, r.URL("/hang"), "evt_1")
	if err != nil || response.StatusCode != http.StatusTeapot {
		t.Fatalf("with a handler: got the response %v and the error %v, want status 418", response, err)
	}
	r.Handle("/hang", nil)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := post(ctx, t, client, r.URL("/hang"), "evt_1"); err == nil {
		t.Error("after the handler was removed: got a response from /hang, want none")
	}
}

func TestWait(t *testing.T) {
	t.Parallel()
	r := hooktest.New(t)
	client := newClient(t, r)
	go func() {
		for range 3 {
			_, _ = post(context.WithoutCancel(t.Context()), t, client, r.URL("/ok"), "evt_1")
		}
	}()
	got, err := r.WaitFor(t.Context(), "/ok", 3)
	if err != nil || len(got) != 3 {
		t.Errorf("got %d requests and the error %v, want 3 requests", len(got), err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	_, err = r.WaitFor(ctx, "/never", 1)
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "/ok: 3") {
		t.Errorf("got the error %v, want %v with the number of requests", err, context.DeadlineExceeded)
	}
}

func TestSignatures(t *testing.T) {
	t.Parallel()
	// The example of the Standard Webhooks libraries.
	const secret, body = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", `{"test": 2432232314}`
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(body))
	signedRequest := func(change func(*hooktest.Request)) hooktest.Request {
		request := hooktest.Request{Body: []byte(body), Header: http.Header{
			"Webhook-Id":          {"msg_p5jXN8AQM9LWM0D4loKWxJek"},
			"Webhook-Timestamp":   {"1614265330"},
			"Webhook-Signature":   {"v1,AAAA v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="},
			"X-Service-Signature": {"sha256=" + hex.EncodeToString(mac.Sum(nil))},
		}}
		change(&request)
		return request
	}
	if err := signedRequest(func(*hooktest.Request) {}).Verify(secret); err != nil {
		t.Errorf("valid signatures: %v", err)
	}
	for name, change := range map[string]func(*hooktest.Request){
		"another body":         func(r *hooktest.Request) { r.Body = []byte(body + " ") },
		"another timestamp":    func(r *hooktest.Request) { r.Header.Set("webhook-timestamp", "1614265331") },
		"another ID":           func(r *hooktest.Request) { r.Header.Set("webhook-id", "msg_2") },
		"no webhook-signature": func(r *hooktest.Request) { r.Header.Del("webhook-signature") },
		"no service signature": func(r *hooktest.Request) { r.Header.Del("X-Service-Signature") },
		"not hexadecimal":      func(r *hooktest.Request) { r.Header.Set("X-Service-Signature", "sha256=xyz") },
		"no algorithm prefix": func(r *hooktest.Request) {
			r.Header.Set("X-Service-Signature", hex.EncodeToString(mac.Sum(nil)))
		},
	} {
		if err := signedRequest(change).Verify(secret); err == nil {
			t.Errorf("%s: Verify returned nil, want an error", name)
		}
	}
	for _, other := range []string{"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSx", "plain", "whsec_!"} {
		if err := signedRequest(func(*hooktest.Request) {}).VerifyStandard(other); err == nil {
			t.Errorf("secret %s: VerifyStandard returned nil, want an error", other)
		}
	}
}
