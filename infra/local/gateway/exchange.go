package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"time"

	"devplatform/infra/local/runtime"
)

const (
	// API Gateway's limits in bytes: on the body of a request, on all header values of a request together, and on the URL
	// of a regional API.
	maxBody    = 10 << 20
	maxHeaders = 10240
	maxURL     = 10240
	// drainLimit is how many bytes of a too large body are read before the response: clients that write before they read
	// would otherwise see a broken connection.
	drainLimit = 64 << 20
)

// exchange is a request and its response. It counts the bytes that are written.
type exchange struct {
	http.ResponseWriter

	gateway *Gateway
	control *http.ResponseController // a recorder in a test supports no deadlines and no flushing
	q       *request
	status  int   // 0 until the head of the response is sent
	bytes   int64 // of the body
	cause   error // why the gateway itself responded, or ended the response early
}

// WriteHeader implements http.ResponseWriter.
func (x *exchange) WriteHeader(status int) {
	x.status = status
	x.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (x *exchange) Write(b []byte) (int, error) {
	if x.status == 0 {
		x.status = http.StatusOK
	}
	n, err := x.ResponseWriter.Write(b)
	x.bytes += int64(n)
	if err != nil {
		return n, fmt.Errorf("write to the client: %w", err)
	}
	return n, nil
}

func (x *exchange) serve() error {
	hasBody := x.q.hasBody()
	if hasBody { // even if it is not read here: net/http reads the rest of it
		_ = x.control.SetReadDeadline(after(x.gateway.options.BodyTimeout))
	}
	if accept := x.gateway.options.AcceptHost; accept != nil && !accept(x.q.Host) {
		return errHost
	}
	if err := x.resolve(); err != nil {
		if errors.Is(err, errNoRoute) && x.wantsLanding() {
			x.gateway.options.Landing.ServeHTTP(x, x.q.Request)
			return nil
		}
		return err
	}
	if hasBody {
		if err := x.readBody(); err != nil {
			return err
		}
	}
	event, err := x.gateway.event(x.q)
	if err != nil {
		return err
	}
	if len(event) > runtime.MaxPayload {
		return errTooLarge
	}
	x.q.body = nil // the event has it
	ctx, cancel := context.WithTimeout(context.WithoutCancel(x.q.Context()), x.q.route.timeout)
	defer cancel()
	response, err := x.gateway.options.Invoke(ctx, runtime.Invocation{
		Function: x.q.route.function, RequestID: x.q.ids.request, Payload: event, TraceID: x.q.ids.trace,
		Stream: x.q.route.stream,
	})
	if err != nil {
		return fmt.Errorf("invoke: %w", err)
	}
	if response.FunctionError != nil {
		_ = response.Body.Close()
		return response.FunctionError
	}
	x.Header()[headerTrace] = []string{x.q.ids.trace}
	if x.q.route.stream {
		return x.stream(ctx, response)
	}
	return x.buffer(response)
}

// wantsLanding reports whether a request that no route matches gets the landing page.
func (x *exchange) wantsLanding() bool {
	reads := x.q.Method == http.MethodGet || x.q.Method == http.MethodHead
	return x.gateway.options.Landing != nil && x.q.path == "/" && reads
}

// resolve finds the route of the request, and checks its URL and the size of its headers.
func (x *exchange) resolve() error {
	q := x.q
	q.path = cmp.Or(q.URL.EscapedPath(), "/")
	if len(q.RequestURI) > maxURL {
		return errURLTooLong
	}
	if headerSize(q.Request) > maxHeaders {
		return errHeadersTooLong
	}
	var err error
	if q.query, err = parseQuery(q.URL.RawQuery); err != nil {
		return err
	}
	if q.route, q.values = x.gateway.router.match(q.Method, q.path); q.route == nil {
		return errNoRoute
	}
	return nil
}

func (q *request) hasBody() bool {
	return q.ContentLength != 0 && q.Body != nil && q.Body != http.NoBody
}

// readBody reads the whole body: API Gateway does not stream requests.
func (x *exchange) readBody() error {
	q := x.q
	if q.ContentLength > maxBody {
		x.drain()
		return errTooLarge
	}
	body, err := io.ReadAll(io.LimitReader(q.Body, maxBody+1))
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return errSlowBody
	case err != nil:
		return errBadRequest
	case len(body) > maxBody:
		x.drain()
		return errTooLarge
	}
	_ = x.control.SetReadDeadline(time.Time{})
	q.body = body
	return nil
}

// after returns the system's time in d. Deadlines of connections use the system's clock.
func after(d time.Duration) time.Time {
	return time.Now().Add(d) //nolint:forbidigo // see above
}

// drain reads a body that is refused, unless the client waits for 100 Continue.
func (x *exchange) drain() {
	if x.q.Header.Get("Expect") == "" {
		_, _ = io.Copy(io.Discard, io.LimitReader(x.q.Body, drainLimit))
	}
}

// buffer sends a response that is complete.
func (x *exchange) buffer(response *runtime.Response) error {
	parsed, err := x.gateway.parseResponse(response.Payload)
	_ = response.Body.Close() // parsed is a copy
	if err != nil {
		return err
	}
	x.setWriteDeadline(time.Time{})
	parsed.send(x)
	return nil
}

// setWriteDeadline limits the time in which the client must read the next bytes. The deadline is not after end,
// unless end is zero.
func (x *exchange) setWriteDeadline(end time.Time) {
	timeout := x.gateway.options.BodyTimeout
	if x.q.hasBody() {
		timeout += readHeaderTimeout // net/http first reads the rest of the body, which has its own time-out
	}
	at := after(timeout)
	if !end.IsZero() && end.Before(at) {
		at = end
	}
	_ = x.control.SetWriteDeadline(at)
}

// stream sends a response as it arrives. At a limit, and if the client disconnects, it closes the response, which ends
// a read. The runtime drains a response that is closed early: as on AWS, the function is not interrupted.
func (x *exchange) stream(ctx context.Context, response *runtime.Response) error {
	end, _ := ctx.Deadline()
	s := &streamer{exchange: x, end: end}
	ctx, cancel := context.WithCancelCause(ctx)
	defer context.AfterFunc(ctx, func() { _ = response.Body.Close() })()
	defer context.AfterFunc(x.q.Context(), func() { cancel(errGone) })()
	idle := x.gateway.options.StreamIdle
	silence := time.AfterFunc(idle, func() { cancel(errIdle) })
	defer silence.Stop()
	defer func() { _ = response.Body.Close() }()
	for buffer := make([]byte, streamChunk); ; {
		n, err := response.Body.Read(buffer)
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		if n > 0 {
			if err := s.take(buffer[:n]); err != nil {
				return err
			}
			silence.Reset(idle)
		}
		switch {
		case errors.Is(err, io.EOF) && !s.begun:
			return errPrelude
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("read the stream: %w", err)
		}
	}
}

// refuse responds with a gateway response. If another response has begun, refuse ends that response early.
func (x *exchange) refuse(err error) {
	x.cause = err
	if errors.Is(err, errGone) || x.status != 0 {
		panic(http.ErrAbortHandler)
	}
	x.Header().Del(headerTrace)
	x.setWriteDeadline(time.Time{})
	x.gateway.fail(x, x.q, failureOf(err))
}

// log writes the request's line.
func (x *exchange) log() {
	q, o := x.q, x.gateway.options
	attributes := []slog.Attr{
		slog.String("method", q.Method), slog.String("path", q.path), slog.Int("status", x.status),
		slog.Float64("ms", float64(o.Now().Sub(q.received).Microseconds())/1000), slog.Int64("bytes", x.bytes),
	}
	if q.route != nil {
		attributes = append(attributes, slog.String("function", q.route.function))
	}
	attributes = append(attributes, slog.String("requestId", q.ids.request))
	if x.cause != nil {
		attributes = append(attributes, slog.String("error", x.cause.Error()))
	}
	o.Logger.LogAttrs(context.WithoutCancel(q.Context()), slog.LevelInfo, "request", attributes...)
}
