package apigateway

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"sync"

	"github.com/aws/aws-lambda-go/events"
	"github.com/go-json-experiment/json/jsontext"

	"devplatform/shared/async"
	"devplatform/shared/lambdafn"
)

// StreamFunction is a handler for lambda.Start. It is for an API Gateway integration whose transfer mode is STREAM. It
// takes a proxy event of API Gateway, and returns as soon as the status and the headers are known. Lambda reads the
// body while the handler writes it.
type StreamFunction func(context.Context, jsontext.Value) (*events.APIGatewayProxyStreamingResponse, error)

// Unbounded is the size of a buffer without a limit, for small responses (see NewStream).
const Unbounded = math.MaxInt

// NewStream returns the Lambda handler for a router that streams some of its responses. A response starts at its first
// flush, or when it is complete. The invocation lasts until the router has returned, even if the client has
// disconnected. If the router panics after the first flush, reading the body fails with an error.
//
// maxUnread is the size in bytes of the buffer of a response. If the buffer is full, the response starts, and Write
// waits until the client has read more. If the request's context ends while the buffer is full, Write returns an error.
//
// NewStream returns a function and not a type with an Invoke method, because Invoke can only return complete responses.
func NewStream(handler http.Handler, maxUnread int) StreamFunction {
	requests := New(handler)
	return func(ctx context.Context, payload jsontext.Value) (*events.APIGatewayProxyStreamingResponse, error) {
		ctx, finish := lambdafn.WithMargin(ctx)
		ctx, cancel := context.WithCancel(ctx)
		r := requests.request(ctx, payload)
		s := &streamedResponse{
			header: http.Header{}, noBody: r.Method == http.MethodHead, maxUnread: maxUnread, cancel: cancel, finish: finish,
			begun: make(chan struct{}), ended: make(chan struct{}),
		}
		s.more.L = &s.mu
		async.WhenDone(ctx, s.expire)
		async.Go(func() error {
			handler.ServeHTTP(s, r)
			return nil
		}, s.end)
		<-s.begun
		return s.response()
	}
}

// errIncomplete is the error that ends a body whose handler panicked.
var errIncomplete = errors.New("apigateway: the response is incomplete")

// streamedResponse is a response whose handler writes in one goroutine, and Lambda's runtime client reads in another.
// If the buffer between them is unbounded, a slow reader does not delay the handler, which must finish within the
// function's time limit. If the buffer is bounded, a large response does not need more memory than a small one.
type streamedResponse struct {
	header    http.Header        // set by the handler
	noBody    bool               // the method is HEAD; the gateway does not remove the body of a streamed response
	maxUnread int                // the size of body above which Write waits
	cancel    context.CancelFunc // cancels the context of the request
	finish    func()             // waits for the work beside the invocation
	begun     chan struct{}      // closed when the status and the headers are final, or if the handler panics before that
	ended     chan struct{}      // closed when the handler has returned

	mu     sync.Mutex
	more   sync.Cond    // signaled when the body has grown, shrunk or ended
	status int          // 0 until the handler sets it
	sent   http.Header  // the final headers; nil until the response starts
	body   bytes.Buffer // the bytes that Read has not returned yet
	err    error        // the result of Read at the end of the body; nil while the handler may write more
	// isClosed reports whether the reader has closed the body, and isExpired whether the context of the request has ended.
	isClosed, isExpired bool
}

// end ends the body after the handler has returned. panicked is the handler's panic, or nil. If the handler panicked
// before the response started, there is no response.
func (s *streamedResponse) end(panicked error) {
	defer close(s.ended)
	defer s.cancel()
	s.finish()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = io.EOF
	if panicked != nil {
		s.err = fmt.Errorf("%w: %w", errIncomplete, panicked)
	} else if s.sent == nil {
		s.begin()
	}
	s.more.Signal()
	if s.sent == nil {
		close(s.begun)
	}
}

// begin makes the status and the headers final. The caller must hold mu.
func (s *streamedResponse) begin() {
	if s.status == 0 {
		s.status = http.StatusOK
	}
	s.sent = s.header.Clone()
	close(s.begun)
}

// response returns the response for Lambda's runtime client. It returns an error if the handler panicked before the
// response started.
func (s *streamedResponse) response() (*events.APIGatewayProxyStreamingResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sent == nil {
		return nil, s.err
	}
	return &events.APIGatewayProxyStreamingResponse{StatusCode: s.status, MultiValueHeaders: s.sent, Body: s}, nil
}

// Header returns the headers with which the response starts.
func (s *streamedResponse) Header() http.Header { return s.header }

// WriteHeader sets the status. As in net/http, only the first call has an effect.
func (s *streamedResponse) WriteHeader(status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.status == 0 {
		s.status = status
	}
}

// expire wakes a Write that waits.
func (s *streamedResponse) expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.isExpired = true
	s.more.Broadcast()
}

// wait starts the response and waits until the buffer is not full. The caller must hold mu.
func (s *streamedResponse) wait() {
	for s.body.Len() >= s.maxUnread && !s.isClosed && !s.isExpired {
		if s.sent == nil {
			s.begin()
		}
		s.more.Wait()
	}
}

// Write appends to the body. It waits for the reader only if the buffer is bounded and full. Errors:
// http.ErrBodyNotAllowed; io.ErrClosedPipe if the reader has closed the body; context.DeadlineExceeded if the request's
// context ended while the buffer was full.
func (s *streamedResponse) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.status == http.StatusNoContent, s.status == http.StatusNotModified:
		return 0, http.ErrBodyNotAllowed
	case s.noBody:
		return len(p), nil
	}
	if s.wait(); s.isClosed {
		return 0, io.ErrClosedPipe
	}
	if s.body.Len() >= s.maxUnread {
		return 0, context.DeadlineExceeded
	}
	if s.status == 0 {
		s.status = http.StatusOK
	}
	n, err := s.body.Write(p)
	s.more.Signal()
	return n, err
}

// FlushError starts the response. Error: io.ErrClosedPipe if the reader has closed the body.
func (s *streamedResponse) FlushError() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sent == nil {
		s.begin()
	}
	if s.isClosed {
		return io.ErrClosedPipe
	}
	return nil
}

// Read waits for the next part of the body. Lambda's runtime client reports every error except io.EOF as a function
// error, and ignores bytes that are returned together with an error.
func (s *streamedResponse) Read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.body.Len() == 0 && s.err == nil && !s.isClosed {
		s.more.Wait()
	}
	switch {
	case s.isClosed:
		return 0, io.ErrClosedPipe
	case s.body.Len() == 0:
		return 0, s.err
	}
	defer s.more.Signal()
	return s.body.Read(p)
}

// Close cancels the handler's context and waits until the handler has returned, because Lambda freezes the process
// after the invocation.
func (s *streamedResponse) Close() error {
	s.mu.Lock()
	s.isClosed = true
	s.more.Signal()
	s.mu.Unlock()
	s.cancel()
	<-s.ended
	return nil
}
