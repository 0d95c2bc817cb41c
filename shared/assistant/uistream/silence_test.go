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

// TestKeepAlive checks the times of the comments with the clock of synctest.
func TestKeepAlive(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		to := &wire{}
		w := uistream.NewWriter(to, to.flush, uistream.Options{})
		pass := func(d time.Duration, want int) {
			t.Helper()
			time.Sleep(d)
			synctest.Wait()
			if got := strings.Count(to.String(), ": keep-alive\n\n"); got != want {
				t.Errorf("%d comments, want %d", got, want)
			}
		}
		pass(10*time.Second-1, 0)
		if w.Begun() {
			t.Error("begun before the first silence")
		}
		pass(1, 1)
		if !w.Begun() || !to.allFlushed() {
			t.Error("the comment was not sent")
		}
		pass(20*time.Second, 3)
		do(t, w.Text("a")) // restarts the silence
		pass(9*time.Second, 3)
		do(t, w.Text("b"))
		pass(9*time.Second, 3)
		pass(time.Second, 4)
		do(t, w.Finish(uistream.Stop))
		pass(time.Hour, 4)
		got, done := kinds(t, to.String())
		if diff := cmp.Diff([]string{"text-start", "text-delta", "text-delta", "text-end", "finish"}, got); diff != "" || !done {
			t.Errorf("done: %v\n%s", done, diff)
		}
	})
}

// TestFirstFrameIsHeld checks that the first frame is sent with the second frame, or at the end of Hold, and that it
// can be discarded before that.
func TestFirstFrameIsHeld(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		stream := func() (*uistream.Writer, *wire) {
			to := &wire{}
			return uistream.NewWriter(to, to.flush, uistream.Options{Hold: 3 * time.Second}), to
		}
		check := func(to *wire, want string) {
			t.Helper()
			synctest.Wait()
			if got, _ := kinds(t, to.String()); strings.Join(got, " ") != want {
				t.Errorf("%v, want %s", got, want)
			}
		}
		w, to := stream()
		do(t, w.Start("m"))
		check(to, "")
		do(t, w.Text("a"))
		check(to, "start text-start text-delta")
		do(t, w.Text("b"))
		check(to, "start text-start text-delta text-delta")
		if w.Discard() {
			t.Error("a stream was discarded after frames were sent")
		}
		do(t, w.Finish(uistream.Stop))

		w, to = stream()
		time.Sleep(2 * time.Second)
		do(t, w.Start("m"))
		time.Sleep(time.Second - 1)
		check(to, "")
		time.Sleep(time.Nanosecond)
		check(to, "start")
		w.Close()

		w, to = stream()
		time.Sleep(3 * time.Second)
		synctest.Wait()
		do(t, w.Start("m"))
		check(to, "start")
		if time.Sleep(10*time.Second - 1); strings.Count(to.String(), "keep-alive") != 0 {
			t.Error("the comment came too early")
		}
		w.Close()

		w, to = stream()
		do(t, w.Start("m"))
		if !w.Discard() {
			t.Error("the stream was not discarded")
		}
		time.Sleep(time.Hour)
		check(to, "")

		w, to = stream()
		do(t, w.Finish(uistream.Stop))
		check(to, "finish")
	})
}

// TestNilWriterDiscardsEverything calls every method that writes.
func TestNilWriterDiscardsEverything(t *testing.T) {
	t.Parallel()
	var w *uistream.Writer
	do(t, w.Start("m"), w.Text("a"), w.ToolStart("1", "t"), w.ToolDelta("1", "{}"), w.ToolAvailable("1", "t", 1), w.ToolError("1", "t", "no"),
		w.Data("x", 1), w.Error("no"), w.Finish(uistream.Failed))
}

// TestNoCommentsForClosedStreams covers streams after Close and streams whose client has disconnected.
func TestNoCommentsForClosedStreams(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		to := &wire{}
		closed := uistream.NewWriter(to, to.flush, uistream.Options{KeepAlive: time.Second})
		gone := uistream.NewWriter(to, func() error { return io.ErrClosedPipe }, uistream.Options{KeepAlive: time.Second})
		if err := gone.Text("a"); !errors.Is(err, io.ErrClosedPipe) {
			t.Error(err)
		}
		closed.Close()
		before := to.String()
		time.Sleep(time.Hour)
		synctest.Wait()
		if to.String() != before || closed.Begun() {
			t.Errorf("%q", to.String())
		}
		// A client that disconnects during a silence is detected by the comment and reported by the next call.
		silent := uistream.NewWriter(to, func() error { return io.ErrClosedPipe }, uistream.Options{KeepAlive: time.Second})
		time.Sleep(time.Hour)
		synctest.Wait()
		if err := silent.Start("m"); !errors.Is(err, io.ErrClosedPipe) {
			t.Error(err)
		}
		if n := strings.Count(to.String(), "keep-alive"); n != 1 {
			t.Errorf("%d comments", n)
		}
	})
}

// TestCommentsDoNotInterruptFrames sends comments all the time while several goroutines write frames.
func TestCommentsDoNotInterruptFrames(t *testing.T) {
	t.Parallel()
	to := &wire{}
	w := uistream.NewWriter(to, to.flush, uistream.Options{KeepAlive: time.Nanosecond})
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 200 {
				do(t, w.Data("x", strings.Repeat("y", 100)))
			}
		})
	}
	group.Wait()
	for !strings.Contains(to.String(), "keep-alive") { // the silence after the last frame, at the latest
		runtime.Gosched()
	}
	w.Close()
	end := to.String()
	list, _ := frames(t, end)
	if _, comments := parse(end); len(list) != 800 || len(comments) == 0 {
		t.Errorf("%d frames, %d comments", len(list), len(comments))
	}
	for _, piece := range to.writes {
		if strings.Count(piece, "\n\n") != 1 || !strings.HasSuffix(piece, "\n\n") {
			t.Errorf("%q", piece)
		}
	}
	if to.String() != end {
		t.Error("written to after Close")
	}
}
