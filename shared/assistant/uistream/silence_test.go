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

// TestSilences runs on a clock of its own.
func TestSilences(t *testing.T) {
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
			t.Error("not sent")
		}
		pass(20*time.Second, 3)
		do(t, w.Text("a")) // begins the silence anew
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

// TestNoSilenceIsBrokenForNobody: not after Close, and not for a client that has gone.
func TestNoSilenceIsBrokenForNobody(t *testing.T) {
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
		// A client that goes during a silence is found out by the comment, and told of at the next frame.
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

// TestACommentIsNeverInAFrame has silences all the time, beside several who write.
func TestACommentIsNeverInAFrame(t *testing.T) {
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
