package bedrock

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"devplatform/infra/providertest"
	"devplatform/shared/assistant/model"
)

// The stop reason of an answer depends on its calls, because some models report a wrong reason.
func TestAnswers(t *testing.T) {
	t.Parallel()
	big := multibyteText(1 << 20)
	for name, tc := range map[string]struct {
		frames [][]byte
		text   string
		calls  []model.Call
		stop   model.Stop
	}{
		"text": {
			frames: [][]byte{
				messageStart(), textDelta(0, "Hel"), textDelta(0, ""), textDelta(0, "lo ☕"), blockStop(0),
				messageStop("end_turn"),
			},
			text: "Hello ☕",
			stop: model.StopEnd,
		},
		"no content": {
			frames: [][]byte{
				messageStart(), messageStop("end_turn"),
			},
			stop: model.StopEnd,
		},
		"text, then two calls": {
			frames: [][]byte{
				messageStart(), textDelta(0, "I'll "), textDelta(0, "do it."), blockStop(0),
				toolStart(1, "t1", "create_file"), toolDelta(1, ""), toolDelta(1, `{"path":`), toolDelta(1, `"/a"}`),
				blockStop(1), toolStart(2, "t2", "delete_file"), toolDelta(2, `{"path":"/b"}`), blockStop(2),
				messageStop("tool_use"),
			},
			text: "I'll do it.",
			calls: []model.Call{
				{ID: "t1", Name: "create_file", Input: `{"path":"/a"}`},
				{ID: "t2", Name: "delete_file", Input: `{"path":"/b"}`},
			},
			stop: model.StopTools,
		},
		"two calls and text that overlap": {
			frames: [][]byte{
				messageStart(), toolStart(1, "t1", "a"), toolStart(2, "t2", "b"), toolDelta(2, `{"x"`),
				toolDelta(1, `{"y"`), textDelta(0, "While "), toolDelta(2, `:1}`), blockStop(2),
				textDelta(0, "they run"), toolDelta(1, `:2}`), blockStop(1), blockStop(0), messageStop("tool_use"),
			},
			text: "While they run",
			calls: []model.Call{
				{ID: "t1", Name: "a", Input: `{"y":2}`},
				{ID: "t2", Name: "b", Input: `{"x":1}`},
			},
			stop: model.StopTools,
		},
		"blocks without contentBlockStop": {
			frames: [][]byte{
				messageStart(), textDelta(0, "a"), toolStart(1, "t1", "a"), toolDelta(1, `{}`),
				toolStart(2, "t2", "b"), toolDelta(2, `{"x":1}`), messageStop("max_tokens"),
			},
			text: "a",
			calls: []model.Call{
				{ID: "t1", Name: "a", Input: `{}`},
				{ID: "t2", Name: "b", Input: `{"x":1}`},
			},
			stop: model.StopLength,
		},
		"calls without input": {
			frames: [][]byte{
				messageStart(), toolStart(0, "t1", "a"), blockStop(0), toolStart(1, "t2", "b"), toolDelta(1, ""),
				blockStop(1), messageStop("tool_use"),
			},
			calls: []model.Call{
				{ID: "t1", Name: "a"},
				{ID: "t2", Name: "b"},
			},
			stop: model.StopTools,
		},
		"two calls with the same index": {
			frames: [][]byte{
				messageStart(), toolStart(0, "t1", "a"), blockStop(0), toolStart(0, "t2", "b"), blockStop(0),
				messageStop("end_turn"),
			},
			calls: []model.Call{
				{ID: "t1", Name: "a"},
				{ID: "t2", Name: "b"},
			},
			stop: model.StopTools,
		},
		"events and blocks that were not requested": {
			frames: [][]byte{
				messageStart(), reasoningDelta(0, `{"text":"Hm."}`), reasoningDelta(0, `{"signature":"c2ln"}`),
				reasoningDelta(0, `{"redactedContent":"c2ln"}`), blockStop(0),
				event("contentBlockDelta", `{"contentBlockIndex":1,"delta":{"citation":{"title":"a"}}}`),
				event("contentBlockDelta", `{"contentBlockIndex":1,"delta":{"newKind":{"a":[1]}}}`),
				event("contentBlockStart", `{"contentBlockIndex":2,"start":{"newKind":{}}}`),
				event("newEvent", `{"a":1}`),
				event("contentBlockStart", `{"contentBlockIndex":3,"start":{"toolResult":{"toolUseId":"x"}}}`),
				blockStop(3), textDelta(4, "ok"), messageStop("end_turn"),
			},
			text: "ok",
			stop: model.StopEnd,
		},
		"invalid UTF-8": {
			frames: [][]byte{
				event("contentBlockDelta", `{"contentBlockIndex":0,"delta":{"text":"a`+"\xff"+`b"}}`),
				event("contentBlockStart",
					`{"contentBlockIndex":1,"start":{"toolUse":{"name":"`+"\xff"+`","toolUseId":"`+"\xfe"+`"}}}`),
				event("contentBlockDelta", `{"contentBlockIndex":1,"delta":{"toolUse":{"input":"{`+"\xff"+`"}}}`),
				blockStop(1), messageStop("tool_use"),
			},
			text: "a\uFFFDb",
			calls: []model.Call{
				{ID: "\uFFFD", Name: "\uFFFD", Input: "{\uFFFD"},
			},
			stop: model.StopTools,
		},
		"huge deltas": {
			frames: [][]byte{
				messageStart(), textDelta(0, big), textDelta(0, "!"), toolStart(1, "t1", "a"),
				toolDelta(1, `{"a":`+quote(big)+`}`), blockStop(1), messageStop("tool_use"),
			},
			text: big + "!",
			calls: []model.Call{
				{ID: "t1", Name: "a", Input: `{"a":` + quote(big) + `}`},
			},
			stop: model.StopTools,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serveFrames(t, append(tc.frames, metadata(10, 20, 300, 4000))...)
			got, outcome, err := generate(t, s.provider(claude))
			if err != nil {
				t.Fatal(err)
			}
			if got.Text != tc.text || !slices.Equal(got.Calls, tc.calls) {
				t.Errorf("got %.300q and the calls %.300v, want %.300q and %.300v", got.Text, got.Calls, tc.text, tc.calls)
			}
			want := model.Outcome{
				Stop: tc.stop, Model: claude,
				Usage: model.Usage{Input: 4310, Output: 20},
			}
			if outcome != want {
				t.Errorf("got the outcome %+v, want %+v", outcome, want)
			}
			s.CheckRequests(t, 1)
		})
	}
}

func TestStopReasons(t *testing.T) {
	t.Parallel()
	for reason, tc := range map[string]struct {
		stop  model.Stop
		fault model.Fault
	}{
		"end_turn":                      {stop: model.StopEnd},
		"stop_sequence":                 {stop: model.StopEnd},
		"tool_use":                      {stop: model.StopEnd}, // without a call
		"max_tokens":                    {stop: model.StopLength},
		"model_context_window_exceeded": {stop: model.StopLength},
		"guardrail_intervened":          {fault: model.Refused},
		"content_filtered":              {fault: model.Refused},
		"refusal":                       {fault: model.Refused},
		"malformed_tool_use":            {fault: model.Unavailable},
		"malformed_model_output":        {fault: model.Unavailable},
		"unknown_reason":                {fault: model.Unavailable},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			s := serveFrames(t, messageStart(), textDelta(0, "a"), messageStop(reason), metadata(5, 6, 0, 0))
			got, outcome, err := generate(t, s.provider(claude))
			wantUsage := model.Usage{Input: 5, Output: 6}
			if got.Text != "a" || outcome.Stop != tc.stop || outcome.Usage != wantUsage {
				t.Errorf("got answer %v and outcome %+v, want the text a, %q and the usage %+v", got, outcome, tc.stop, wantUsage)
			}
			if tc.fault == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if providertest.CheckFault(t, err, tc.fault); !strings.Contains(err.Error(), reason) {
				t.Errorf("the error %v does not contain the reason %s", err, reason)
			}
		})
	}
}

// If the server does not end the stream, the answer is complete after closeWait.
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
