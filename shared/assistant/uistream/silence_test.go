package uistream_test

import (
	"errors"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"devplatform/shared/assistant/uistream"
)

// A comment is sent after 10 seconds without a frame, and every 10 seconds after that.
func TestKeepAlive(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rec := &recorder{}
		w := uistream.NewWriter(rec, rec.flush, uistream.Options{})
		checkComments := func(after time.Duration, want int) {
			t.Helper()
			time.Sleep(after)
			synctest.Wait()
			if got := strings.Count(rec.String(), ": keep-alive\n\n"); got != want {
				t.Errorf("got %d comments, want %d", got, want)
			}
		}
		checkComments(10*time.Second-1, 0)
		if w.HasSent() {
			t.Error("the stream has begun before the first comment")
		}
		checkComments(1, 1)
		if !w.HasSent() || !rec.allFlushed() {
			t.Error("the comment was not flushed")
		}
		checkComments(20*time.Second, 3)
		checkErrors(t, w.Text("a")) // restarts the 10 seconds
		checkComments(9*time.Second, 3)
		checkErrors(t, w.Text("b"))
		checkComments(9*time.Second, 3)
		checkComments(time.Second, 4)
		checkErrors(t, w.Finish(uistream.Stop))
		checkComments(time.Hour, 4)
		got, done := frameTypes(t, rec.String())
		want := []string{"text-start", "text-delta", "text-delta", "text-end", "finish"}
		if diff := cmp.Diff(want, got); diff != "" || !done {
			t.Errorf("got [DONE]: %v, frames (-want +got):\n%s", done, diff)
		}
	})
}

// With Hold, the first frame is sent with the second frame or at the end of Hold. Before that, it can be discarded.
func TestFirstFrameIsHeld(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		newStream := func() (*uistream.Writer, *recorder) {
			rec := &recorder{}
			return uistream.NewWriter(rec, rec.flush, uistream.Options{Hold: 3 * time.Second}), rec
		}
		checkSent := func(rec *recorder, want string) {
			t.Helper()
			synctest.Wait()
			if got, _ := frameTypes(t, rec.String()); strings.Join(got, " ") != want {
				t.Errorf("got the frames %v, want %s", got, want)
			}
		}
		w, rec := newStream()
		checkErrors(t, w.Start("m"))
		checkSent(rec, "")
		checkErrors(t, w.Text("a"))
		checkSent(rec, "start text-start text-delta")
		checkErrors(t, w.Text("b"))
		checkSent(rec, "start text-start text-delta text-delta")
		if w.Discard() {
			t.Error("Discard returned true after frames were sent")
		}
		checkErrors(t, w.Finish(uistream.Stop))

		w, rec = newStream()
		time.Sleep(2 * time.Second)
		checkErrors(t, w.Start("m"))
		time.Sleep(time.Second - 1)
		checkSent(rec, "")
		time.Sleep(time.Nanosecond)
		checkSent(rec, "start")
		w.Close()

		w, rec = newStream()
		time.Sleep(3 * time.Second)
		synctest.Wait()
		checkErrors(t, w.Start("m"))
		checkSent(rec, "start")
		if time.Sleep(10*time.Second - 1); strings.Count(rec.String(), "keep-alive") != 0 {
			t.Error("a comment was sent less than 10 seconds after the first frame")
		}
		w.Close()

		w, rec = newStream()
		checkErrors(t, w.Start("m"))
		if !w.Discard() {
			t.Error("Discard returned false although nothing was sent")
		}
		time.Sleep(time.Hour)
		checkSent(rec, "")

		w, rec = newStream()
		checkErrors(t, w.Finish(uistream.Stop))
		checkSent(rec, "finish")
	})
}

// All methods that write accept a nil Writer and do nothing.
func TestNilWriterDiscardsEverything(t *testing.T) {
	t.Parallel()
	var w *uistream.Writer
	checkErrors(t,
		w.Start("m"),
		w.Text("a"),
		w.ToolStart("1", "t"),
		w.ToolDelta("1", "{}"),
		w.ToolAvailable("1", "t", 1),
		w.ToolError("1", "t", "no"),
		w.Data("x", 1),
		w.Error("no"),
		w.Finish(uistream.Failed))
}

// No comments are sent after Close or after the client has disconnected.
func TestNoCommentsForClosedStreams(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rec := &recorder{}
		failingFlush := func() error { return io.ErrClosedPipe }
		options := uistream.Options{KeepAlive: time.Second}
		closed := uistream.NewWriter(rec, rec.flush, options)
		disconnected := uistream.NewWriter(rec, failingFlush, options)
		if err := disconnected.Text("a"); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("Text: got error %v, want %v", err, io.ErrClosedPipe)
		}
		closed.Close()
		before := rec.String()
		time.Sleep(time.Hour)
		synctest.Wait()
		if got := rec.String(); got != before || closed.HasSent() {
			t.Errorf("got %q after Close and the disconnect, want %q", got, before)
		}
		// If a client disconnects while there are no frames, the next comment fails and the next call returns the error.
		idle := uistream.NewWriter(rec, failingFlush, options)
		time.Sleep(time.Hour)
		synctest.Wait()
		if err := idle.Start("m"); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("Start: got error %v, want %v", err, io.ErrClosedPipe)
		}
		if n := strings.Count(rec.String(), "keep-alive"); n != 1 {
			t.Errorf("got %d comments, want 1", n)
		}
	})
}

// Comments are never sent inside a frame, even if several goroutines write frames and comments are very frequent.
func TestCommentsDoNotInterruptFrames(t *testing.T) {
	t.Parallel()
	rec := &recorder{}
	w := uistream.NewWriter(rec, rec.flush, uistream.Options{KeepAlive: time.Nanosecond})
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 200 {
				checkErrors(t, w.Data("x", strings.Repeat("y", 100)))
			}
		})
	}
	group.Wait()
	for !strings.Contains(rec.String(), "keep-alive") { // a comment is sent after the last frame, if not earlier
		runtime.Gosched()
	}
	w.Close()
	stream := rec.String()
	if received, comments, _ := frames(t, stream); len(received) != 800 || comments == 0 {
		t.Errorf("got %d frames and %d comments, want 800 frames and some comments", len(received), comments)
	}
	for _, written := range rec.writes {
		if strings.Count(written, "\n\n") != 1 || !strings.HasSuffix(written, "\n\n") {
			t.Errorf("got the write %q, want one whole frame or comment", written)
		}
	}
	if rec.String() != stream {
		t.Error("something was written after Close")
	}
}
