package runtime_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/runtime"
	"devplatform/infra/platformtest"
)

func TestHugeResponses(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	got := invoke(t, r, runtime.Invocation{Function: "echo", Payload: event(t, order{Do: "huge", Size: runtime.MaxResponse})})
	if len(got.body) != runtime.MaxResponse || got.FunctionError != nil {
		t.Errorf("%d bytes, %v", len(got.body), got.FunctionError)
	}
	got = invoke(t, r, runtime.Invocation{Function: "echo", Payload: event(t, order{Do: "huge", Size: runtime.MaxResponse + 1})})
	want := `{"errorType":"Function.ResponseSizeTooLarge","errorMessage":"The response is larger than 6291556 bytes"}`
	if diff := cmp.Diff(want, got.body); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	got = invoke(t, r, runtime.Invocation{Function: "echo", Stream: true, Payload: event(t, order{Do: "huge", Size: runtime.MaxResponse + 1})})
	if len(got.body) != runtime.MaxResponse+1 || got.err != nil || !got.Streaming {
		t.Errorf("streamed: %d bytes, %v", len(got.body), got.err)
	}
}

func TestStreamComesChunkByChunk(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	g := newGate(t)
	o := order{Do: "stream", Chunks: []string{"one", "two", "three"}, Gates: []string{"", g.url, g.url}}
	response, err := r.Invoke(t.Context(), runtime.Invocation{Function: "echo", Stream: true, Payload: event(t, o)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if !response.Streaming || response.ContentType != "application/vnd.awslambda.http-integration-response" {
		t.Errorf("streaming %v, content type %q", response.Streaming, response.ContentType)
	}
	for _, want := range o.Chunks {
		chunk := make([]byte, len(want))
		if _, err := io.ReadFull(response.Body, chunk); err != nil || string(chunk) != want {
			t.Fatalf("chunk %q, %v, want %q", chunk, err, want)
		}
		g.pass() // the function does not send the next one before
	}
	if n, err := response.Body.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("after the end: %d bytes, %v", n, err)
	}
	whole := invoke(t, r, runtime.Invocation{Function: "echo", Payload: event(t, order{Do: "stream", Chunks: o.Chunks})})
	if whole.body != "onetwothree" || whole.Streaming {
		t.Errorf("collected: %q, streaming %v", whole.body, whole.Streaming)
	}
}

func TestStreamsThatBreak(t *testing.T) {
	t.Parallel()
	r := start(t, withBrief(t))
	cases := []struct{ do, kind, message string }{
		{"stream-error", "errorString", "lost the thread"},
		{"stream-exit", "Runtime.ExitError", "RequestId: ID Error: Runtime exited with error: exit status 4"},
		{"stream-hang", "Sandbox.Timedout", "RequestId: ID Error: Task timed out after 1.00 seconds"},
	}
	for _, c := range cases {
		for _, streamed := range []bool{true, false} {
			name := "echo"
			if c.do == "stream-hang" {
				name = "brief"
			}
			got := invoke(t, r, runtime.Invocation{Function: name, Stream: streamed, Payload: event(t, order{Do: c.do, Chunks: []string{"half"}})})
			failed := got.FunctionError
			if streamed && !errors.As(got.err, &failed) {
				t.Errorf("%s: the body ended with %v", c.do, got.err)
			}
			if streamed && got.body != "half" {
				t.Errorf("%s: body %q", c.do, got.body)
			}
			if want := strings.ReplaceAll(c.message, "ID", got.RequestID); failed == nil || failed.Type != c.kind || failed.Message != want {
				t.Errorf("%s (streamed %v): %+v, want %s: %s", c.do, streamed, failed, c.kind, want)
			}
		}
	}
}

func TestAbandonedStreamIsDrained(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	response, err := r.Invoke(t.Context(), runtime.Invocation{Function: "echo", Stream: true, Payload: event(t, order{Do: "huge", Size: 10 << 20})})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(response.Body, make([]byte, 10)); err != nil {
		t.Error(err)
	}
	_ = response.Body.Close()
	platformtest.Eventually(t, "the instance is idle", func() bool { s := r.Snapshot(); return len(s) == 1 && s[0].Idle })
	if n := r.Starts(); n != 1 {
		t.Errorf("the function was disturbed: %d starts", n)
	}
}
