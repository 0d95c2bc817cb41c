// Package sender makes one HTTP attempt at an endpoint that nobody here has reason to trust: it is bounded in time and size,
// goes to public addresses only, and ends in a Result whose words can be shown to the endpoint's owner.
// When to try, how often and what is made of a result belong to the delivery pipeline; signing belongs to signature.
package sender

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"time"

	"devplatform/shared/clock"
)

const (
	defaultTimeout   = 15 * time.Second
	defaultUserAgent = "devplatform-webhooks/1"

	maxRead     = 16 << 10 // bytes of a response body; the rest is not read
	maxKept     = 1 << 10
	maxHeader   = 64 << 10
	maxBuffered = 64 << 10 // the smallest value that HTTP/2 allows
	maxSessions = 256      // a few KB each
)

// Request is what is sent: a POST of Body to URL. Header is not changed; Content-Type and User-Agent are set over it.
type Request struct {
	URL    string
	Header http.Header
	Body   []byte
}

// Result is what came of one attempt.
type Result struct {
	StatusCode int           // 0 if no answer came
	Duration   time.Duration // from the call to the end of the answer, or of the attempt
	Error      string        // a sentence for the endpoint's owner; "" after a success
	Response   string        // the beginning of the answer: at most 1 KiB of valid UTF-8 that is safe to print
	TimedOut   bool          // the endpoint, or finding it, took too long
	Aborted    bool          // the caller's context ended first, which says nothing about the endpoint
	RetryAfter time.Duration // what a 429 or 503 asked for; 0 if it asked for nothing
	Gone       bool          // a 410: the endpoint wants no more deliveries
}

// OK reports a success: a 2xx, received within the time. An answer may be longer than what is read of it.
func (r Result) OK() bool { return r.Error == "" }

// Options of a Sender; the zero value is what the deployed service uses.
type Options struct {
	AllowPrivate bool           // also http, and addresses that are not public: the local platform
	Timeout      time.Duration  // of a whole attempt, from the look-up of the name to the end of the answer; 15 s
	Now          clock.Clock    // clock.System, if nil
	Resolver     *net.Resolver  // nil: the machine's
	RootCAs      *x509.CertPool // nil: the machine's
	UserAgent    string         // "devplatform-webhooks/1"
}

// Sender makes attempts. It keeps no connection between them, only the TLS sessions of the latest host names, and is safe for
// concurrent use.
type Sender struct {
	options Options
	dialer  *net.Dialer
	// sessions let a host be greeted again without proving its certificate anew: a session is of one name, is kept only once the
	// certificate was verified for it, and is no longer taken once that has expired.
	sessions tls.ClientSessionCache
	words    sentences
}

// New makes a Sender. It touches no network.
func New(o Options) *Sender {
	o.Timeout = cmp.Or(o.Timeout, defaultTimeout)
	o.UserAgent = cmp.Or(o.UserAgent, defaultUserAgent)
	if o.Now == nil {
		o.Now = clock.System
	}
	dialer := &net.Dialer{Timeout: o.Timeout, Resolver: o.Resolver, KeepAlive: -1}
	if !o.AllowPrivate {
		dialer.Control = publicOnly()
	}
	return &Sender{
		options: o, dialer: dialer, sessions: tls.NewLRUClientSessionCache(maxSessions), words: sentences{within: o.Timeout},
	}
}

// Why an attempt's context ended; see attemptContext.
var (
	errTimedOut = errors.New("sender: the attempt's time is up")
	errAborted  = errors.New("sender: the caller's context ended")
)

// Send makes one attempt: one look-up, one connection, one request, whatever comes of it.
func (s *Sender) Send(ctx context.Context, request Request) Result {
	start := s.options.Now()
	result := s.attempt(ctx, request)
	result.Duration = max(0, s.options.Now().Sub(start))
	return result
}

func (s *Sender) attempt(parent context.Context, request Request) Result {
	if err := CheckURL(request.URL, s.options.AllowPrivate); err != nil {
		return Result{Error: "the url " + err.Error()}
	}
	if parent.Err() != nil {
		return Result{Error: sentenceAborted, Aborted: true}
	}
	ctx, cancel := s.attemptContext(parent)
	defer cancel()
	ctx, stage := withStage(ctx)
	httpRequest, err := s.newRequest(ctx, request)
	if err != nil {
		return Result{Error: sentenceURL}
	}
	transport := s.newTransport()
	defer transport.CloseIdleConnections()
	// The transport itself, not http.Client: so there are no redirects, cookies, referrers or credentials from the URL.
	response, err := transport.RoundTrip(httpRequest)
	if err != nil {
		return s.words.noAnswer(ctx, stage.get(), err)
	}
	defer func() { _ = response.Body.Close() }()
	return s.read(ctx, response)
}

// attemptContext ends when the caller's ends or the attempt's time is up, and its cause says which. It has no deadline of its own:
// the network would notice that a moment before the context does, and the cause would be a guess.
func (s *Sender) attemptContext(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(parent))
	forget := context.AfterFunc(parent, func() { cancel(errAborted) })
	timer := time.AfterFunc(s.options.Timeout, func() { cancel(errTimedOut) })
	return ctx, func() {
		timer.Stop()
		forget()
		cancel(nil)
	}
}

func (s *Sender) newRequest(ctx context.Context, request Request) (*http.Request, error) {
	httpRequest, err := http.NewRequestWithContext(ctx, http.MethodPost, request.URL, bytes.NewReader(request.Body))
	if err != nil {
		return nil, err //nolint:wrapcheck // only whether there is one is asked
	}
	encodeURL(httpRequest.URL)
	for name, values := range request.Header {
		httpRequest.Header[name] = values
	}
	httpRequest.Header.Set("Content-Type", "application/json")
	httpRequest.Header.Set("User-Agent", s.options.UserAgent)
	return httpRequest, nil
}

// newTransport is for one attempt: a transport that is shared would put attempts at the same host on one HTTP/2 connection.
func (s *Sender) newTransport() *http.Transport {
	dial := &singleDial{dialer: s.dialer}
	return &http.Transport{
		Proxy:                  nil, // never from the environment: a proxy would dial what we may not
		DialContext:            dial.dial,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: s.options.RootCAs, ClientSessionCache: s.sessions},
		ForceAttemptHTTP2:      true,
		DisableKeepAlives:      true,
		DisableCompression:     true, // nothing is unpacked, so that the bounds are those of what was sent
		MaxResponseHeaderBytes: maxHeader,
		// Unless told otherwise, HTTP/2 invites an endpoint to send 4 MiB before anything is read.
		HTTP2: &http.HTTP2Config{MaxReceiveBufferPerConnection: maxBuffered, MaxReceiveBufferPerStream: maxBuffered, MaxReadFrameSize: maxRead},
	}
}

// read takes what is wanted of the answer and judges it.
func (s *Sender) read(ctx context.Context, response *http.Response) Result {
	result := Result{
		StatusCode: response.StatusCode,
		Error:      statusSentence(response.StatusCode),
		Gone:       response.StatusCode == http.StatusGone,
		RetryAfter: s.retryAfter(response),
	}
	if response.StatusCode == http.StatusSwitchingProtocols {
		return result // what follows is not an answer's body
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxRead))
	result.Response = printable(body)
	if err != nil {
		s.words.brokenOff(ctx, &result)
	}
	return result
}
