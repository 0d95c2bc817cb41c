package apigateway

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/aws/aws-lambda-go/events"
	"github.com/go-json-experiment/json/jsontext"

	"devplatform/shared/lambdafn"
)

// StreamFunction is a handler for lambda.Start behind an integration whose transfer mode is STREAM: API Gateway's proxy event in,
// status and headers out, and the body as it is written.
type StreamFunction func(context.Context, jsontext.Value) (*events.APIGatewayProxyStreamingResponse, error)

// NewStream makes the function's handler of a router some of whose answers are streams. An answer begins at its first flush, or
// when it is whole. The invocation lasts until the router's handler has returned, whether or not anybody still reads; a handler that
// panics after the first flush cuts the body, which its reader sees as an error.
//
// It must be a function, not a type with an Invoke of its own: that one could only answer in one piece.
func NewStream(handler http.Handler) StreamFunction {
	requests := New(handler)
	return func(ctx context.Context, payload jsontext.Value) (*events.APIGatewayProxyStreamingResponse, error) {
		ctx, cancel := lambdafn.WithMargin(ctx)
		r := requests.request(ctx, payload)
		s := newStreamed(r.Method == http.MethodHead, cancel)
		go s.serve(handler, r)
		<-s.begun
		return s.response()
	}
}

// errCut ends a body whose handler broke off.
var errCut = errors.New("apigateway: the answer was cut off")

// streamed is an answer on its way: its handler writes in one goroutine, Lambda's client reads in another. Between the two is a buffer
// without a bound, so that a slow reader holds up no handler: what that has begun it must be able to finish within the function's time.
type streamed struct {
	header http.Header // the handler's own
	noBody bool        // of an answer to HEAD, which the gateway passes on as it is
	cancel context.CancelFunc
	begun  chan struct{} // closed once status and headers stand, or there will be none
	ended  chan struct{} // closed once the handler has returned

	mu     sync.Mutex
	more   sync.Cond // the body has grown or ended
	status int       // 0 until the handler chose it
	sent   http.Header
	body   bytes.Buffer
	err    error // what the reader gets after the body; nil while more may come
	closed bool  // nobody reads any more
}

func newStreamed(noBody bool, cancel context.CancelFunc) *streamed {
	s := &streamed{
		header: http.Header{}, noBody: noBody, cancel: cancel,
		begun: make(chan struct{}), ended: make(chan struct{}),
	}
	s.more.L = &s.mu
	return s
}

// serve runs the handler to its end.
func (s *streamed) serve(handler http.Handler, r *http.Request) {
	defer close(s.ended)
	defer s.cancel()
	end := errCut
	defer func() {
		if cause := recover(); cause != nil {
			end = fmt.Errorf("%w: %v", errCut, cause)
		}
		s.end(end)
	}()
	handler.ServeHTTP(s, r)
	end = io.EOF
}

// end tells the reader that nothing more comes. An answer that broke off before it had begun is none.
func (s *streamed) end(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sent == nil && errors.Is(err, io.EOF) {
		s.begin()
	}
	s.err = err
	s.more.Signal()
	if s.sent == nil {
		close(s.begun)
	}
}

// begin settles status and headers. The caller holds mu.
func (s *streamed) begin() {
	if s.status == 0 {
		s.status = http.StatusOK
	}
	s.sent = s.header.Clone()
	close(s.begun)
}

// response is the answer for Lambda's client. Error: the handler's, if it broke off before there was an answer.
func (s *streamed) response() (*events.APIGatewayProxyStreamingResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sent == nil {
		return nil, s.err
	}
	return &events.APIGatewayProxyStreamingResponse{StatusCode: s.status, MultiValueHeaders: s.sent, Body: s}, nil
}

// Header are the headers that the answer begins with.
func (s *streamed) Header() http.Header { return s.header }

// WriteHeader keeps the first status, as net/http does.
func (s *streamed) WriteHeader(status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.status == 0 {
		s.status = status
	}
}

// Write never waits for the reader. Error: http.ErrBodyNotAllowed; io.ErrClosedPipe, if nobody reads.
func (s *streamed) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.status == http.StatusNoContent, s.status == http.StatusNotModified:
		return 0, http.ErrBodyNotAllowed
	case s.noBody:
		return len(p), nil
	case s.closed:
		return 0, io.ErrClosedPipe
	}
	if s.status == 0 {
		s.status = http.StatusOK
	}
	n, err := s.body.Write(p)
	s.more.Signal()
	return n, err //nolint:wrapcheck // a buffer takes everything
}

// FlushError begins the answer; what is written after that goes at once. Error: io.ErrClosedPipe, if nobody reads.
func (s *streamed) FlushError() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sent == nil {
		s.begin()
	}
	if s.closed {
		return io.ErrClosedPipe
	}
	return nil
}

// Read waits for more of the body. Lambda's client makes a function error of any error but io.EOF, and drops what would come with it.
func (s *streamed) Read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.body.Len() == 0 && s.err == nil && !s.closed {
		s.more.Wait()
	}
	switch {
	case s.closed:
		return 0, io.ErrClosedPipe
	case s.body.Len() == 0:
		return 0, s.err
	}
	return s.body.Read(p) //nolint:wrapcheck // there are bytes
}

// Close ends the handler, if it still runs, and waits for it: Lambda freezes the process when the invocation is over.
func (s *streamed) Close() error {
	s.mu.Lock()
	s.closed = true
	s.more.Signal()
	s.mu.Unlock()
	s.cancel()
	<-s.ended
	return nil
}
