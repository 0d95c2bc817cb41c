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
	"devplatform/shared/retry"
)

func TestEndpoints(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ own, all, want string }{
		{own: "http://own", all: "http://all", want: "http://own"},
		{own: "", all: "http://all", want: "http://all"},
		{own: "http://own", all: "", want: "http://own"},
		{own: "", all: "", want: ""},
	} {
		if got := awsclient.Endpoint(tc.own, tc.all); aws.ToString(got) != tc.want || (got == nil) != (tc.want == "") {
			t.Errorf("Endpoint(%q, %q) = %q, want %q", tc.own, tc.all, aws.ToString(got), tc.want)
		}
	}
}

func TestResponseTimeouts(t *testing.T) {
	t.Parallel()
	quick, transfer, slow := awsclient.HTTP(), awsclient.TransferHTTP(), awsclient.SlowHTTP()
	responseTimeout := func(c *http.Client) time.Duration { return awsclient.Transport(c).ResponseHeaderTimeout }
	if quick.Timeout == 0 || responseTimeout(quick) == 0 {
		t.Errorf("HTTP: got timeouts %v and %v, want limits", quick.Timeout, responseTimeout(quick))
	}
	if transfer.Timeout <= quick.Timeout {
		t.Errorf("TransferHTTP: got the timeout %v, want more than the %v of HTTP", transfer.Timeout, quick.Timeout)
	}
	if slow.Timeout != 0 || responseTimeout(slow) != 0 {
		t.Errorf("SlowHTTP: got timeouts %v and %v, want none", slow.Timeout, responseTimeout(slow))
	}
	for _, client := range []*http.Client{quick, transfer, slow} {
		transport := awsclient.Transport(client)
		if transport.TLSHandshakeTimeout == 0 || transport.DialContext == nil {
			t.Error("the time to connect is not limited")
		}
	}
}

// body is a request body that fails the test if its WriteTo is called.
type body struct {
	io.Reader
	t *testing.T
}

func (b body) Close() error { return nil }
func (b body) WriteTo(io.Writer) (int64, error) {
	b.t.Error("WriteTo was called, although smithy-go may have closed the body")
	return 0, io.EOF
}

func TestWriteToOfRequestBodyIsNotCalled(t *testing.T) {
	t.Parallel()
	echo := func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) }
	server := httptest.NewServer(http.HandlerFunc(echo))
	t.Cleanup(server.Close)
	for _, client := range []*http.Client{awsclient.HTTP(), awsclient.SlowHTTP()} {
		sent := body{Reader: strings.NewReader("hello"), t: t}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, sent)
		if err != nil {
			t.Fatal(err)
		}
		request.ContentLength = 5
		response, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		received, err := io.ReadAll(response.Body)
		if string(received) != "hello" || err != nil || response.Body.Close() != nil {
			t.Errorf("the server received %q, %v, want hello", received, err)
		}
		if response, err = client.Get(server.URL); err != nil || response.Body.Close() != nil {
			t.Errorf("without a body: got error %v, want none", err)
		}
	}
}

func TestCredentials(t *testing.T) {
	t.Parallel()
	cfg := config.AWS{AccessKeyID: "a", SecretAccessKey: "b", SessionToken: "c"}
	got, err := awsclient.Credentials(cfg).Retrieve(t.Context())
	if err != nil || got.AccessKeyID != "a" || got.SecretAccessKey != "b" || got.SessionToken != "c" {
		t.Errorf("got credentials %v, %v, want a, b and c", got, err)
	}
}

func TestUnavailable(t *testing.T) {
	t.Parallel()
	apiError := func(code string, fault smithy.ErrorFault) error {
		return fmt.Errorf("call: %w", &smithy.GenericAPIError{Code: code, Fault: fault})
	}
	for name, tc := range map[string]struct {
		err  error
		want bool
	}{
		"error of the service": {apiError("Whatever", smithy.FaultServer), true},
		"throttled":            {apiError("ThrottlingException", smithy.FaultClient), true},
		"error of the caller":  {apiError("ValidationException", smithy.FaultClient), false},
		"deadline exceeded":    {fmt.Errorf("call: %w", context.DeadlineExceeded), true},
		"canceled":             {fmt.Errorf("call: %w", context.Canceled), true},
		"incomplete response":  {fmt.Errorf("call: %w", &smithy.DeserializationError{Err: errors.New("EOF")}), true},
		"other error":          {errors.New("other"), false},
	} {
		if got := awsclient.IsUnavailable(tc.err); got != tc.want {
			t.Errorf("%s: got %v, want %v", name, got, tc.want)
		}
	}
}

// The retries of the SDK come from the budget of the operation.
func TestRetryerUsesTheBudget(t *testing.T) {
	t.Parallel()
	retryer, ok := awsclient.Retryer().(aws.RetryerV2)
	if !ok {
		t.Fatal("the retryer does not implement aws.RetryerV2, so the SDK would not pass the context of the call")
	}
	ctx := retry.WithBudget(t.Context(), 1, time.Minute)
	for attempt, isAllowed := range []bool{true, false} {
		if _, err := retryer.GetRetryToken(ctx, errors.New("throttled")); (err == nil) != isAllowed {
			t.Errorf("retry %d: got error %v, want a retry: %t", attempt+1, err, isAllowed)
		}
	}
}
