package uistream_test

import (
	"bytes"
	"errors"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"devplatform/shared/assistant/uistream"
)

// recorder records the written bytes and how many of them were flushed.
type recorder struct {
	mu      sync.Mutex
	written bytes.Buffer
	writes  []string
	flushed int
	err     error
}

func (w *recorder) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return 0, w.err
	}
	w.writes = append(w.writes, string(p))
	return w.written.Write(p)
}

func (w *recorder) flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.flushed = w.written.Len()
	return nil
}

func (w *recorder) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.written.String()
}

// allFlushed reports whether everything that was written was flushed.
func (w *recorder) allFlushed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.flushed == w.written.Len()
}

// newWriter returns a Writer that sends no keep-alive comments, because its keep-alive interval is too long.
func newWriter(t *testing.T) (*uistream.Writer, *recorder) {
	t.Helper()
	rec := &recorder{}
	w := uistream.NewWriter(rec, rec.flush, uistream.Options{KeepAlive: math.MaxInt64})
	t.Cleanup(w.Close)
	return w, rec
}

// checkErrors fails the test if one of the steps returned an error.
func checkErrors(t *testing.T, steps ...error) {
	t.Helper()
	for i, err := range steps {
		if err != nil {
			t.Errorf("step %d: %v", i, err)
		}
	}
}

// The bytes of a whole stream are those that the protocol prescribes.
func TestStreamBytes(t *testing.T) {
	t.Parallel()
	w, rec := newWriter(t)
	if w.HasSent() {
		t.Error("the stream has begun before the first frame")
	}
	checkErrors(t,
		w.Start("msg_1"),
		w.Text("Hello, "),
		w.Text(""),
		w.Text("\"wörld\"\r\n\u2028"),
		w.ToolStart("c1", "create_file"),
		w.ToolDelta("c1", `{"pa`),
		w.ToolDelta("c1", ""),
		w.ToolDelta("c1", `th":"/a"}`),
		w.ToolAvailable("c1", "create_file", jsontext.Value("{\n  \"path\": \"/a\"\r\n}")),
		w.Data("action", map[string]string{"path": "/a"}),
		w.Text("Done."),
		w.Data("result", struct {
			Code    string   `json:"code"`
			Actions []string `json:"actions"`
		}{}),
		w.Finish(uistream.Stop),
	)
	want := strings.Join([]string{
		`data: {"type":"start","messageId":"msg_1"}`,
		`data: {"type":"text-start","id":"text-1"}`,
		`data: {"type":"text-delta","id":"text-1","delta":"Hello, "}`,
		`data: {"type":"text-delta","id":"text-1","delta":"\"wörld\"\r\n` + "\u2028" + `"}`,
		`data: {"type":"text-end","id":"text-1"}`,
		`data: {"type":"tool-input-start","toolCallId":"c1","toolName":"create_file"}`,
		`data: {"type":"tool-input-delta","toolCallId":"c1","inputTextDelta":"{\"pa"}`,
		`data: {"type":"tool-input-delta","toolCallId":"c1","inputTextDelta":"th\":\"/a\"}"}`,
		`data: {"type":"tool-input-available","toolCallId":"c1","toolName":"create_file","input":{"path":"/a"}}`,
		`data: {"type":"data-action","data":{"path":"/a"}}`,
		`data: {"type":"text-start","id":"text-2"}`,
		`data: {"type":"text-delta","id":"text-2","delta":"Done."}`,
		`data: {"type":"text-end","id":"text-2"}`,
		`data: {"type":"data-result","data":{"code":"","actions":[]}}`,
		`data: {"type":"finish","finishReason":"stop"}`,
		`data: [DONE]`,
		"",
	}, "\n\n")
	if diff := cmp.Diff(want, rec.String()); diff != "" {
		t.Errorf("stream (-want +got):\n%s", diff)
	}
	if !rec.allFlushed() || !w.HasSent() {
		t.Errorf("got flushed %v and sent %v, want true and true", rec.allFlushed(), w.HasSent())
	}
	for _, piece := range rec.writes {
		if !strings.HasSuffix(piece, "\n\n") {
			t.Errorf("a frame was split: %q", piece)
		}
	}
	for name, err := range map[string]error{
		"Start":         w.Start("x"),
		"Text":          w.Text("x"),
		"Text, empty":   w.Text(""),
		"ToolStart":     w.ToolStart("x", "x"),
		"ToolDelta":     w.ToolDelta("x", "x"),
		"ToolAvailable": w.ToolAvailable("x", "x", nil),
		"ToolError":     w.ToolError("x", "x", "x"),
		"Data":          w.Data("x", nil),
		"Error":         w.Error("x"),
		"Finish":        w.Finish(uistream.Stop),
	} {
		if !errors.Is(err, uistream.ErrEnded) {
			t.Errorf("%s after the end: got error %v, want %v", name, err, uistream.ErrEnded)
		}
	}
	if rec.String() != want {
		t.Error("something was written after [DONE]")
	}
}

// frameTypes returns the types of the frames, in order.
func frameTypes(t *testing.T, stream string) (all []string, done bool) {
	t.Helper()
	list, _, done := frames(t, stream)
	for _, f := range list {
		kind, _ := f["type"].(string)
		all = append(all, kind)
	}
	return all, done
}

// Every text and every call that was started is ended.
func TestOpenPartsAreClosed(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		send     func(*uistream.Writer) []error
		want     []string // types of frames
		wantDone bool
	}{
		"text at the end": {
			send: func(w *uistream.Writer) []error {
				return []error{w.Text("a"), w.Finish(uistream.Length)}
			},
			want:     []string{"text-start", "text-delta", "text-end", "finish"},
			wantDone: true,
		},
		"text before an error": {
			send: func(w *uistream.Writer) []error {
				return []error{w.Text("a"), w.Error("Busy."), w.Data("result", 1), w.Finish(uistream.Failed)}
			},
			want:     []string{"text-start", "text-delta", "text-end", "error", "data-result", "finish"},
			wantDone: true,
		},
		"calls before an error": {
			send: func(w *uistream.Writer) []error {
				return []error{
					w.ToolStart("1", "a"),
					w.ToolStart("2", "b"),
					w.ToolDelta("1", "{"),
					w.ToolAvailable("2", "b", 1),
					w.Error("Busy."),
					w.Finish(uistream.Failed),
				}
			},
			want: []string{
				"tool-input-start", "tool-input-start", "tool-input-delta", "tool-input-available", "tool-input-error",
				"error", "finish",
			},
			wantDone: true,
		},
		"calls at the end": {
			send: func(w *uistream.Writer) []error {
				return []error{
					w.ToolStart("1", "a"),
					w.ToolStart("2", "b"),
					w.ToolError("1", "a", "No."),
					w.Finish(uistream.Stop),
				}
			},
			want: []string{
				"tool-input-start", "tool-input-start", "tool-input-error", "tool-input-error", "finish",
			},
			wantDone: true,
		},
		"text before a call": {
			send: func(w *uistream.Writer) []error {
				return []error{w.Text("a"), w.ToolAvailable("1", "a", 1), w.Text("b")}
			},
			want: []string{
				"text-start", "text-delta", "text-end", "tool-input-available", "text-start", "text-delta",
			},
		},
		"closed twice without frames": {
			send: func(w *uistream.Writer) []error {
				w.Close()
				w.Close()
				return nil
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, rec := newWriter(t)
			checkErrors(t, tc.send(w)...)
			got, done := frameTypes(t, rec.String())
			if diff := cmp.Diff(tc.want, got); diff != "" || done != tc.wantDone {
				t.Errorf("got [DONE]: %v, want %v; frames (-want +got):\n%s", done, tc.wantDone, diff)
			}
		})
	}
}

func TestInvalidCallOrder(t *testing.T) {
	t.Parallel()
	w, rec := newWriter(t)
	checkErrors(t, w.ToolStart("1", "a"), w.Text("x"))
	for name, err := range map[string]error{
		"call started twice": w.ToolStart("1", "a"),
		"call not started":   w.ToolDelta("2", "{"),
		"invalid JSON":       w.ToolAvailable("1", "a", jsontext.Value(`{"a":`)),
		"invalid data":       w.Data("x", func() {}),
	} {
		if err == nil || errors.Is(err, uistream.ErrEnded) {
			t.Errorf("%s: got error %v, want an error other than ErrEnded", name, err)
		}
	}
	checkErrors(t, w.ToolAvailable("1", "a", nil))
	if err := w.ToolDelta("1", "{"); err == nil {
		t.Error("input was accepted for a call that has ended")
	}
	got, _ := frameTypes(t, rec.String())
	want := []string{"tool-input-start", "text-start", "text-delta", "text-end", "tool-input-available"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("frames (-want +got):\n%s", diff)
	}
}

// After the client has disconnected, every call returns the error, and nothing more is written.
func TestDisconnectedClient(t *testing.T) {
	t.Parallel()
	errDisconnected := errors.New("the client has disconnected")
	for name, tc := range map[string]struct{ write, flush error }{
		"the write fails": {write: errDisconnected},
		"the flush fails": {flush: errDisconnected},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rec := &recorder{err: tc.write}
			w := uistream.NewWriter(rec, func() error { return tc.flush }, uistream.Options{})
			defer w.Close()
			steps := []error{w.Start("m"), w.Text("a"), w.Text(""), w.Data("x", 1), w.Finish(uistream.Stop)}
			for i, err := range steps {
				if !errors.Is(err, errDisconnected) {
					t.Errorf("step %d: got error %v, want %v", i, err, errDisconnected)
				}
			}
			if len(rec.writes) > 1 {
				t.Errorf("got the writes %q, want none after the failure", rec.writes)
			}
		})
	}
}

// A model can send an answer in parts of one byte, each with a long ID, to a client that does not read.
func TestLargeStream(t *testing.T) {
	t.Parallel()
	const limit = 32 << 20
	var sent bytes.Buffer
	w := uistream.NewWriter(&sent, func() error { return nil }, uistream.Options{})
	defer w.Close()
	id := strings.Repeat("\x01", 256)
	err := w.ToolStart(id, "create_file")
	for range 384 << 10 {
		if err = w.ToolDelta(id, "x"); err != nil {
			break
		}
	}
	if n := sent.Len(); err == nil || n > limit || n < limit-4096 {
		t.Errorf("got %d bytes, error %v, want about %d bytes and an error", n, err, limit)
	}
	if again := w.Finish(uistream.Stop); again == nil || sent.Len() > limit {
		t.Errorf("after the limit: got %d bytes, error %v, want no more bytes and an error", sent.Len(), again)
	}
}

// The headers are set with the first byte, so that an ordinary error response is possible before that.
func TestHeadersAreSetWithFirstByte(t *testing.T) {
	t.Parallel()
	rec := httptest.NewRecorder()
	w := uistream.NewWriter(rec, func() error { rec.Flush(); return nil }, uistream.Options{})
	defer w.Close()
	if len(rec.Header()) > 0 {
		t.Errorf("got the headers %v before the first frame, want none", rec.Header())
	}
	checkErrors(t, w.Start("msg_1"))
	want := http.Header{
		"Content-Type":                  {"text/event-stream"},
		"X-Vercel-Ai-Ui-Message-Stream": {"v1"},
	}
	if diff := cmp.Diff(want, rec.Result().Header); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
	if !rec.Flushed {
		t.Error("the first frame was not flushed")
	}
}

// FuzzWriter checks that a client receives exactly the data that was written.
func FuzzWriter(f *testing.F) {
	f.Add("m", "Hello\r\n\r\ndata: [DONE]\n\n", "create_file", `{"a":"\u2028"}`)
	f.Add("", "\x00\xff\ufeff", ": keep-alive", "")
	f.Add("é", "\n\n", "\r", "\"}\n\ndata: {")
	f.Fuzz(func(t *testing.T, id, text, name, input string) {
		w, rec := newWriter(t)
		checkErrors(t,
			w.Start(id),
			w.Text(text),
			w.ToolStart(id, name),
			w.ToolDelta(id, input),
			w.ToolAvailable(id, name, input),
			w.ToolError(id, name, text),
			w.Data("x", []string{text, input}),
			w.Error(text),
			w.Finish(uistream.Reason(name)))
		// Bytes that are not UTF-8 are received as U+FFFD.
		id, text, name, input = validUTF8(id), validUTF8(text), validUTF8(name), validUTF8(input)
		var want []map[string]any
		add := func(frame map[string]any) { want = append(want, frame) }
		add(map[string]any{"type": "start", "messageId": id})
		if text != "" {
			add(map[string]any{"type": "text-start", "id": "text-1"})
			add(map[string]any{"type": "text-delta", "id": "text-1", "delta": text})
			add(map[string]any{"type": "text-end", "id": "text-1"})
		}
		add(map[string]any{"type": "tool-input-start", "toolCallId": id, "toolName": name})
		if input != "" {
			add(map[string]any{"type": "tool-input-delta", "toolCallId": id, "inputTextDelta": input})
		}
		add(map[string]any{"type": "tool-input-available", "toolCallId": id, "toolName": name, "input": input})
		add(map[string]any{
			"type": "tool-input-error", "toolCallId": id, "toolName": name, "errorText": text, "input": nil,
		})
		add(map[string]any{"type": "data-x", "data": []any{text, input}})
		add(map[string]any{"type": "error", "errorText": text})
		add(map[string]any{"type": "finish", "finishReason": name})
		got, _, done := frames(t, rec.String())
		if diff := cmp.Diff(want, got); diff != "" || !done {
			t.Errorf("got [DONE]: %v, frames (-want +got):\n%s", done, diff)
		}
	})
}

// validUTF8 replaces each byte that is not UTF-8 with U+FFFD.
func validUTF8(s string) string { return string([]rune(s)) }

// BenchmarkText measures the time to write a frame of text.
func BenchmarkText(b *testing.B) {
	w := uistream.NewWriter(io.Discard, func() error { return nil }, uistream.Options{})
	defer w.Close()
	b.ReportAllocs()
	for b.Loop() {
		if err := w.Text("some words of an answer"); err != nil {
			b.Fatal(err)
		}
	}
}
