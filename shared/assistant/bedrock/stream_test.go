package bedrock

import (
	_ "embed"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"devplatform/shared/assistant/model"
)

// answers has a case in each section: its name, the events of a stream, and a line of three hyphens, followed by what
// the provider reads from the events. An event is its type and its payload, as a Go string if it is not valid UTF-8.
//
//go:embed testdata/answers.txt
var answers string

// The stop reason of an answer depends on its calls, because some models report a wrong reason.
func TestAnswers(t *testing.T) {
	t.Parallel()
	for section := range strings.SplitSeq(strings.TrimPrefix(answers, "=== "), "\n=== ") {
		name, rest, _ := strings.Cut(section, "\n")
		events, want, _ := strings.Cut(rest, "\n---\n")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var frames [][]byte
			for line := range strings.SplitSeq(events, "\n") {
				if text, err := strconv.Unquote(line); err == nil {
					line = text
				}
				kind, payload, _ := strings.Cut(line, " ")
				frames = append(frames, event(kind, payload))
			}
			s := serveFrames(t, frames...)
			got, outcome, err := generate(t, s.provider(claude))
			if diff := cmp.Diff(strings.TrimSpace(want), strings.TrimSpace(got.Transcript(outcome, err))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			s.CheckRequests(t, 1)
		})
	}
}

func TestHugeDeltas(t *testing.T) {
	t.Parallel()
	big := multibyteText(1 << 20)
	s := serveFrames(t,
		messageStart(), textDelta(0, big), textDelta(0, "!"), toolStart(1, "t1", "a"),
		toolDelta(1, `{"a":`+quote(big)+`}`), blockStop(1), messageStop("tool_use"), metadata(10, 20, 300, 4000))
	got, _, err := generate(t, s.provider(claude))
	if err != nil || got.Text != big+"!" || len(got.Calls) != 1 || got.Calls[0].Input != `{"a":`+quote(big)+`}` {
		t.Errorf("got %d bytes of text, %d calls, error %v, want the text and the call", len(got.Text), len(got.Calls), err)
	}
}

// If the server does not end the stream, the answer is complete after Waits.Close.
func TestStreamThatStaysOpen(t *testing.T) {
	t.Parallel()
	disconnected := make(chan struct{})
	s := serve(t, func(w http.ResponseWriter, r *http.Request, _ int) {
		writeFrames(w, messageStart(), textDelta(0, "a"), messageStop("end_turn"), metadata(1, 2, 3, 4))
		<-r.Context().Done()
		close(disconnected)
	})
	p := s.provider(claude)
	p.waits.Close = time.Millisecond
	_, outcome, err := generate(t, p)
	if err != nil || outcome.Usage.Output != 2 {
		t.Errorf("got outcome %+v and error %v, want a usage of 2 output tokens", outcome, err)
	}
	<-disconnected
}

func TestPartsAreEmittedImmediately(t *testing.T) {
	t.Parallel()
	emittedPart := make(chan struct{})
	frames := [][]byte{
		textDelta(0, "a"), toolStart(1, "t", "n"), toolDelta(1, "{"), toolDelta(1, "}"), blockStop(1),
	}
	s := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
		writeFrames(w, messageStart())
		for _, f := range frames {
			writeFrames(w, f)
			<-emittedPart // the server sends the next frame after the part was emitted
		}
		writeFrames(w, messageStop("tool_use"), metadata(1, 1, 0, 0))
	})
	emitted := 0
	_, err := s.provider(claude).Generate(t.Context(), chatRequest(), func(model.Part) error {
		emitted++
		emittedPart <- struct{}{}
		return nil
	})
	if err != nil || emitted != len(frames) {
		t.Errorf("got %d parts and error %v, want %d parts", emitted, err, len(frames))
	}
}

// The SDK's decoder of events belongs to the client and is not safe for concurrent streams. Without a decoder for each
// call, the race detector fails this test.
func TestConcurrentAnswers(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, _ *http.Request, n int) {
		for i := range 50 {
			writeFrames(w, textDelta(0, fmt.Sprintf("%d.%d ", n, i)))
		}
		writeFrames(w, messageStop("end_turn"), metadata(1, 2, 0, 0))
	})
	p := s.provider(claude)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			got, _, err := generate(t, p)
			var want strings.Builder
			n, _, _ := strings.Cut(got.Text, ".")
			for i := range 50 {
				fmt.Fprintf(&want, "%s.%d ", n, i)
			}
			if err != nil || got.Text != want.String() {
				t.Errorf("got %q and error %v, want %q", got.Text, err, want.String())
			}
		})
	}
	group.Wait()
}

func TestConnectionsAreReused(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	clientAddresses := map[string]bool{}
	s := serve(t, func(w http.ResponseWriter, r *http.Request, _ int) {
		mu.Lock()
		clientAddresses[r.RemoteAddr] = true
		mu.Unlock()
		writeFrames(w, messageStop("end_turn"), metadata(1, 2, 0, 0))
		select { // the end of the stream is late, as on a network
		case <-r.Context().Done():
			t.Error("the client disconnected before the end of the stream")
		case <-time.After(5 * time.Millisecond):
		}
	})
	p := s.provider(claude)
	for range 5 {
		if _, _, err := generate(t, p); err != nil {
			t.Error(err)
		}
	}
	if len(clientAddresses) != 1 {
		t.Errorf("got %d connections for 5 answers, want 1", len(clientAddresses))
	}
}
