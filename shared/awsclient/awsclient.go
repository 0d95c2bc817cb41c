// Package awsclient contains the code that the clients of all AWS services share: credentials, timeouts, the
// classification of errors, and the retry policy. Code for a single service belongs in the package that calls it.
package awsclient

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdkretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/smithy-go"

	"devplatform/shared/config"
	"devplatform/shared/retry"
)

// MaxAttempts is the maximum number of attempts of a call, including the first one.
const MaxAttempts = 4

// Timeouts of one attempt. A call should fail early, because most functions of the API time out after 20 s, and the
// users of the API may stop waiting before that.
const (
	attemptTimeout  = 4 * time.Second
	transferTimeout = 30 * time.Second // of an attempt that transfers megabytes
	dialTimeout     = time.Second
	tlsTimeout      = 2 * time.Second
	responseTimeout = 3 * time.Second // from the end of the request to the response's header
	continueTimeout = 3 * time.Second // for which a large body waits for S3's "100 Continue"
	keepAlive       = 30 * time.Second
	idleTimeout     = 90 * time.Second
)

// maxIdle is the maximum number of idle connections of a client.
const maxIdle = 64

// Credentials returns the credentials that Lambda puts into the environment.
func Credentials(cfg config.AWS) aws.CredentialsProvider {
	return credentials.NewStaticCredentialsProvider(cfg.AccessKeyID, cfg.SecretAccessKey, cfg.SessionToken)
}

// Endpoint returns the endpoint of a service: the service's specific endpoint if it is set, otherwise the general
// endpoint of all services. If both are empty, it returns nil, which means the SDK's default.
func Endpoint(specific, general string) *string {
	switch {
	case specific != "":
		return &specific
	case general != "":
		return &general
	}
	return nil
}

// HTTP returns a new HTTP client for one service.
func HTTP() *http.Client {
	transport := newTransport()
	transport.ResponseHeaderTimeout = responseTimeout
	return newClient(transport, attemptTimeout)
}

// TransferHTTP returns a new HTTP client for a service to which a background job transfers megabytes in one call.
func TransferHTTP() *http.Client { return newClient(newTransport(), transferTimeout) }

// DownloadHTTP returns a new HTTP client for a service whose responses are passed on to another client while they are
// read. The time until the response's header is limited as usual. The time for the body is limited only by the context
// of the call.
func DownloadHTTP() *http.Client {
	transport := newTransport()
	transport.ResponseHeaderTimeout = responseTimeout
	return newClient(transport, 0)
}

// SlowHTTP returns a new HTTP client for a service whose responses take minutes. The time to connect is limited as
// usual. The time for the response is limited only by the context of the call.
func SlowHTTP() *http.Client { return newClient(newTransport(), 0) }

func newClient(transport *http.Transport, timeout time.Duration) *http.Client {
	return &http.Client{
		Timeout:       timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport:     plainBodies{transport},
	}
}

// plainBodies hides every method of a request's body except Read and Close. Without it, connections break: smithy-go
// closes the body when it receives the response's header, while net/http may still be reading the body to find its end.
// Read on a closed body returns io.EOF. But WriteTo, which net/http prefers, returns an error. Then net/http treats the
// request as failed and closes the connection while the SDK still reads the response. This only happens if the
// service responds very fast: on loopback, 3 of 1,000 streams broke.
type plainBodies struct{ *http.Transport }

type plainBody struct{ io.ReadCloser }

// RoundTrip implements http.RoundTripper.
func (t plainBodies) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil && r.Body != http.NoBody {
		r = r.WithContext(r.Context()) // a copy: a RoundTripper must not change the caller's request
		r.Body = plainBody{r.Body}
		if r.Header.Get("Expect") != "" {
			// Wait for "100 Continue". net/http does not wait if the version is not set, as in the SDK's requests. After a
			// refusal, it sends the body, unless it closes the connection. But the SDK has closed the body, so sending
			// would fail, and the response could be lost.
			r.ProtoMajor, r.ProtoMinor, r.Close = 1, 1, true
		}
	}
	return t.Transport.RoundTrip(r)
}

func newTransport() *http.Transport {
	dialer := &net.Dialer{Timeout: dialTimeout, KeepAlive: keepAlive}
	return &http.Transport{
		DialContext:         dialer.DialContext,
		TLSHandshakeTimeout: tlsTimeout,
		MaxIdleConns:        maxIdle,
		MaxIdleConnsPerHost: maxIdle,
		IdleConnTimeout:     idleTimeout,
		DisableCompression:  true, // DynamoDB computes its checksum of the bytes that it sends

		ExpectContinueTimeout: continueTimeout,
	}
}

// Retryer returns the retry policy: at most MaxAttempts attempts, within the budget of the operation (see package
// retry). It also retries a call after an incomplete response, although the first attempt may have had an effect. So
// every call must be safe to repeat.
func Retryer() aws.Retryer {
	return budgetRetryer{sdkretry.NewStandard(func(o *sdkretry.StandardOptions) {
		o.MaxAttempts = MaxAttempts
		o.Retryables = append(o.Retryables, sdkretry.IsErrorRetryableFunc(isUnreadable))
		// By default, the SDK waits up to two seconds before the second attempt. That is long for a service that
		// responds within milliseconds.
		o.Backoff = sdkretry.BackoffDelayerFunc(func(failures int, _ error) (time.Duration, error) {
			return retry.Jitter(failures), nil
		})
	})}
}

// IsUnavailable reports whether a call failed for a transient reason: an error of the service, throttling, a broken
// connection, an incomplete response, or the end of the context. The call may have had an effect.
func IsUnavailable(err error) bool {
	if apiError, ok := errors.AsType[smithy.APIError](err); ok && apiError.ErrorFault() == smithy.FaultServer {
		return true
	}
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) ||
		sdkretry.IsErrorRetryables(sdkretry.DefaultRetryables).IsErrorRetryable(err).Bool() || isUnreadable(err).Bool()
}

// ErrRejected reports that a service rejected a call because of its arguments, for example an item that is too large. A
// retry with the same arguments fails too. A mistake in the deployment, such as a missing permission, is not an
// ErrRejected. Packages that call a service wrap ErrRejected in their errors.
var ErrRejected = errors.New("rejected")

// isUnreadable reports whether the response was incomplete, or did not come from the service. By default the SDK does
// not retry such a call.
func isUnreadable(err error) aws.Ternary {
	if _, ok := errors.AsType[*smithy.DeserializationError](err); ok {
		return aws.TrueTernary
	}
	return aws.UnknownTernary
}

var errNoRetries = errors.New("awsclient: the operation has used all of its retries")

// budgetRetryer takes its retries from the budget of the operation.
type budgetRetryer struct{ aws.RetryerV2 }

// GetRetryToken implements aws.Retryer.
func (r budgetRetryer) GetRetryToken(ctx context.Context, err error) (release func(error) error, tokenErr error) {
	if !retry.Take(ctx) {
		return nil, errNoRetries
	}
	return r.RetryerV2.GetRetryToken(ctx, err) //nolint:wrapcheck // the SDK wraps it
}
