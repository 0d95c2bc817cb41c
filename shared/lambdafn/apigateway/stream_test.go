package apigateway_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
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

// streamed calls the function as Lambda's runtime client does.
func streamed(ctx context.Context, t *testing.T, h http.Handler, e events.APIGatewayProxyRequest) (*events.APIGatewayProxyStreamingResponse, error) {
	t.Helper()
	payload, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	return apigateway.NewStream(h)(ctx, payload)
}

// mustStream calls streamed, and fails the test if the function fails. It closes the response at the end of the test.
func mustStream(t *testing.T, h http.Handler, e events.APIGatewayProxyRequest) *events.APIGatewayProxyStreamingResponse {
	t.Helper()
	r, err := streamed(t.Context(), t, h, e)
	if err != nil {
		t.Fatalf("the function failed: %v", err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

func chatEvent() events.APIGatewayProxyRequest {
	e := edgetest.Event(http.MethodPost, "/api/stream")
	e.MultiValueHeaders["Content-Type"] = []string{"application/json"}
	e.MultiValueHeaders["Cookie"] = []string{"__Host-session=good"}
	e.Body = `{}`
	return e
}

// wire parses a streamed response in Lambda's format: the metadata, eight NULs, the body.
func wire(t *testing.T, data []byte) edgetest.Response {
	t.Helper()
	head, body, found := bytes.Cut(data, make([]byte, 8))
	var metadata struct {
		StatusCode        int         `json:"statusCode"`
		MultiValueHeaders http.Header `json:"multiValueHeaders"`
	}
	if err := json.Unmarshal(head, &metadata); err != nil || !found {
		t.Fatalf("%q: %v", data, err)
	}
	return edgetest.Response{Status: metadata.StatusCode, Header: metadata.MultiValueHeaders, Body: string(body)}
}

// A response that is not a stream is the same from both kinds of function.
func TestStreamedAndBufferedResponsesAreEqual(t *testing.T) {
	t.Parallel()
	router, _ := edgetest.NewRouter(config.Edge{CookiePlainHTTP: true})
	login := edgetest.Event(http.MethodPost, "/api/login")
	login.MultiValueHeaders["X-Forwarded-Proto"] = []string{"http"}
	invalid := edgetest.Event(http.MethodPost, "/api/signup")
	invalid.MultiValueHeaders["Content-Type"], invalid.Body = []string{"application/json"}, `{"email":"é"}`
	for name, e := range map[string]events.APIGatewayProxyRequest{
		"JSON": edgetest.Event(http.MethodGet, "/api/list"), "two cookies": login, "an error": edgetest.Event(http.MethodGet, "/api/me"),
		"invalid": invalid, "a panic": edgetest.Event(http.MethodGet, "/api/panic"), "no such path": edgetest.Event(http.MethodGet, "/api/%zz"),
		"no body": edgetest.Event(http.MethodOptions, "/api/list"), "a reader's HEAD": edgetest.Event(http.MethodHead, "/api/list"),
	} {
		payload, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		// lambda.Start must recognize the function as one that streams.
		data, err := lambda.NewHandler(apigateway.NewStream(router)).Invoke(t.Context(), payload)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got := wire(t, data)
		edgetest.CheckHeaders(t, got)
		want, _ := edgetest.Invoke(t, router, e)
		if e.HTTPMethod == http.MethodHead {
			want.Body = "" // the streamed response to HEAD has no body
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(edgetest.Response{})); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if name == "two cookies" && !slices.Equal(got.Header["Set-Cookie"], []string{edgetest.SetSecure, edgetest.SetPlain}) {
			t.Errorf("cookies %q", got.Header["Set-Cookie"])
		}
	}
}

func TestStreamStartsAtFirstFlush(t *testing.T) {
	t.Parallel()
	next, returned := make(chan bool), make(chan bool)
	router, log := edgetest.StreamRouter(func(ctx context.Context, s *httpapi.EventStream) error {
		for _, piece := range []string{"1", "2", "3"} {
			edgetest.WriteChunk(t, s, piece)
			<-next
		}
		if ctx.Err() != nil {
			t.Errorf("the request ended before its handler: %v", ctx.Err())
		}
		<-returned
		return nil
	})
	r := mustStream(t, router, chatEvent())
	if r.ContentType() != "application/vnd.awslambda.http-integration-response" || r.Cookies != nil || r.Headers != nil {
		t.Errorf("%+v", r)
	}
	edgetest.CheckHeaders(t, edgetest.Response{Header: r.MultiValueHeaders})
	if r.StatusCode != 200 || http.Header(r.MultiValueHeaders).Get("X-Request-Id") != "req-1" {
		t.Errorf("%d %v", r.StatusCode, r.MultiValueHeaders)
	}
	buffer := make([]byte, 100)
	for _, want := range []string{"1", "2", "3"} {
		n, err := r.Body.Read(buffer)
		if err != nil || string(buffer[:n]) != want {
			t.Fatalf("%q, %v; want %q", buffer[:n], err, want)
		}
		next <- true
	}
	ended := make(chan error)
	go func() {
		_, err := r.Body.Read(buffer)
		ended <- err
	}()
	select {
	case err := <-ended:
		t.Errorf("the body ended before the handler: %v", err)
	case returned <- true:
	}
	if err := <-ended; !errors.Is(err, io.EOF) {
		t.Errorf("%v", err)
	}
	edgetest.WantLine(t, log, "INFO", 200, "")
}

func TestStreamPanicAfterFlush(t *testing.T) {
	t.Parallel()
	router, log := edgetest.StreamRouter(func(_ context.Context, s *httpapi.EventStream) error {
		edgetest.WriteChunk(t, s, "data: 1\n\n")
		panic("secret-detail")
	})
	r := mustStream(t, router, chatEvent())
	body, err := io.ReadAll(r.Body)
	if string(body) != "data: 1\n\n" || err == nil || strings.Contains(err.Error(), "secret-detail") {
		t.Errorf("%q, %v", body, err)
	}
	edgetest.WantLine(t, log, "ERROR", 200, fault.CodeInternal)
}

// A handler without an edge that panics before the first flush makes the invocation fail.
func TestStreamPanicBeforeFlush(t *testing.T) {
	t.Parallel()
	broken := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "half")
		panic("oh")
	})
	if _, err := streamed(t.Context(), t, broken, edgetest.Event(http.MethodGet, "/")); err == nil || !strings.Contains(err.Error(), "oh") {
		t.Errorf("%v", err)
	}
}

// The handler does not wait for the reader, and the reader gets everything that was written.
func TestStreamHandlerDoesNotWaitForReader(t *testing.T) {
	t.Parallel()
	finished := make(chan bool)
	piece := strings.Repeat("x", 1<<10)
	router, _ := edgetest.StreamRouter(func(_ context.Context, s *httpapi.EventStream) error {
		for range 4 << 10 {
			edgetest.WriteChunk(t, s, piece)
		}
		close(finished)
		return nil
	})
	r := mustStream(t, router, chatEvent())
	<-finished
	if n, err := io.Copy(io.Discard, r.Body); n != 4<<20 || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
}

// Lambda's runtime client closes a response that it cannot send.
func TestStreamCloseEndsHandler(t *testing.T) {
	t.Parallel()
	var failed error
	returned := false
	router, _ := edgetest.StreamRouter(func(ctx context.Context, s *httpapi.EventStream) error {
		edgetest.WriteChunk(t, s, "data: 1\n\n")
		<-ctx.Done()
		_, failed = io.WriteString(s, "data: 2\n\n")
		if err := s.FlushError(); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("flushed: %v", err)
		}
		returned = true
		return nil
	})
	r := mustStream(t, router, chatEvent())
	if err := r.Close(); err != nil || !returned || !errors.Is(failed, io.ErrClosedPipe) {
		t.Errorf("closed: %v; the handler returned: %v, its write failed: %v", err, returned, failed)
	}
	if n, err := r.Body.Read(make([]byte, 1)); n > 0 || !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("read %d, %v", n, err)
	}
}

// As in net/http, writing a body fails if the status does not allow one.
func TestStreamStatusWithoutBody(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusNoContent, http.StatusNotModified} {
		h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			w.WriteHeader(http.StatusTeapot)
			if _, err := io.WriteString(w, "x"); !errors.Is(err, http.ErrBodyNotAllowed) {
				t.Errorf("%d: written: %v", status, err)
			}
		})
		data, err := io.ReadAll(mustStream(t, h, edgetest.Event(http.MethodGet, "/")))
		if err != nil {
			t.Fatal(err)
		}
		if response := wire(t, data); response.Status != status || response.Body != "" || len(slices.Collect(maps.Keys(response.Header))) > 0 {
			t.Errorf("%+v", a)
		}
	}
}

// The deadline of TestHandlerDeadline also holds for a stream, after the function has returned the start of the
// response.
func TestStreamHandlerDeadline(t *testing.T) {
	t.Parallel()
	deadline := time.Now().Add(time.Minute)
	ctx, cancel := context.WithDeadline(t.Context(), deadline)
	defer cancel()
	began := make(chan bool)
	var kept time.Duration
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).Flush()
		<-began
		w.Header().Set("X-Late", "1")
		own, _ := r.Context().Deadline()
		kept = deadline.Sub(own)
		if r.Context().Err() != nil {
			t.Error(r.Context().Err())
		}
	})
	r, err := streamed(ctx, t, h, edgetest.Event(http.MethodGet, "/"))
	if err != nil {
		t.Fatal(err)
	}
	close(began)
	if _, err := io.ReadAll(r); err != nil || kept < 100*time.Millisecond || r.StatusCode != 200 || len(r.MultiValueHeaders) > 0 {
		t.Errorf("%d %v, %v is reserved for the response, %v", r.StatusCode, r.MultiValueHeaders, kept, err)
	}
}
