// Package awsclient is what the clients of AWS's services have in common: credentials, the bounds of a call, which failures are
// worth another try, and the waits between tries. It knows no service: what a call says and what its errors mean is the business
// of the package that makes it.
package awsclient

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/smithy-go"

	"devplatform/shared/config"
)

// MaxAttempts is how often a call is tried before it fails.
const MaxAttempts = 4

// Bounds of one try. A Lambda function lives 20 s, and a client waits less: rather a quick 503 than a slow one.
const (
	attemptTimeout = 4 * time.Second
	dialTimeout    = time.Second
	idleTimeout    = 90 * time.Second
	maxConnections = 64
)

// Credentials are those of Lambda's environment.
func Credentials(cfg config.AWS) aws.CredentialsProvider {
	return credentials.NewStaticCredentialsProvider(cfg.AccessKeyID, cfg.SecretAccessKey, cfg.SessionToken)
}

// Endpoint is where a service is: at its own endpoint, or else where all of them are, or else, nil, where the SDK says.
func Endpoint(own, all string) *string {
	switch {
	case own != "":
		return &own
	case all != "":
		return &all
	}
	return nil
}

// HTTP makes the HTTP client of one service.
func HTTP() *http.Client {
	transport := newTransport()
	transport.ResponseHeaderTimeout = 3 * time.Second
	return newClient(transport, attemptTimeout)
}

// SlowHTTP makes the HTTP client of a service that takes minutes to answer, or is silent for minutes while it does: connecting is
// bounded as ever, the answer by nothing but the call's context.
func SlowHTTP() *http.Client { return newClient(newTransport(), 0) }

func newClient(transport *http.Transport, timeout time.Duration) *http.Client {
	return &http.Client{
		Timeout:       timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport:     plainBodies{transport},
	}
}

// plainBodies sends requests whose bodies can be read and closed, and nothing else. smithy-go closes a request's body once the head
// of the answer is there, while net/http may still be looking for its end. A closed body that is read says that it is at its end, but
// one that is to write itself (io.WriterTo) fails: net/http then takes the request for one that could not be sent, and closes the
// connection from which the answer is being read. It takes a server that is near: 3 streams in 1,000 broke off on loopback.
type plainBodies struct{ *http.Transport }

type plainBody struct{ io.ReadCloser }

// RoundTrip implements http.RoundTripper.
func (t plainBodies) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil && r.Body != http.NoBody {
		r = r.WithContext(r.Context()) // a copy: a request is its caller's
		r.Body = plainBody{r.Body}
	}
	return t.Transport.RoundTrip(r) //nolint:wrapcheck // http.Client wraps it
}

func newTransport() *http.Transport {
	dialer := &net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}
	return &http.Transport{
		DialContext:         dialer.DialContext,
		TLSHandshakeTimeout: 2 * time.Second,
		ForceAttemptHTTP2:   false,
		MaxIdleConns:        maxConnections,
		MaxIdleConnsPerHost: maxConnections,
		IdleConnTimeout:     idleTimeout,
		DisableCompression:  true, // DynamoDB's checksum covers the bytes as sent
	}
}

// Retryer tries a call MaxAttempts times, a torn answer's, too: what the call did is then not known, so every call must bear
// being made twice.
func Retryer() aws.Retryer {
	return retry.NewStandard(func(o *retry.StandardOptions) {
		o.MaxAttempts = MaxAttempts
		o.Retryables = append(o.Retryables, retry.IsErrorRetryableFunc(tornAnswer))
		// The SDK's own waits begin at a second, an age for a service that answers in milliseconds.
		o.Backoff = retry.BackoffDelayerFunc(func(attempt int, _ error) (time.Duration, error) { return Jitter(attempt), nil })
	})
}

// Jitter is the wait before the attempt-th repetition, counted from 0: 10 to 40 ms, doubled each time.
func Jitter(attempt int) time.Duration {
	step := 10 * time.Millisecond << attempt
	return step + rand.N(3*step) //nolint:gosec // spreads callers out, guards nothing
}

// Sleep waits so long; false if the context ended first.
func Sleep(ctx context.Context, wait time.Duration) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// Unavailable reports that a call failed for what may be gone the next time: a fault of the service, throttling, a cut
// connection, a torn answer, no time left. What the call did is not known.
func Unavailable(err error) bool {
	var named smithy.APIError
	if errors.As(err, &named) && named.ErrorFault() == smithy.FaultServer {
		return true
	}
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) ||
		retry.IsErrorRetryables(retry.DefaultRetryables).IsErrorRetryable(err).Bool() || tornAnswer(err).Bool()
}

// tornAnswer makes the SDK try again where the answer could not be read to its end, or is not the service's, which it takes for
// final.
func tornAnswer(err error) aws.Ternary {
	var unreadable *smithy.DeserializationError
	if errors.As(err, &unreadable) {
		return aws.TrueTernary
	}
	return aws.UnknownTernary
}
