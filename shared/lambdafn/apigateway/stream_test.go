package apigateway_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/google/go-cmp/cmp"

	"devplatform/infra/edgetest"
	"devplatform/shared/config"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/lambdafn/apigateway"
)

// invokeStream calls the streaming function as Lambda's runtime client does.
func invokeStream(
	ctx context.Context, t *testing.T, h http.Handler, event events.APIGatewayProxyRequest,
) (*events.APIGatewayProxyStreamingResponse, error) {
	t.Helper()
	payload, err := json.Marshal(event)
	if err != nil {
		t.Fatal(err)
	}
	return apigateway.NewStream(h, apigateway.Unbounded)(ctx, payload)
}

// mustInvokeStream calls invokeStream and stops the test if the function fails. It closes the response at the end of
// the test.
func mustInvokeStream(
	t *testing.T, h http.Handler, event events.APIGatewayProxyRequest,
) *events.APIGatewayProxyStreamingResponse {
	t.Helper()
	r, err := invokeStream(t.Context(), t, h, event)
	if err != nil {
		t.Fatalf("the function failed: %v", err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

// streamRequest returns the event of a request to the endpoint of edgetest.StreamRouter.
func streamRequest() events.APIGatewayProxyRequest {
	e := edgetest.Event(http.MethodPost, "/api/stream")
	e.MultiValueHeaders["Content-Type"] = []string{"application/json"}
	e.MultiValueHeaders["Cookie"] = []string{"__Host-session=good"}
	e.Body = `{}`
	return e
}

// parseStream parses a streamed response in Lambda's format: the metadata as JSON, eight NUL bytes, and the body.
func parseStream(t *testing.T, data []byte) edgetest.Response {
	t.Helper()
	head, body, found := bytes.Cut(data, make([]byte, 8))
	var metadata struct {
		StatusCode        int         `json:"statusCode"`
		MultiValueHeaders http.Header `json:"multiValueHeaders"`
	}
	if err := json.Unmarshal(head, &metadata); err != nil || !found {
		t.Fatalf("got %q, error %v, want metadata, eight NUL bytes and the body", data, err)
	}
	return edgetest.Response{Status: metadata.StatusCode, Header: metadata.MultiValueHeaders, Body: string(body)}
}

// TestStreamedAndBufferedResponsesAreEqual checks that both kinds of function return the same complete responses.
func TestStreamedAndBufferedResponsesAreEqual(t *testing.T) {
	t.Parallel()
	router, _ := edgetest.NewRouter(config.Edge{CookiePlainHTTP: true})
	login := edgetest.Event(http.MethodPost, "/api/login")
	login.MultiValueHeaders["X-Forwarded-Proto"] = []string{"http"}
	invalid := edgetest.Event(http.MethodPost, "/api/signup")
	invalid.MultiValueHeaders["Content-Type"], invalid.Body = []string{"application/json"}, `{"email":"é"}`
	for name, event := range map[string]events.APIGatewayProxyRequest{
		"JSON":         edgetest.Event(http.MethodGet, "/api/list"),
		"two cookies":  login,
		"error":        edgetest.Event(http.MethodGet, "/api/me"),
		"invalid body": invalid,
		"panic":        edgetest.Event(http.MethodGet, "/api/panic"),
		"invalid path": edgetest.Event(http.MethodGet, "/api/%zz"),
		"no body":      edgetest.Event(http.MethodOptions, "/api/list"),
		"HEAD":         edgetest.Event(http.MethodHead, "/api/list"),
	} {
		payload, err := json.Marshal(event)
		if err != nil {
			t.Fatal(err)
		}
		// lambda.Start must recognize the function as one that streams.
		data, err := lambda.NewHandler(apigateway.NewStream(router, apigateway.Unbounded)).Invoke(t.Context(), payload)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got := parseStream(t, data)
		edgetest.CheckHeaders(t, got)
		want, _ := edgetest.Invoke(t, router, event)
		if event.HTTPMethod == http.MethodHead {
			want.Body = "" // the streamed response to HEAD has no body
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(edgetest.Response{})); diff != "" {
			t.Errorf("%s: the responses differ (-buffered +streamed):\n%s", name, diff)
		}
		wantCookies := []string{edgetest.SetSecure, edgetest.SetPlain}
		if cookies := got.Header["Set-Cookie"]; name == "two cookies" && !slices.Equal(cookies, wantCookies) {
			t.Errorf("%s: got Set-Cookie %q, want %q", name, cookies, wantCookies)
		}
	}
}

func TestStreamStartsAtFirstFlush(t *testing.T) {
	t.Parallel()
	received, mayReturn := make(chan bool), make(chan bool)
	router, log := edgetest.StreamRouter(func(ctx context.Context, s *httpapi.EventStream) error {
		for _, chunk := range []string{"1", "2", "3"} {
			edgetest.WriteChunk(t, s, chunk)
			<-received
		}
		if ctx.Err() != nil {
			t.Errorf("the context ended before the handler returned: %v", ctx.Err())
		}
		<-mayReturn
		return nil
	})
	r := mustInvokeStream(t, router, streamRequest())
	const wantType = "application/vnd.awslambda.http-integration-response"
	if r.ContentType() != wantType || r.Cookies != nil || r.Headers != nil {
		t.Errorf("got %+v, want the type %s and only MultiValueHeaders", r, wantType)
	}
	edgetest.CheckHeaders(t, edgetest.Response{Header: r.MultiValueHeaders})
	if r.StatusCode != 200 || http.Header(r.MultiValueHeaders).Get("X-Request-Id") != "req-1" {
		t.Errorf("got %d with the headers %v, want 200 with X-Request-Id req-1", r.StatusCode, r.MultiValueHeaders)
	}
	buffer := make([]byte, 100)
	for _, want := range []string{"1", "2", "3"} {
		n, err := r.Body.Read(buffer)
		if err != nil || string(buffer[:n]) != want {
			t.Fatalf("read %q, error %v, want %q", buffer[:n], err, want)
		}
		received <- true
	}
	ended := make(chan error)
	go func() {
		_, err := r.Body.Read(buffer)
		ended <- err
	}()
	select {
	case err := <-ended:
		t.Errorf("the body ended before the handler returned: %v", err)
	case mayReturn <- true:
	}
	if err := <-ended; !errors.Is(err, io.EOF) {
		t.Errorf("the body ended with the error %v, want EOF", err)
	}
	edgetest.WantLine(t, log, "INFO", 200, "")
}

func TestStreamPanicAfterFlush(t *testing.T) {
	t.Parallel()
	router, log := edgetest.StreamRouter(func(_ context.Context, s *httpapi.EventStream) error {
		edgetest.WriteChunk(t, s, "data: 1\n\n")
		panic("secret-detail")
	})
	r := mustInvokeStream(t, router, streamRequest())
	body, err := io.ReadAll(r.Body)
	if string(body) != "data: 1\n\n" || err == nil || strings.Contains(err.Error(), "secret-detail") {
		t.Errorf("read %q, error %v, want the first event and an error without details", body, err)
	}
	edgetest.WantLine(t, log, "ERROR", 200, fault.CodeInternal)
}

// TestStreamPanicBeforeFlush checks that the invocation fails if a handler panics before its first flush. The HTTP edge
// recovers from panics, so this test does not use the edge.
func TestStreamPanicBeforeFlush(t *testing.T) {
	t.Parallel()
	h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "incomplete")
		panic("broken")
	})
	_, err := invokeStream(t.Context(), t, h, edgetest.Event(http.MethodGet, "/"))
	if err == nil || !strings.Contains(err.Error(), "broken") {
		t.Errorf("got the error %v, want the panic", err)
	}
}

// TestStreamHandlerDoesNotWaitForReader checks that the handler can write 4 MiB while the client reads nothing, and
// that the client then reads all of it.
func TestStreamHandlerDoesNotWaitForReader(t *testing.T) {
	t.Parallel()
	finished := make(chan bool)
	chunk := strings.Repeat("x", 1<<10)
	router, _ := edgetest.StreamRouter(func(_ context.Context, s *httpapi.EventStream) error {
		for range 4 << 10 {
			edgetest.WriteChunk(t, s, chunk)
		}
		close(finished)
		return nil
	})
	r := mustInvokeStream(t, router, streamRequest())
	<-finished
	if n, err := io.Copy(io.Discard, r.Body); n != 4<<20 || err != nil {
		t.Errorf("read %d bytes, error %v, want 4 MiB", n, err)
	}
}

// TestStreamCloseEndsHandler checks that Close ends the handler's context and waits for the handler. Lambda's runtime
// client closes a response that it cannot send.
func TestStreamCloseEndsHandler(t *testing.T) {
	t.Parallel()
	var writeErr error
	returned := false
	router, _ := edgetest.StreamRouter(func(ctx context.Context, s *httpapi.EventStream) error {
		edgetest.WriteChunk(t, s, "data: 1\n\n")
		<-ctx.Done()
		_, writeErr = io.WriteString(s, "data: 2\n\n")
		if err := s.FlushError(); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("flush after Close: got %v, want %v", err, io.ErrClosedPipe)
		}
		returned = true
		return nil
	})
	r := mustInvokeStream(t, router, streamRequest())
	if err := r.Close(); err != nil || !returned {
		t.Errorf("Close returned %v (handler returned: %v), want no error after the handler has returned", err, returned)
	}
	if !errors.Is(writeErr, io.ErrClosedPipe) {
		t.Errorf("write after Close: got %v, want %v", writeErr, io.ErrClosedPipe)
	}
	if n, err := r.Body.Read(make([]byte, 1)); n > 0 || !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("read after Close: got %d bytes, error %v, want %v", n, err, io.ErrClosedPipe)
	}
}

// TestStreamStatusWithoutBody checks that writing a body fails if the status does not allow one, as in net/http.
func TestStreamStatusWithoutBody(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusNoContent, http.StatusNotModified} {
		h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			w.WriteHeader(http.StatusTeapot)
			if _, err := io.WriteString(w, "x"); !errors.Is(err, http.ErrBodyNotAllowed) {
				t.Errorf("status %d: write returned %v, want %v", status, err, http.ErrBodyNotAllowed)
			}
		})
		data, err := io.ReadAll(mustInvokeStream(t, h, edgetest.Event(http.MethodGet, "/")))
		if err != nil {
			t.Fatal(err)
		}
		response := parseStream(t, data)
		if response.Status != status || response.Body != "" || len(response.Header) > 0 {
			t.Errorf("got %+v, want status %d without headers and body", response, status)
		}
	}
}

// TestBoundedStream checks that a handler waits for a slow reader, and that a response starts when its buffer is full.
func TestBoundedStream(t *testing.T) {
	t.Parallel()
	const maxUnread, chunk, chunks = 1000, 400, 50
	var written atomic.Int64
	h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusAccepted)
		for range chunks {
			n, err := w.Write(make([]byte, chunk))
			if written.Add(int64(n)); err != nil {
				t.Error(err)
			}
		}
	})
	payload := []byte(`{"httpMethod":"GET","path":"/"}`)
	response, err := apigateway.NewStream(h, maxUnread)(t.Context(), payload)
	if err != nil || response.StatusCode != http.StatusAccepted {
		t.Fatalf("got %+v, error %v, want status 202", response, err)
	}
	read := int64(0)
	for buffer := make([]byte, 100); ; {
		n, err := response.Body.Read(buffer)
		if read += int64(n); err != nil {
			break
		}
		if unread := written.Load() - read; unread >= maxUnread+chunk {
			t.Fatalf("the handler wrote %d bytes more than were read", unread)
		}
	}
	if read != chunk*chunks {
		t.Errorf("got %d bytes, want %d", read, chunk*chunks)
	}
	if err := response.Close(); err != nil {
		t.Error(err)
	}
}

// TestBoundedStreamEnds checks that a handler that waits for the reader continues when the reader closes the body, and
// when the request's context ends.
func TestBoundedStreamEnds(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		timeout time.Duration // of the function, with the margin of 500 ms for the response
		want    error
	}{
		"closed": {time.Minute, io.ErrClosedPipe}, "deadline": {600 * time.Millisecond, context.DeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			failed := make(chan error, 1)
			h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				for {
					if _, err := w.Write(make([]byte, 100)); err != nil {
						failed <- err
						panic(http.ErrAbortHandler)
					}
				}
			})
			ctx, cancel := context.WithTimeout(t.Context(), tc.timeout)
			defer cancel()
			response, err := apigateway.NewStream(h, 1000)(ctx, []byte(`{"httpMethod":"GET","path":"/"}`))
			if err != nil {
				t.Fatal(err)
			}
			if name == "closed" {
				_ = response.Close()
			}
			if err := <-failed; !errors.Is(err, tc.want) {
				t.Errorf("Write: got error %v, want %v", err, tc.want)
			}
			if n, err := io.Copy(io.Discard, response.Body); err == nil {
				t.Errorf("got %d bytes and no error, want an incomplete body", n)
			}
		})
	}
}
