// Package sender sends one HTTP request to an endpoint that cannot be trusted. The request is limited in time and size
// and goes to public addresses only. Its Result contains messages that can be shown to the owner of the endpoint.
//
// Package delivery decides when and how often a request is sent, and what its result means. Package signature signs it.
package sender

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"strings"
	"time"

	"devplatform/shared/async"
	"devplatform/shared/clock"
	"devplatform/shared/publicnet"
)

const (
	// DefaultTimeout is the time limit of an attempt, if Options set none.
	DefaultTimeout = 15 * time.Second

	userAgent = "devplatform-webhooks/1"

	maxRead      = 16 << 10  // bytes of a response body that are read
	maxKept      = 1 << 10   // bytes of Result.Response
	maxHeader    = 16 << 10  // bytes of a response header
	maxHandshake = 32 << 10  // bytes that the endpoint sends in the TLS handshake
	maxReceived  = 256 << 10 // bytes that the endpoint sends in total, more than all that the other limits allow
	maxBuffered  = 64 << 10  // the smallest value that HTTP/2 allows
	maxSessions  = 64        // TLS sessions, of a few KB each. A hostile one has less than 1 MB.
)

// Request is a POST of Body to URL. Send sets Content-Type and User-Agent in a copy of Header.
type Request struct {
	URL    string
	Header http.Header
	Body   []byte
}

// Result is the result of one attempt.
type Result struct {
	StatusCode int           // 0 if there was no response
	Duration   time.Duration // of the attempt, until the response was read or the attempt failed
	Error      string        // a message for the owner of the endpoint; "" after a success
	Response   string        // the beginning of the response body: at most 1 KiB of valid UTF-8 that is safe to print
	TimedOut   bool          // the endpoint, or the lookup of its name, took too long
	Aborted    bool          // the caller's context ended before the attempt was complete; the endpoint did not fail
	RetryAfter time.Duration // the wait that a 429 or 503 asked for; 0 if it asked for none
	Gone       bool          // the status is 410: the endpoint no longer accepts deliveries
}

// OK reports whether the attempt succeeded: a 2xx was received in time. The response may be longer than the part that
// was read.
func (r Result) OK() bool { return r.Error == "" }

// Options configure a Sender.
type Options struct {
	AllowPrivate bool           // also allows http and private addresses; for the local platform
	Timeout      time.Duration  // of a whole attempt, from the DNS lookup to the end of the response; 0: DefaultTimeout
	Now          clock.Clock    // nil: clock.System
	Resolver     *net.Resolver  // nil: the resolver of the machine
	RootCAs      *x509.CertPool // nil: the root certificates of the machine
}

// Sender makes attempts. It keeps no connections between attempts, only the TLS sessions of the latest host names. It
// is safe for concurrent use.
type Sender struct {
	options   Options
	dialer    *net.Dialer
	transport *http.Transport // without a dial function: each attempt has a copy with its own
}

// New returns a Sender. It does no I/O.
func New(o Options) *Sender {
	o.Timeout = cmp.Or(o.Timeout, DefaultTimeout)
	if o.Now == nil {
		o.Now = clock.System
	}
	dialer := &net.Dialer{Timeout: o.Timeout, Resolver: o.Resolver, KeepAlive: -1} // no keep-alive probes
	if !o.AllowPrivate {
		dialer.Control = publicnet.Control()
	}
	return &Sender{options: o, dialer: dialer, transport: &http.Transport{
		Proxy: nil, // never from the environment: a proxy could connect to private addresses
		TLSClientConfig: &tls.Config{
			MinVersion: tls.VersionTLS12, RootCAs: o.RootCAs,
			// TLS sessions allow handshakes that do not verify the certificate again. A session belongs to one host name. It
			// is stored after the certificate was verified for that name, and is not used after the certificate has expired.
			ClientSessionCache: tls.NewLRUClientSessionCache(maxSessions),
		},
		ForceAttemptHTTP2:      true,
		DisableKeepAlives:      true,
		DisableCompression:     true, // so that the limits apply to the bytes that the endpoint sent
		MaxResponseHeaderBytes: maxHeader,
		// By default, HTTP/2 allows an endpoint to send 4 MiB before anything is read.
		HTTP2: &http.HTTP2Config{
			MaxReceiveBufferPerConnection: maxBuffered, MaxReceiveBufferPerStream: maxBuffered, MaxReadFrameSize: maxRead,
		},
	}}
}

// The causes for which the context of an attempt ends; see attemptContext.
var (
	errTimedOut = errors.New("sender: the attempt timed out")
	errAborted  = errors.New("sender: the caller's context ended")
)

// Send makes one attempt: one DNS lookup, one connection, one request.
func (s *Sender) Send(parent context.Context, request Request) (result Result) {
	start := s.options.Now()
	defer func() { result.Duration = max(0, s.options.Now().Sub(start)) }()
	if _, err := checkForm(request.URL, s.options.AllowPrivate); err != nil {
		return Result{Error: "the url " + err.Error()}
	}
	if parent.Err() != nil {
		return Result{Error: messageAborted, Aborted: true}
	}
	ctx, cancel := s.attemptContext(parent)
	defer cancel()
	ctx, stages := trackStage(ctx)
	httpRequest, err := http.NewRequestWithContext(ctx, http.MethodPost, request.URL, bytes.NewReader(request.Body))
	if err != nil {
		return Result{Error: messageURL}
	}
	// The request line must be ASCII. If RawPath is empty, package url encodes the path.
	u := httpRequest.URL
	u.RawPath, u.RawQuery = encodeNonASCII(u.RawPath), encodeNonASCII(u.RawQuery)
	maps.Copy(httpRequest.Header, request.Header)
	httpRequest.Header.Set("Content-Type", "application/json")
	httpRequest.Header.Set("User-Agent", userAgent)
	// A shared transport would send attempts to the same host over one HTTP/2 connection. The transport is used without
	// an http.Client, which would follow redirects, and send cookies, referrers and the credentials of the URL.
	transport := s.transport.Clone()
	transport.DialContext = (&singleDial{dialer: s.dialer, stages: stages}).dial
	defer transport.CloseIdleConnections()
	response, err := transport.RoundTrip(httpRequest)
	if err != nil {
		return s.withoutResponse(ctx, stages.reached.Load(), err)
	}
	defer func() { _ = response.Body.Close() }()
	result = Result{
		StatusCode: response.StatusCode, Error: statusMessage(response.StatusCode),
		Gone: response.StatusCode == http.StatusGone, RetryAfter: s.retryAfter(response),
	}
	if response.StatusCode == http.StatusSwitchingProtocols {
		return result // the following bytes are not a response body
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxRead))
	result.Response = printable(body)
	if err != nil { // if the status is a failure, its message is kept
		end := s.endOf(ctx)
		result.Aborted, result.TimedOut = end.Aborted, end.TimedOut
		result.Error = strings.TrimPrefix(result.Error+"; "+cmp.Or(end.Error, messageIncomplete), "; ")
	}
	return result
}

// attemptContext returns a context that ends when the caller's context ends or the attempt times out. context.Cause
// returns errAborted or errTimedOut. The context's deadline is later: a connection can fail because of a deadline
// before the context ends, and the cause would be unknown.
func (s *Sender) attemptContext(parent context.Context) (context.Context, func()) {
	detached, cancelDetached := async.Detach(parent, 2*s.options.Timeout)
	ctx, cancel := context.WithCancelCause(detached)
	stop := async.WhenDone(parent, func() { cancel(errAborted) })
	timer := async.AfterFunc(s.options.Timeout, func() { cancel(errTimedOut) })
	return ctx, func() {
		timer.Stop()
		stop()
		cancel(nil)
		cancelDetached()
	}
}
