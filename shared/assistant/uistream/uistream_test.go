package uistream_test

import (
	"bytes"
	"errors"
	"io"
	"math"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"devplatform/shared/assistant/uistream"
)

// wire records what was written and flushed.
type wire struct {
	mu      sync.Mutex
	written bytes.Buffer
	writes  []string
	flushed int
	err     error
}

func (w *wire) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return 0, w.err
	}
	w.writes = append(w.writes, string(p))
	return w.written.Write(p)
}

func (w *wire) flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.flushed = w.written.Len()
	return nil
}

func (w *wire) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.written.String()
}

// allFlushed reports whether everything that was written was flushed.
func (w *wire) allFlushed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.flushed == w.written.Len()
}

// newWriter returns a Writer that sends no comments unless a test waits for them.
func newWriter(t *testing.T) (*uistream.Writer, *wire) {
	t.Helper()
	to := &wire{}
	w := uistream.NewWriter(to, to.flush, uistream.Options{KeepAlive: math.MaxInt64})
	t.Cleanup(w.Close)
	return w, to
}

// do fails the test if one of the steps failed.
func do(t *testing.T, steps ...error) {
	t.Helper()
	for i, err := range steps {
		if err != nil {
			t.Errorf("step %d: %v", i, err)
		}
	}
}

// TestStreamBytes compares a whole stream with the bytes that the protocol prescribes.
func TestStreamBytes(t *testing.T) {
	t.Parallel()
	w, to := newWriter(t)
	if w.Begun() {
		t.Error("begun before the first frame")
	}
	do(t,
		w.Start("msg_1"), w.Text("Hello, "), w.Text(""), w.Text("\"wörld\"\r\n\u2028"),
		w.ToolStart("c1", "create_file"), w.ToolDelta("c1", `{"pa`), w.ToolDelta("c1", ""), w.ToolDelta("c1", `th":"/a"}`),
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
	if diff := cmp.Diff(want, to.String()); diff != "" {
		t.Error(diff)
	}
	if !to.allFlushed() || !w.Begun() {
		t.Errorf("flushed: %v, begun: %v", to.allFlushed(), w.Begun())
	}
	for _, piece := range to.writes {
		if !strings.HasSuffix(piece, "\n\n") {
			t.Errorf("a frame was split: %q", piece)
		}
	}
	for name, err := range map[string]error{
		"start": w.Start("x"), "text": w.Text("x"), "no text": w.Text(""), "tool start": w.ToolStart("x", "x"), "tool delta": w.ToolDelta("x", "x"),
		"tool available": w.ToolAvailable("x", "x", nil), "tool error": w.ToolError("x", "x", "x"), "data": w.Data("x", nil),
		"error": w.Error("x"), "finish": w.Finish(uistream.Stop),
	} {
		if !errors.Is(err, uistream.ErrEnded) {
			t.Errorf("%s after the end: %v", name, err)
		}
	}
	if to.String() != want {
		t.Error("something was written after [DONE]")
	}
}

// kinds returns the types of the frames, in order.
func kinds(t *testing.T, stream string) (all []string, done bool) {
	t.Helper()
	list, done := frames(t, stream)
	for _, f := range list {
		kind, _ := f["type"].(string)
		all = append(all, kind)
	}
	return all, done
}

// TestOpenPartsAreClosed checks that every part of a stream ends.
func TestOpenPartsAreClosed(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		play func(*uistream.Writer) []error
		want []string
		done bool
	}{
		"text at the end": {func(w *uistream.Writer) []error {
			return []error{w.Text("a"), w.Finish(uistream.Length)}
		}, []string{"text-start", "text-delta", "text-end", "finish"}, true},
		"text at an error": {func(w *uistream.Writer) []error {
			return []error{w.Text("a"), w.Error("Busy."), w.Data("result", 1), w.Finish(uistream.Failed)}
		}, []string{"text-start", "text-delta", "text-end", "error", "data-result", "finish"}, true},
		"calls at an error": {func(w *uistream.Writer) []error {
			return []error{w.ToolStart("1", "a"), w.ToolStart("2", "b"), w.ToolDelta("1", "{"), w.ToolAvailable("2", "b", 1), w.Error("Busy."), w.Finish(uistream.Failed)}
		}, []string{"tool-input-start", "tool-input-start", "tool-input-delta", "tool-input-available", "tool-input-error", "error", "finish"}, true},
		"calls at the end": {func(w *uistream.Writer) []error {
			return []error{w.ToolStart("1", "a"), w.ToolStart("2", "b"), w.ToolError("1", "a", "No."), w.Finish(uistream.Stop)}
		}, []string{"tool-input-start", "tool-input-start", "tool-input-error", "tool-input-error", "finish"}, true},
		"text before a call": {func(w *uistream.Writer) []error {
			return []error{w.Text("a"), w.ToolAvailable("1", "a", 1), w.Text("b")}
		}, []string{"text-start", "text-delta", "text-end", "tool-input-available", "text-start", "text-delta"}, false},
		"nothing": {func(w *uistream.Writer) []error { w.Close(); w.Close(); return nil }, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, to := newWriter(t)
			do(t, tc.play(w)...)
			got, done := kinds(t, to.String())
			if diff := cmp.Diff(tc.want, got); diff != "" || done != tc.done {
				t.Errorf("done: %v\n%s", done, diff)
			}
		})
	}
}

func TestInvalidCallOrder(t *testing.T) {
	t.Parallel()
	w, to := newWriter(t)
	do(t, w.ToolStart("1", "a"), w.Text("x"))
	for name, err := range map[string]error{
		"started twice": w.ToolStart("1", "a"), "never started": w.ToolDelta("2", "{"), "invalid JSON": w.ToolAvailable("1", "a", jsontext.Value(`{"a":`)),
		"invalid data": w.Data("x", func() {}),
	} {
		if err == nil || errors.Is(err, uistream.ErrEnded) {
			t.Errorf("%s: %v", name, err)
		}
	}
	do(t, w.ToolAvailable("1", "a", nil))
	if err := w.ToolDelta("1", "{"); err == nil {
		t.Error("input was accepted for a call that has ended")
	}
	got, _ := kinds(t, to.String())
	if diff := cmp.Diff([]string{"tool-input-start", "text-start", "text-delta", "text-end", "tool-input-available"}, got); diff != "" {
		t.Error(diff)
	}
}

// TestDisconnectedClient checks that every call returns the error and that nothing more is written.
func TestDisconnectedClient(t *testing.T) {
	t.Parallel()
	gone := errors.New("gone")
	for name, broken := range map[string]func(*wire) (io.Writer, func() error){
		"the write fails": func(to *wire) (io.Writer, func() error) { to.err = gone; return to, to.flush },
		"the flush fails": func(to *wire) (io.Writer, func() error) { return to, func() error { return gone } },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			to := &wire{}
			stream, flush := broken(to)
			w := uistream.NewWriter(stream, flush, uistream.Options{})
			defer w.Close()
			for i, err := range []error{w.Start("m"), w.Text("a"), w.Text(""), w.Data("x", 1), w.Finish(uistream.Stop)} {
				if !errors.Is(err, gone) {
					t.Errorf("step %d: %v", i, err)
				}
			}
			if len(to.writes) > 1 {
				t.Errorf("it wrote again after the failure: %q", to.writes)
			}
		})
	}
}

// TestHeadersAreSetWithFirstByte checks that an ordinary error response is possible as long as nothing was sent.
func TestHeadersAreSetWithFirstByte(t *testing.T) {
	t.Parallel()
	rec := httptest.NewRecorder()
	w := uistream.NewWriter(rec, func() error { rec.Flush(); return nil }, uistream.Options{})
	defer w.Close()
	if len(rec.Header()) > 0 {
		t.Errorf("too early: %v", rec.Header())
	}
	do(t, w.Start("msg_1"))
	h := rec.Result().Header
	if h.Get("Content-Type") != "text/event-stream" || h.Get("x-vercel-ai-ui-message-stream") != "v1" || len(h) != 2 || !rec.Flushed {
		t.Errorf("%v", h)
	}
}

// FuzzWriter checks that a client receives exactly the data that was written.
func FuzzWriter(f *testing.F) {
	f.Add("m", "Hello\r\n\r\ndata: [DONE]\n\n", "create_file", `{"a":"\u2028"}`)
	f.Add("", "\x00\xff\ufeff", ": keep-alive", "")
	f.Add("é", "\n\n", "\r", "\"}\n\ndata: {")
	f.Fuzz(func(t *testing.T, id, text, name, input string) {
		w, to := newWriter(t)
		do(t, w.Start(id), w.Text(text), w.ToolStart(id, name), w.ToolDelta(id, input), w.ToolAvailable(id, name, input),
			w.ToolError(id, name, text), w.Data("x", []string{text, input}), w.Error(text), w.Finish(uistream.Reason(name)))
		// Bytes that are not UTF-8 are received as U+FFFD.
		id, text, name, input = valid(id), valid(text), valid(name), valid(input)
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
		add(map[string]any{"type": "tool-input-error", "toolCallId": id, "toolName": name, "errorText": text, "input": nil})
		add(map[string]any{"type": "data-x", "data": []any{text, input}})
		add(map[string]any{"type": "error", "errorText": text})
		add(map[string]any{"type": "finish", "finishReason": name})
		got, done := frames(t, to.String())
		if diff := cmp.Diff(want, got); diff != "" || !done {
			t.Errorf("done: %v\n%s", done, diff)
		}
	})
}

// valid replaces each byte that is not UTF-8 by U+FFFD.
func valid(s string) string { return string([]rune(s)) }

// BenchmarkText measures the time to write a frame of text. 16 streams with 200 frames per second write 3,200 frames per
// second.
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
