// Package uistream writes the AI SDK's UI message stream, version 1, as server-sent events
// (https://ai-sdk.dev/docs/ai-sdk-ui/stream-protocol). A stream consists of unnamed events with JSON, which are called
// frames here, and ends with [DONE]. If there is no frame for some time, a comment is sent. The package ensures the
// order of frames that the protocol requires. The content of frames does not belong here.
package uistream

import (
	"cmp"
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

	"devplatform/shared/async"
)

// DefaultKeepAlive is the time without a frame after which a stream sends a comment.
const DefaultKeepAlive = 10 * time.Second

// Reason is the reason why an answer ended, as named by the protocol. The protocol has more reasons, which this project
// does not need.
type Reason string

// The reasons.
const (
	Stop   Reason = "stop"
	Length Reason = "length"
	Failed Reason = "error"
	Other  Reason = "other"
)

// ErrEnded is the error of every write after Finish, Close or a successful Discard.
var ErrEnded = errors.New("uistream: the stream has ended")

// maxBytes is the maximum number of bytes of a stream. If its client does not read, the whole stream is in memory. An
// answer of 384 KiB whose parts have four bytes each needs half of maxBytes.
const maxBytes = 32 << 20

// errTooLarge is the error of every write after a stream has reached its maximum size.
var errTooLarge = errors.New("uistream: the stream is too large")

// notCompleted is the error text of a tool call that was started but not completed.
const notCompleted = "The call was not completed."

// Options are a stream's settings.
type Options struct {
	// KeepAlive is the time without a frame after which a comment is sent. 0 means DefaultKeepAlive.
	KeepAlive time.Duration
	// Hold delays the first frame until the second frame, but not longer than this time after NewWriter. An error that
	// occurs during this time can be sent as an ordinary response (see Discard). 0 means no delay.
	Hold time.Duration
}

// Writer writes one stream. Each method sends its frame immediately, in one piece. If a write fails, because the client
// has disconnected or the stream is too large, all later calls return the same error and write nothing. Bytes that are
// not UTF-8 are sent as U+FFFD. A nil Writer discards everything. A Writer is safe for concurrent use.
type Writer struct {
	to        io.Writer
	flush     func() error
	keepAlive time.Duration

	mu     sync.Mutex
	timer  *time.Timer // fires at the end of Hold, and then after the time keepAlive without a frame
	frames []byte      // frames that were not sent yet; the buffer is reused
	// holdsNext reports whether the next frame is delayed until another frame follows.
	holdsNext bool
	hasSent   bool // something was sent
	bytes     int  // number of bytes that were sent
	hasEnded  bool
	err       error  // of the first write that failed
	texts     int    // number of text parts so far
	isInText  bool   // a text part is open
	openCalls []call // in the order in which they started
}

// call is a tool call that has started and not ended.
type call struct{ id, name string }

// NewWriter returns a Writer that writes the stream to the given io.Writer. The Writer sends keep-alive comments
// until Close is called. Nothing is sent before the first frame or comment. If the io.Writer is an http.ResponseWriter,
// its headers are set when the first byte is sent.
func NewWriter(to io.Writer, flush func() error, o Options) *Writer {
	w := &Writer{to: to, flush: flush, keepAlive: cmp.Or(o.KeepAlive, DefaultKeepAlive), holdsNext: o.Hold > 0}
	w.mu.Lock() // onTimer uses w.timer
	w.timer = async.AfterFunc(cmp.Or(o.Hold, w.keepAlive), w.onTimer)
	w.mu.Unlock()
	return w
}

// Header sets the headers of a response that is a stream.
func Header(h http.Header) {
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Vercel-Ai-Ui-Message-Stream", "v1")
}

// Start writes the first frame, with the ID of the message that the stream carries.
func (w *Writer) Start(messageID string) error {
	return w.write(func() error {
		w.add("start", "messageId", messageID)
		return nil
	})
}

// Text writes more of the answer's text, in the open text part or a new one. It ignores empty text.
func (w *Writer) Text(delta string) error {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.checkOpen(); err != nil || delta == "" {
		return err
	}
	if !w.isInText {
		w.isInText = true
		w.texts++
		w.add("text-start", "id", w.textID())
	}
	w.add("text-delta", "id", w.textID(), "delta", delta)
	return w.send()
}

// ToolStart starts a tool call. ToolDelta writes pieces of the JSON of its input, and ToolAvailable the whole input.
// Several calls may be open. ToolStart returns an error if the call is already open.
func (w *Writer) ToolStart(callID, name string) error {
	return w.write(func() error {
		if w.indexOf(callID) >= 0 {
			return fmt.Errorf("uistream: the call %q is already open", callID)
		}
		w.openCalls = append(w.openCalls, call{callID, name})
		w.add("tool-input-start", "toolCallId", callID, "toolName", name)
		return nil
	})
}

// ToolDelta writes more of a call's input. It returns an error if the call is not open.
func (w *Writer) ToolDelta(callID, delta string) error {
	return w.write(func() error {
		if w.indexOf(callID) < 0 {
			return fmt.Errorf("uistream: the call %q is not open", callID)
		}
		if delta != "" {
			w.add("tool-input-delta", "toolCallId", callID, "inputTextDelta", delta)
		}
		return nil
	})
}

// ToolAvailable ends a call with its input, a value that can be encoded as JSON. The call need not have been started.
func (w *Writer) ToolAvailable(callID, name string, input any) error {
	value, err := marshal(input)
	if err != nil {
		return fmt.Errorf("uistream: the input of %q: %w", name, err)
	}
	return w.write(func() error {
		w.removeOpenCall(callID)
		w.addValue("input", value, "tool-input-available", "toolCallId", callID, "toolName", name)
		return nil
	})
}

// ToolError ends a call that failed, with a message for the user. The call need not have been started.
func (w *Writer) ToolError(callID, name, text string) error {
	return w.write(func() error {
		w.removeOpenCall(callID)
		w.addFailed(call{callID, name}, text)
		return nil
	})
}

// Data writes a frame of type data-<name> with a value that can be encoded as JSON.
func (w *Writer) Data(name string, v any) error {
	value, err := marshal(v)
	if err != nil {
		return fmt.Errorf("uistream: data-%s: %w", name, err)
	}
	return w.write(func() error {
		w.addValue("data", value, "data-"+name)
		return nil
	})
}

// Error closes the open calls and writes an error frame with a message for the user. The caller must then call
// Finish(Failed).
func (w *Writer) Error(text string) error {
	return w.write(func() error {
		w.failOpenCalls()
		w.add("error", "errorText", text)
		return nil
	})
}

// Finish closes the open calls and ends the stream. Without Finish, the client treats the stream as interrupted.
func (w *Writer) Finish(reason Reason) error {
	return w.write(func() error {
		w.failOpenCalls()
		w.add("finish", "finishReason", string(reason))
		w.frames = append(w.frames, "data: [DONE]\n\n"...)
		w.end()
		return nil
	})
}

// Close ends the stream without a frame. Nothing is sent after Close has returned. Close may be called again.
func (w *Writer) Close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.end()
}

// Discard ends the stream if nothing has been sent yet. It reports whether nothing has been sent. In this case, the
// caller can send another response.
func (w *Writer) Discard() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.hasSent {
		w.end()
	}
	return !w.hasSent
}

// write closes the open text part, calls addFrames, and sends the frames that were added.
func (w *Writer) write(addFrames func() error) error {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.checkOpen(); err != nil {
		return err
	}
	if w.isInText {
		w.isInText = false
		w.add("text-end", "id", w.textID())
	}
	if err := addFrames(); err != nil {
		return errors.Join(err, w.send())
	}
	return w.send()
}

// checkOpen returns an error if nothing can be sent: an earlier write failed, or the stream has ended.
func (w *Writer) checkOpen() error {
	if w.err != nil {
		return w.err
	}
	if w.hasEnded {
		return ErrEnded
	}
	return nil
}

// end makes all later writes fail. The caller holds mu.
func (w *Writer) end() {
	w.hasEnded = true
	w.timer.Stop()
}

// textID returns the ID of the latest text part.
func (w *Writer) textID() string { return "text-" + strconv.Itoa(w.texts) }

func (w *Writer) indexOf(callID string) int {
	return slices.IndexFunc(w.openCalls, func(c call) bool { return c.id == callID })
}

// removeOpenCall marks a call as ended.
func (w *Writer) removeOpenCall(callID string) {
	if i := w.indexOf(callID); i >= 0 {
		w.openCalls = slices.Delete(w.openCalls, i, i+1)
	}
}

// failOpenCalls ends the open calls with an error. Without the error, a client would show them as in progress forever.
func (w *Writer) failOpenCalls() {
	for _, c := range w.openCalls {
		w.addFailed(c, notCompleted)
	}
	w.openCalls = nil
}

// addFailed adds the frame of a failed call. The client requires an input, so the frame contains null as the input.
func (w *Writer) addFailed(c call, text string) {
	w.addValue("input", jsontext.Value("null"),
		"tool-input-error", "toolCallId", c.id, "toolName", c.name, "errorText", text)
}

// add adds a frame of the given type. members contains a name, its string value, a name, and so on.
func (w *Writer) add(kind string, members ...string) {
	w.begin(kind, members)
	w.frames = append(w.frames, "}\n\n"...)
}

// addValue is like add, but the frame has one more member: its name and its value, which is JSON without line breaks.
func (w *Writer) addValue(name string, value jsontext.Value, kind string, members ...string) {
	w.begin(kind, members)
	w.addName(name)
	w.frames = append(w.frames, value...)
	w.frames = append(w.frames, "}\n\n"...)
}

// begin adds the beginning of a frame, without its closing brace.
func (w *Writer) begin(kind string, members []string) {
	w.frames = append(w.frames, `data: {"type":`...)
	w.addString(kind)
	for i := 0; i+1 < len(members); i += 2 {
		w.addName(members[i])
		w.addString(members[i+1])
	}
}

// addName adds the name of a member, which needs no escaping.
func (w *Writer) addName(name string) {
	w.frames = append(w.frames, ',', '"')
	w.frames = append(w.frames, name...)
	w.frames = append(w.frames, '"', ':')
}

// addString adds a JSON string. Line breaks, which would end the event's line, are escaped.
func (w *Writer) addString(s string) {
	w.frames, _ = jsontext.AppendQuote(w.frames, s) // the error only reports that bytes were replaced
}

// marshal encodes v as JSON on one line, even if v contains raw JSON with white space.
func marshal(v any) (jsontext.Value, error) {
	return json.Marshal(v, jsontext.AllowInvalidUTF8(true))
}

// send sends the frames in one write, unless the first frame is held.
func (w *Writer) send() error {
	if len(w.frames) == 0 {
		return nil
	}
	if w.holdsNext && !w.hasEnded {
		w.holdsNext = false
		return nil
	}
	if h, ok := w.to.(http.ResponseWriter); ok && !w.hasSent {
		Header(h.Header())
	}
	if w.bytes += len(w.frames); w.bytes > maxBytes {
		w.err = errTooLarge
		return w.err
	}
	w.hasSent = true
	_, err := w.to.Write(w.frames)
	w.frames = w.frames[:0]
	if err == nil {
		err = w.flush()
	}
	if err != nil {
		w.err = fmt.Errorf("uistream: %w", err)
		return w.err
	}
	if !w.hasEnded {
		w.timer.Reset(w.keepAlive)
	}
	return nil
}

// onTimer sends the held frame, or a comment if there was no frame for some time.
func (w *Writer) onTimer() {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.checkOpen() != nil:
		return
	case w.holdsNext: // there is no frame yet
		w.holdsNext = false
		w.timer.Reset(w.keepAlive)
		return
	case len(w.frames) == 0:
		w.frames = append(w.frames, ": keep-alive\n\n"...)
	}
	_ = w.send() // the next call returns the error
}
