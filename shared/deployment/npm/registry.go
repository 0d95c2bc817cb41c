package npm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"devplatform/shared/deployment/failure"
	"devplatform/shared/publicnet"
	"devplatform/shared/retry"
)

const (
	requestTimeout = 15 * time.Second // of one attempt, until the end of the response
	connectTimeout = 3 * time.Second
	attempts       = 3
	connections    = 16       // requests at the same time
	maxHeader      = 64 << 10 // bytes of a response's header
	maxRedirects   = 5
	userAgent      = "devplatform-builds/1"
)

// registry is a client of an npm registry.
type registry struct {
	base    *url.URL // its user and password are sent with basic authentication
	err     error    // why the URL of the registry cannot be used
	client  *http.Client
	timeout time.Duration
	slots   chan struct{} // limits the requests at the same time
}

var errOtherOrigin = errors.New("the registry redirected the request to another origin")

func newRegistry(raw string, allowPrivate bool, timeout time.Duration) *registry {
	r := &registry{timeout: timeout, slots: make(chan struct{}, connections)}
	dialer := &net.Dialer{Timeout: connectTimeout}
	transport := &http.Transport{
		DialContext:            dialer.DialContext,
		TLSHandshakeTimeout:    connectTimeout,
		ForceAttemptHTTP2:      true,
		MaxIdleConnsPerHost:    connections,
		IdleConnTimeout:        time.Minute,
		MaxResponseHeaderBytes: maxHeader,
	}
	if allowPrivate {
		transport.Proxy = http.ProxyFromEnvironment // a laptop may reach its registry only through a proxy
	} else {
		dialer.Control = publicnet.Control()
	}
	r.client = &http.Client{Transport: transport, CheckRedirect: r.checkRedirect}
	r.base, r.err = url.Parse(strings.TrimRight(raw, "/"))
	if r.err == nil && (r.base.Host == "" || r.base.Scheme != "https" && (!allowPrivate || r.base.Scheme != "http")) {
		r.err = errors.New("the URL is not an https URL")
	}
	return r
}

// isSameOrigin reports whether u has the scheme, host and port of the registry.
func (r *registry) isSameOrigin(u *url.URL) bool {
	return u.Scheme == r.base.Scheme && strings.EqualFold(u.Host, r.base.Host) && u.User == nil
}

func (r *registry) checkRedirect(request *http.Request, via []*http.Request) error {
	if !r.isSameOrigin(request.URL) || len(via) > maxRedirects {
		return errOtherOrigin
	}
	return nil
}

// tarballURL returns the URL of a version's tarball: the URL in the registry's document if it has the registry's
// origin, otherwise the conventional URL.
func (r *registry) tarballURL(s selectedPackage) string {
	if u, err := url.Parse(s.tarball); err == nil && r.isSameOrigin(u) {
		return s.tarball
	}
	base := s.name[strings.LastIndexByte(s.name, '/')+1:]
	return r.base.String() + "/" + s.name + "/-/" + base + "-" + url.PathEscape(s.version) + ".tgz"
}

var (
	// errMissing means that the registry does not have the resource, or does not show it.
	errMissing = errors.New("npm: not in the registry")
	errRefused = errors.New("npm: the registry refused access")
)

// get requests a URL of the registry, and calls read with the body of the response. what describes the resource to
// people. get repeats the request if the connection breaks or the registry fails, and then calls read again. Errors:
// errMissing; errRefused with a *failure.Error; *failure.Error; the errors of read, unless the connection caused them.
func (r *registry) get(ctx context.Context, target, accept, what string, read func(io.Reader) error) (err error) {
	select {
	case r.slots <- struct{}{}:
		defer func() { <-r.slots }()
	case <-ctx.Done():
		return ctx.Err()
	}
	// The first wait is 100 to 400 ms, the second wait 200 to 800 ms.
	wait := func(failures int) time.Duration { return 5 * retry.Jitter(failures+1) }
	for range retry.Attempts(ctx, attempts, wait) {
		var canRetry bool
		if canRetry, err = r.try(ctx, target, accept, what, read); !canRetry || ctx.Err() != nil {
			break
		}
	}
	return err
}

// try sends a request once. canRetry is true if the failure can be transient.
func (r *registry) try(
	parent context.Context, target, accept, what string, read func(io.Reader) error,
) (canRetry bool, err error) {
	ctx, cancel := context.WithTimeout(parent, r.timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return false, errMissing
	}
	request.Header.Set("User-Agent", userAgent)
	if user := r.base.User; user != nil {
		password, _ := user.Password()
		request.SetBasicAuth(user.Username(), password)
	}
	if accept != "" {
		request.Header.Set("Accept", accept)
	} else {
		request.Header.Set("Accept-Encoding", "identity") // a tarball is compressed already
	}
	response, err := r.client.Do(request)
	if err != nil {
		return connectionError(ctx, what, err)
	}
	defer func() { _ = response.Body.Close() }()
	switch status := response.StatusCode; {
	case status == http.StatusOK:
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return false, fmt.Errorf("%w: %w", errRefused, errUnavailable(what, "the npm registry refused access. The operator "+
			"of the platform must check the user and the password in NPM_REGISTRY"))
	case status >= http.StatusInternalServerError || status == http.StatusTooManyRequests:
		return true, errUnavailable(what, fmt.Sprintf("the npm registry failed with status %d. Deploy again later", status))
	default:
		return false, errMissing
	}
	body := &bodyReader{body: response.Body}
	if err = read(body); err != nil && body.err != nil {
		return connectionError(ctx, what, body.err)
	}
	return false, err
}

func errUnavailable(what, reason string) error {
	return fail(failure.DependencyNotFound, "%s cannot be downloaded: %s.", what, reason)
}

// connectionError returns the error for people about a request without a complete response. ctx is the context of the
// request.
func connectionError(ctx context.Context, what string, err error) (canRetry bool, _ error) {
	switch {
	case errors.Is(err, errOtherOrigin):
		return false, errUnavailable(what, "the npm registry redirected the request to another origin, which is not allowed")
	case publicnet.IsRejected(err):
		return false, errUnavailable(what, "the npm registry does not have a public address")
	case ctx.Err() != nil:
		return false, errUnavailable(what, "the npm registry did not respond in time. Deploy again later")
	}
	return true, errUnavailable(what, "the connection to the npm registry failed. Deploy again later")
}

// bodyReader remembers the error with which the body of a response ended.
type bodyReader struct {
	body io.Reader
	err  error
}

func (b *bodyReader) Read(p []byte) (int, error) {
	n, err := b.body.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		b.err = err
	}
	return n, err
}

// limitReader subtracts the bytes that it reads from a limit, which several readers can share. It returns err if the
// limit is exceeded.
type limitReader struct {
	reader io.Reader
	left   *atomic.Int64
	err    error
}

// limitOf returns a limit of n bytes.
func limitOf(n int64) *atomic.Int64 {
	left := new(atomic.Int64)
	left.Store(n)
	return left
}

func (l *limitReader) Read(p []byte) (int, error) {
	n, err := l.reader.Read(p)
	if l.left.Add(-int64(n)) < 0 {
		return 0, l.err
	}
	return n, err
}
