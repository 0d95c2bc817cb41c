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

// client follows no redirects, as senders of webhooks don't, and keeps no connection to the next test.
func client(t *testing.T, r *hooktest.Receiver) *http.Client {
	t.Helper()
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: r.Certificates()}}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{
		Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func post(ctx context.Context, t *testing.T, c *http.Client, url, id string) (*http.Response, error) {
	t.Helper()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(`{"id":"`+id+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("webhook-id", id)
	response, err := c.Do(request)
	if err == nil {
		t.Cleanup(func() { _ = response.Body.Close() })
	}
	return response, err
}

func TestBehaviours(t *testing.T) {
	t.Parallel()
	r := hooktest.New(t)
	c := client(t, r)
	for _, test := range []struct {
		path   string
		status []int // of one request after the other, with the same id
		header http.Header
	}{
		{path: "/ok", status: []int{200, 200}},
		{path: "/ok/billing", status: []int{200}},
		{path: "/status/500", status: []int{500, 500}},
		{path: "/status/204/audit", status: []int{204}},
		{path: "/status/100", status: []int{404}}, // no final status
		{path: "/status/503?n=1", status: []int{503, 200, 200}},
		{path: "/fail", status: []int{500, 200}},
		{path: "/fail/twice?n=2&status=502", status: []int{502, 502, 200}},
		{path: "/gone", status: []int{410}},
		{path: "/retry-after?s=120", status: []int{429}, header: http.Header{"Retry-After": {"120"}}},
		{path: "/retry-after/unavailable?s=Fri,+31+Dec+1999+23:59:59+GMT&status=503&n=1", status: []int{503, 200}, header: http.Header{"Retry-After": {"Fri, 31 Dec 1999 23:59:59 GMT"}}},
		{path: "/redirect", status: []int{302}, header: http.Header{"Location": {"/ok/redirected"}}},
		{path: "/redirect/away?to=http://169.254.169.254/&status=307", status: []int{307}, header: http.Header{"Location": {"http://169.254.169.254/"}}},
		{path: "/slow?ms=1", status: []int{200}},
		{path: "/elsewhere", status: []int{404}},
	} {
		for i, want := range test.status {
			response, err := post(t.Context(), t, c, r.URL(test.path), "evt_1")
			if err != nil {
				t.Fatalf("%s: %v", test.path, err)
			}
			if response.StatusCode != want {
				t.Errorf("%s: request %d is answered %d, want %d", test.path, i+1, response.StatusCode, want)
			}
			for name, values := range test.header {
				if i == 0 && response.Header.Get(name) != values[0] {
					t.Errorf("%s: %s is %q, want %q", test.path, name, response.Header.Get(name), values[0])
				}
			}
		}
	}
	if r.Count("/ok/redirected") != 0 {
		t.Error("a redirect was followed")
	}
}

func TestFailingIsCountedByIDAndPath(t *testing.T) {
	t.Parallel()
	r := hooktest.New(t)
	c := client(t, r)
	for _, request := range []struct {
		path, id string
		want     int
	}{
		{"/fail/a", "evt_1", 500}, {"/fail/a", "evt_2", 500}, {"/fail/b", "evt_1", 500}, {"/fail/a", "evt_1", 200}, {"/fail/a", "evt_1", 200},
	} {
		response, err := post(t.Context(), t, c, r.URL(request.path), request.id)
		if err != nil {
			t.Fatal(err)
		}
		if response.StatusCode != request.want {
			t.Errorf("%v is answered %d", request, response.StatusCode)
		}
	}
	if diff := cmp.Diff(map[string]int{"evt_1": 3, "evt_2": 1}, r.IDs("/fail/a")); diff != "" {
		t.Errorf("ids (-want +got):\n%s", diff)
	}
	if r.Total() != 5 || r.Count("/fail/b") != 1 || r.CountID("evt_1") != 4 || r.Count("/fail") != 0 || r.IDs("/fail") != nil {
		t.Errorf("counted %d, %d, %d", r.Total(), r.Count("/fail/b"), r.CountID("evt_1"))
	}
	var attempts, answers []int
	for _, request := range r.To("/fail/a") {
		attempts, answers = append(attempts, request.Attempt), append(answers, request.Status)
	}
	if diff := cmp.Diff([][]int{{1, 1, 2, 3}, {500, 500, 200, 200}}, [][]int{attempts, answers}); diff != "" {
		t.Errorf("attempts and answers (-want +got):\n%s", diff)
	}
	r.Reset()
	if r.Total() != 0 || r.Count("/fail/a") != 0 {
		t.Error("not everything was forgotten")
	}
}

func TestRequestsAreRecordedAsTheyArrive(t *testing.T) {
	t.Parallel()
	r := hooktest.New(t)
	before := time.Now()
	if _, err := post(t.Context(), t, client(t, r), r.SecureURL("/ok/x?y=z"), "evt_1"); err != nil { // https, too
		t.Fatal(err)
	}
	got := r.Requests()[0]
	if got.Method != "POST" || got.Path != "/ok/x" || got.Query.Get("y") != "z" || string(got.Body) != `{"id":"evt_1"}` || got.ID() != "evt_1" ||
		got.At.Before(before) || got.At.After(time.Now()) || got.Header.Get("User-Agent") == "" {
		t.Errorf("recorded %+v", got)
	}
	if _, err := post(t.Context(), t, http.DefaultClient, r.SecureURL("/ok"), "evt_2"); err == nil {
		t.Error("a client that does not trust the certificate got through")
	}
}

func TestThoseThatNeverAnswer(t *testing.T) {
	t.Parallel()
	r := hooktest.New(t)
	c := client(t, r)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := post(ctx, t, c, r.URL("/hang"), "evt_1"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("/hang: %v", err)
	}
	for _, url := range []string{r.URL("/reset"), r.SecureURL("/reset")} {
		if _, err := post(t.Context(), t, c, url, "evt_1"); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("%s: %v, want a reset connection", url, err)
		}
	}
	response, err := post(t.Context(), t, c, r.URL("/drip?ms=1"), "evt_1")
	if err != nil || response.StatusCode != 200 {
		t.Fatalf("/drip: %v", err)
	}
	if n, err := io.CopyN(io.Discard, response.Body, 5); n != 5 || err != nil {
		t.Errorf("/drip: %d bytes, %v", n, err)
	}
	response, err = post(t.Context(), t, c, r.URL("/huge"), "evt_1")
	if err != nil || response.StatusCode != 200 {
		t.Fatalf("/huge: %v", err)
	}
	if n, err := io.CopyN(io.Discard, response.Body, 10<<20); n != 10<<20 || err != nil {
		t.Errorf("/huge: %d bytes, %v", n, err)
	}
}

func TestCloseLetsGoOfWhatHangs(t *testing.T) {
	t.Parallel()
	r := hooktest.New(nil)
	c := client(t, r)
	failed := make(chan error)
	for _, path := range []string{"/hang", "/drip", "/slow?ms=3600000"} {
		go func() {
			response, err := post(context.WithoutCancel(t.Context()), t, c, r.URL(path), "evt_1")
			if err == nil {
				_, err = io.Copy(io.Discard, response.Body)
			}
			failed <- err
		}()
	}
	if err := r.Wait(t.Context(), func(r *hooktest.Receiver) bool { return r.Total() == 3 }); err != nil {
		t.Fatal(err)
	}
	r.Close()
	r.Close()
	for range 3 {
		if err := <-failed; err == nil {
			t.Error("a request ended well")
		}
	}
}

func TestHandlersOfTheTest(t *testing.T) {
	t.Parallel()
	r := hooktest.New(t)
	c := client(t, r)
	r.Handle("/hang", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	response, err := post(t.Context(), t, c, r.URL("/hang"), "evt_1")
	if err != nil || response.StatusCode != http.StatusTeapot {
		t.Fatalf("%v, %v", response, err)
	}
	r.Handle("/hang", nil)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := post(ctx, t, c, r.URL("/hang"), "evt_1"); err == nil {
		t.Error("the path did not get its behaviour back")
	}
}

func TestWait(t *testing.T) {
	t.Parallel()
	r := hooktest.New(t)
	c := client(t, r)
	go func() {
		for range 3 {
			_, _ = post(context.WithoutCancel(t.Context()), t, c, r.URL("/ok"), "evt_1")
		}
	}()
	got, err := r.WaitFor(t.Context(), "/ok", 3)
	if err != nil || len(got) != 3 {
		t.Errorf("%d requests, %v", len(got), err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := r.WaitFor(ctx, "/never", 1); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "/ok: 3") {
		t.Errorf("error is %v, want one that says what there was", err)
	}
}

func TestSignatures(t *testing.T) {
	t.Parallel()
	// The example of the standard's libraries.
	const secret, body = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", `{"test": 2432232314}`
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(body))
	signed := func(change func(*hooktest.Request)) hooktest.Request {
		request := hooktest.Request{Body: []byte(body), Header: http.Header{
			"Webhook-Id": {"msg_p5jXN8AQM9LWM0D4loKWxJek"}, "Webhook-Timestamp": {"1614265330"},
			"Webhook-Signature":   {"v1,AAAA v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="},
			"X-Service-Signature": {"sha256=" + hex.EncodeToString(mac.Sum(nil))},
		}}
		change(&request)
		return request
	}
	if err := signed(func(*hooktest.Request) {}).Verify(secret); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*hooktest.Request){
		"another body":         func(r *hooktest.Request) { r.Body = []byte(body + " ") },
		"another time":         func(r *hooktest.Request) { r.Header.Set("webhook-timestamp", "1614265331") },
		"another id":           func(r *hooktest.Request) { r.Header.Set("webhook-id", "msg_2") },
		"no standard one":      func(r *hooktest.Request) { r.Header.Del("webhook-signature") },
		"no service's":         func(r *hooktest.Request) { r.Header.Del("X-Service-Signature") },
		"not hexadecimal":      func(r *hooktest.Request) { r.Header.Set("X-Service-Signature", "sha256=xyz") },
		"without an algorithm": func(r *hooktest.Request) { r.Header.Set("X-Service-Signature", hex.EncodeToString(mac.Sum(nil))) },
	} {
		if err := signed(change).Verify(secret); err == nil {
			t.Errorf("%s: verified", name)
		}
	}
	for _, other := range []string{"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSx", "plain", "whsec_!"} {
		if err := signed(func(*hooktest.Request) {}).VerifyStandard(other); err == nil {
			t.Errorf("%s: verified", other)
		}
	}
}
