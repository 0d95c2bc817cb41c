// Package uistream writes the AI SDK's UI message stream, version 1, as server-sent events (API.md §6.4;
// https://ai-sdk.dev/docs/ai-sdk-ui/stream-protocol): unnamed frames of JSON, comments while nothing happens, [DONE] at the end.
// It holds the order that the protocol asks for. What is said in the frames is the caller's business.
package uistream

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// DefaultKeepAlive is the silence after which a stream says that it lives.
const DefaultKeepAlive = 10 * time.Second

// Reason is why an answer has ended, in the protocol's words, as far as any of ours does.
type Reason string

// The reasons.
const (
	Stop      Reason = "stop"
	Length    Reason = "length"
	ToolCalls Reason = "tool-calls"
	Failed    Reason = "error"
	Other     Reason = "other"
)

// ErrEnded is the answer to whatever comes after Finish or Close.
var ErrEnded = errors.New("uistream: the stream has ended")

// notCompleted is what a reader is told of a call that was begun and never made.
const notCompleted = "The call was not completed."

// Options are a stream's settings.
type Options struct {
	// KeepAlive is the silence after which a comment is sent; 0 is DefaultKeepAlive.
	KeepAlive time.Duration
}

// Writer writes one stream. Each of its methods sends what it has to say at once, in one piece, and answers with the error of the
// first write that failed, from then on without trying again: a client that has gone. Whether the rest is worth making is
// the caller's to decide. Text that is not UTF-8 arrives with U+FFFD in the place of what is not. A Writer is safe for concurrent use.
type Writer struct {
	to        io.Writer
	flush     func() error
	keepAlive time.Duration

	mu     sync.Mutex
	timer  *time.Timer // fires after a silence
	frames []byte      // those to be sent, reused
	begun  bool        // something was sent
	ended  bool
	err    error // the first of a write
	texts  int   // how many parts of text there have been
	inText bool
	calls  []call // open, in the order in which they began
}

// call is a use of a tool that has begun and not ended.
type call struct{ id, name string }

// NewWriter begins a stream; Close ends its keep-alives. Nothing is sent before the first frame or the first silence, and until then an
// ordinary error can be answered in the stream's place. If to is an http.ResponseWriter it gets the stream's headers then, not before.
func NewWriter(to io.Writer, flush func() error, o Options) *Writer {
	w := &Writer{to: to, flush: flush, keepAlive: o.KeepAlive}
	if w.keepAlive == 0 {
		w.keepAlive = DefaultKeepAlive
	}
	w.mu.Lock() // the timer looks at itself
	w.timer = time.AfterFunc(w.keepAlive, w.alive)
	w.mu.Unlock()
	return w
}

// Header sets the headers of an answer that is a stream.
func Header(h http.Header) {
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Vercel-Ai-Ui-Message-Stream", "v1")
}

// Begun reports whether anything was sent. After Close it stays as it is.
func (w *Writer) Begun() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.begun
}

// Start is the first frame: the id of the message that the stream is.
func (w *Writer) Start(messageID string) error {
	return w.say(func() error {
		w.add("start", "messageId", messageID)
		return nil
	})
}

// Text is more of the answer's text, in the part of text that is open or in a new one. The empty text says nothing.
func (w *Writer) Text(delta string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.ready(); err != nil || delta == "" {
		return err
	}
	if !w.inText {
		w.inText = true
		w.texts++
		w.add("text-start", "id", w.textID())
	}
	w.add("text-delta", "id", w.textID(), "delta", delta)
	return w.send()
}

// ToolStart begins a call, whose input ToolDelta brings in pieces of JSON and ToolAvailable as a whole. Several may be open.
// Error: the call is open already.
func (w *Writer) ToolStart(callID, name string) error {
	return w.say(func() error {
		if w.indexOf(callID) >= 0 {
			return fmt.Errorf("uistream: the call %q is open already", callID)
		}
		w.calls = append(w.calls, call{callID, name})
		w.add("tool-input-start", "toolCallId", callID, "toolName", name)
		return nil
	})
}

// ToolDelta is more of an open call's input. Error: it is not open.
func (w *Writer) ToolDelta(callID, delta string) error {
	return w.say(func() error {
		if w.indexOf(callID) < 0 {
			return fmt.Errorf("uistream: the call %q is not open", callID)
		}
		if delta != "" {
			w.add("tool-input-delta", "toolCallId", callID, "inputTextDelta", delta)
		}
		return nil
	})
}

// ToolAvailable ends a call, begun or not, with its input, which is any value that has a JSON.
func (w *Writer) ToolAvailable(callID, name string, input any) error {
	value, err := marshal(input)
	if err != nil {
		return fmt.Errorf("uistream: the input of %q: %w", name, err)
	}
	return w.say(func() error {
		w.closeCall(callID)
		w.addValue("input", value, "tool-input-available", "toolCallId", callID, "toolName", name)
		return nil
	})
}

// ToolError ends a call, begun or not, that will never be made, with the reason for people.
func (w *Writer) ToolError(callID, name, text string) error {
	return w.say(func() error {
		w.closeCall(callID)
		w.addFailed(call{callID, name}, text)
		return nil
	})
}

// Data is a part of the caller's own kind: a frame of type data-<name> with any value that has a JSON.
func (w *Writer) Data(name string, v any) error {
	value, err := marshal(v)
	if err != nil {
		return fmt.Errorf("uistream: data-%s: %w", name, err)
	}
	return w.say(func() error {
		w.addValue("data", value, "data-"+name)
		return nil
	})
}

// Error tells that the answer broke off, in words for people, and closes what is open. Finish(Failed) follows.
func (w *Writer) Error(text string) error {
	return w.say(func() error {
		w.closeCalls()
		w.add("error", "errorText", text)
		return nil
	})
}

// Finish closes what is open and ends the stream. A stream that ends without it was cut.
func (w *Writer) Finish(reason Reason) error {
	return w.say(func() error {
		w.closeCalls()
		w.add("finish", "finishReason", string(reason))
		w.frames = append(w.frames, "data: [DONE]\n\n"...)
		w.end()
		return nil
	})
}

// Close ends the keep-alives and sends nothing; nothing is sent any more once it has returned. It may be called again.
func (w *Writer) Close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.end()
}

// say sends the frames that add makes, behind the end of an open text.
func (w *Writer) say(add func() error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.ready(); err != nil {
		return err
	}
	if w.inText {
		w.inText = false
		w.add("text-end", "id", w.textID())
	}
	if err := add(); err != nil {
		return errors.Join(err, w.send())
	}
	return w.send()
}

// ready is why nothing can be sent.
func (w *Writer) ready() error {
	if w.err != nil {
		return w.err
	}
	if w.ended {
		return ErrEnded
	}
	return nil
}

// end lets nothing follow. The caller holds mu.
func (w *Writer) end() {
	w.ended = true
	w.timer.Stop()
}

// textID names the part of text that is open, or was last.
func (w *Writer) textID() string { return "text-" + strconv.Itoa(w.texts) }

func (w *Writer) indexOf(callID string) int {
	return slices.IndexFunc(w.calls, func(c call) bool { return c.id == callID })
}

func (w *Writer) closeCall(callID string) {
	if i := w.indexOf(callID); i >= 0 {
		w.calls = slices.Delete(w.calls, i, i+1)
	}
}

// closeCalls tells of open calls that they were not made: without that a page shows them as under way for ever.
func (w *Writer) closeCalls() {
	for _, c := range w.calls {
		w.addFailed(c, notCompleted)
	}
	w.calls = nil
}

// addFailed ends a call that is none. The client refuses a frame without an input, though there is nothing to say of it.
func (w *Writer) addFailed(c call, text string) {
	w.addValue("input", jsontext.Value("null"), "tool-input-error", "toolCallId", c.id, "toolName", c.name, "errorText", text)
}

// add adds a frame of one type; members are names and texts in turn.
func (w *Writer) add(kind string, members ...string) {
	w.open(kind, members)
	w.frames = append(w.frames, "}\n\n"...)
}

// addValue adds a frame with one member more, which has JSON without line breaks.
func (w *Writer) addValue(name string, value jsontext.Value, kind string, members ...string) {
	w.open(kind, members)
	w.member(name)
	w.frames = append(w.frames, value...)
	w.frames = append(w.frames, "}\n\n"...)
}

func (w *Writer) open(kind string, members []string) {
	w.frames = append(w.frames, `data: {"type":`...)
	w.text(kind)
	for i := 0; i+1 < len(members); i += 2 {
		w.member(members[i])
		w.text(members[i+1])
	}
}

// member adds a name, which needs no escape.
func (w *Writer) member(name string) {
	w.frames = append(w.frames, ',', '"')
	w.frames = append(w.frames, name...)
	w.frames = append(w.frames, '"', ':')
}

// text adds a JSON string, in which line breaks are escaped: they would end the line of the event.
func (w *Writer) text(s string) {
	w.frames, _ = jsontext.AppendQuote(w.frames, s) // the error tells only that something was replaced
}

// marshal makes JSON on one line, whatever white space is in raw JSON that v has.
func marshal(v any) (jsontext.Value, error) {
	return json.Marshal(v, jsontext.AllowInvalidUTF8(true)) //nolint:wrapcheck // the callers say of what
}

// send sends the frames in one piece.
func (w *Writer) send() error {
	if len(w.frames) == 0 {
		return nil
	}
	if h, ok := w.to.(http.ResponseWriter); ok && !w.begun {
		Header(h.Header())
	}
	w.begun = true
	_, err := w.to.Write(w.frames)
	w.frames = w.frames[:0]
	if err == nil {
		err = w.flush()
	}
	if err != nil {
		w.err = fmt.Errorf("uistream: %w", err)
		return w.err
	}
	if !w.ended {
		w.timer.Reset(w.keepAlive)
	}
	return nil
}

// alive breaks a silence.
func (w *Writer) alive() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ready() != nil {
		return
	}
	w.frames = append(w.frames, ": keep-alive\n\n"...)
	_ = w.send() // whoever writes next is told
}
