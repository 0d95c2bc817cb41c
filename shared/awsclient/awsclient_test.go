package awsclient_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go"

	"devplatform/shared/awsclient"
	"devplatform/shared/config"
)

func TestEndpoints(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ own, all, want string }{
		{"http://own", "http://all", "http://own"}, {"", "http://all", "http://all"}, {"http://own", "", "http://own"}, {"", "", ""},
	} {
		if got := awsclient.Endpoint(tc.own, tc.all); aws.ToString(got) != tc.want || (got == nil) != (tc.want == "") {
			t.Errorf("%+v: %v", tc, got)
		}
	}
}

func TestResponseTimeouts(t *testing.T) {
	t.Parallel()
	quick, slow := awsclient.HTTP(), awsclient.SlowHTTP()
	responseTimeout := func(c *http.Client) time.Duration { return awsclient.Transport(c).ResponseHeaderTimeout }
	if quick.Timeout == 0 || responseTimeout(quick) == 0 {
		t.Errorf("quick: %v, %v", quick.Timeout, responseTimeout(quick))
	}
	if slow.Timeout != 0 || responseTimeout(slow) != 0 {
		t.Errorf("slow: %v, %v", slow.Timeout, responseTimeout(slow))
	}
	for _, client := range []*http.Client{quick, slow} {
		if transport := awsclient.Transport(client); transport.TLSHandshakeTimeout == 0 || transport.DialContext == nil {
			t.Error("the time to connect is not limited")
		}
	}
}

// body fails the test if its WriteTo is called.
type body struct {
	io.Reader
	t *testing.T
}

func (b body) Close() error { return nil }
func (b body) WriteTo(io.Writer) (int64, error) {
	b.t.Error("WriteTo was called, though smithy-go may have closed the body")
	return 0, io.EOF
}

func TestRequestBodiesAreOnlyRead(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) }))
	t.Cleanup(server.Close)
	for _, client := range []*http.Client{awsclient.HTTP(), awsclient.SlowHTTP()} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, body{strings.NewReader("hello"), t})
		if err != nil {
			t.Fatal(err)
		}
		request.ContentLength = 5
		response, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(response.Body); string(got) != "hello" || err != nil || response.Body.Close() != nil {
			t.Errorf("%q, %v", got, err)
		}
		if response, err = client.Get(server.URL); err != nil || response.Body.Close() != nil {
			t.Errorf("without a body: %v", err)
		}
	}
}

func TestCredentials(t *testing.T) {
	t.Parallel()
	got, err := awsclient.Credentials(config.AWS{AccessKeyID: "a", SecretAccessKey: "b", SessionToken: "c"}).Retrieve(t.Context())
	if err != nil || got.AccessKeyID != "a" || got.SecretAccessKey != "b" || got.SessionToken != "c" {
		t.Errorf("%v, %v", got, err)
	}
}

func TestUnavailable(t *testing.T) {
	t.Parallel()
	named := func(code string, fault smithy.ErrorFault) error {
		return fmt.Errorf("call: %w", &smithy.GenericAPIError{Code: code, Fault: fault})
	}
	for name, tc := range map[string]struct {
		err  error
		want bool
	}{
		"error of the service": {named("Whatever", smithy.FaultServer), true},
		"throttled":            {named("ThrottlingException", smithy.FaultClient), true},
		"error of the caller":  {named("ValidationException", smithy.FaultClient), false},
		"deadline exceeded":    {fmt.Errorf("call: %w", context.DeadlineExceeded), true},
		"canceled":             {fmt.Errorf("call: %w", context.Canceled), true},
		"incomplete response":  {fmt.Errorf("call: %w", &smithy.DeserializationError{Err: errors.New("EOF")}), true},
		"any other error":      {errors.New("anything"), false},
	} {
		if got := awsclient.Unavailable(tc.err); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestJitterGrowsAndIsRandom(t *testing.T) {
	t.Parallel()
	for attempt := range awsclient.MaxAttempts {
		least, seen := 10*time.Millisecond<<attempt, map[time.Duration]bool{}
		for range 20 {
			wait := awsclient.Jitter(attempt)
			if seen[wait] = true; wait < least || wait >= 4*least {
				t.Errorf("%d: %v", attempt, wait)
			}
		}
		if len(seen) < 2 {
			t.Errorf("%d: not random", attempt)
		}
	}
	if wait := awsclient.Jitter(100); wait < 80*time.Millisecond || wait >= 320*time.Millisecond {
		t.Errorf("the waits are not limited: %v", wait)
	}
}

func TestSleepEndsWithContext(t *testing.T) {
	t.Parallel()
	if !awsclient.Sleep(t.Context(), time.Nanosecond) {
		t.Error("the context did not end")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if awsclient.Sleep(ctx, time.Hour) {
		t.Error("slept after the end of the context")
	}
}
