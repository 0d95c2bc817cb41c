package bedrock

import (
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"devplatform/shared/assistant/model"
)

func TestAnswers(t *testing.T) {
	t.Parallel()
	big := wide(3 << 20)
	for name, tc := range map[string]struct {
		frames [][]byte
		want   heard
		stop   model.Stop
	}{
		"text": {
			[][]byte{started(), text(0, "Hel"), text(0, ""), text(0, "lo ☕"), ended(0), stopped("end_turn")},
			heard{text: "Hello ☕"}, model.StopEnd,
		},
		"nothing": {[][]byte{started(), stopped("end_turn")}, heard{}, model.StopEnd},
		"text and two tools, one after another": {
			[][]byte{
				started(), text(0, "I'll "), text(0, "do it."), ended(0),
				tool(1, "t1", "create_file"), toolInput(1, ""), toolInput(1, `{"path":`), toolInput(1, `"/a"}`), ended(1),
				tool(2, "t2", "delete_file"), toolInput(2, `{"path":"/b"}`), ended(2), stopped("tool_use"),
			},
			heard{"I'll do it.", []model.Call{{ID: "t1", Name: "create_file", Input: `{"path":"/a"}`}, {ID: "t2", Name: "delete_file", Input: `{"path":"/b"}`}}},
			model.StopTools,
		},
		"two tools and text at once": {
			[][]byte{
				started(), tool(1, "t1", "a"), tool(2, "t2", "b"), toolInput(2, `{"x"`), toolInput(1, `{"y"`), text(0, "While "),
				toolInput(2, `:1}`), ended(2), text(0, "they run"), toolInput(1, `:2}`), ended(1), ended(0), stopped("tool_use"),
			},
			heard{"While they run", []model.Call{{ID: "t1", Name: "a", Input: `{"y":2}`}, {ID: "t2", Name: "b", Input: `{"x":1}`}}},
			model.StopTools,
		},
		"blocks without ends": {
			[][]byte{started(), text(0, "a"), tool(1, "t1", "a"), toolInput(1, `{}`), tool(2, "t2", "b"), toolInput(2, `{"x":1}`), stopped("tool_use")},
			heard{"a", []model.Call{{ID: "t1", Name: "a", Input: `{}`}, {ID: "t2", Name: "b", Input: `{"x":1}`}}}, model.StopTools,
		},
		"a tool without input": {
			[][]byte{started(), tool(0, "t1", "a"), ended(0), tool(1, "t2", "b"), toolInput(1, ""), ended(1), stopped("tool_use")},
			heard{"", []model.Call{{ID: "t1", Name: "a", Input: `{}`}, {ID: "t2", Name: "b", Input: `{}`}}}, model.StopTools,
		},
		"an index that is used again": {
			[][]byte{started(), tool(0, "t1", "a"), ended(0), tool(0, "t2", "b"), ended(0), stopped("tool_use")},
			heard{"", []model.Call{{ID: "t1", Name: "a", Input: `{}`}, {ID: "t2", Name: "b", Input: `{}`}}}, model.StopTools,
		},
		"events and blocks that were not requested": {
			[][]byte{
				started(),
				reasoning(0, `{"text":"Hm."}`), reasoning(0, `{"signature":"c2ln"}`), reasoning(0, `{"redactedContent":"c2ln"}`), ended(0),
				event("contentBlockDelta", `{"contentBlockIndex":1,"delta":{"citation":{"title":"a"}}}`),
				event("contentBlockDelta", `{"contentBlockIndex":1,"delta":{"newKind":{"a":[1]}}}`),
				event("contentBlockStart", `{"contentBlockIndex":2,"start":{"newKind":{}}}`), event("newEvent", `{"a":1}`),
				event("contentBlockStart", `{"contentBlockIndex":3,"start":{"toolResult":{"toolUseId":"x"}}}`), ended(3),
				text(4, "ok"), stopped("end_turn"),
			},
			heard{text: "ok"}, model.StopEnd,
		},
		"invalid UTF-8": {
			[][]byte{
				event("contentBlockDelta", `{"contentBlockIndex":0,"delta":{"text":"a`+"\xff"+`b"}}`),
				event("contentBlockStart", `{"contentBlockIndex":1,"start":{"toolUse":{"name":"`+"\xff"+`","toolUseId":"`+"\xfe"+`"}}}`),
				event("contentBlockDelta", `{"contentBlockIndex":1,"delta":{"toolUse":{"input":"{`+"\xff"+`"}}}`), ended(1), stopped("tool_use"),
			},
			heard{"a\uFFFDb", []model.Call{{ID: "\uFFFD", Name: "\uFFFD", Input: "{\uFFFD"}}}, model.StopTools,
		},
		"huge deltas": {
			[][]byte{started(), text(0, big), text(0, "!"), tool(1, "t1", "a"), toolInput(1, `{"a":`+quote(big)+`}`), ended(1), stopped("tool_use")},
			heard{big + "!", []model.Call{{ID: "t1", Name: "a", Input: `{"a":` + quote(big) + `}`}}}, model.StopTools,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := streaming(t, append(tc.frames, usage(10, 20, 300, 4000))...)
			got, outcome, err := ask(t, s.provider(claude))
			if err != nil || !reflect.DeepEqual(got, tc.want) {
				t.Errorf("%.300v, %v", got, err)
			}
			want := model.Outcome{Stop: tc.stop, Model: claude, Usage: model.Usage{Input: 4310, Output: 20, CacheRead: 300, CacheWrite: 4000}}
			if outcome != want {
				t.Errorf("%+v", outcome)
			}
			if n := len(s.seen()); n != 1 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

func TestStopReasons(t *testing.T) {
	t.Parallel()
	for reason, tc := range map[string]struct {
		stop  model.Stop
		fault model.Fault
	}{
		"end_turn": {stop: model.StopEnd}, "stop_sequence": {stop: model.StopEnd},
		"tool_use":   {stop: model.StopEnd}, // without a call
		"max_tokens": {stop: model.StopLength}, "model_context_window_exceeded": {stop: model.StopLength},
		"guardrail_intervened": {fault: model.Refused}, "content_filtered": {fault: model.Refused}, "refusal": {fault: model.Refused},
		"malformed_tool_use": {fault: model.Unavailable}, "malformed_model_output": {fault: model.Unavailable},
		"bored": {fault: model.Unavailable},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			s := serve(t, func(w http.ResponseWriter, r *http.Request, _ int) {
				if strings.HasSuffix(r.URL.Path, "/converse") {
					_, _ = fmt.Fprintf(w, `{"output":{"message":{"role":"assistant","content":[{"text":"a"}]}},"stopReason":%q,`+
						`"usage":{"inputTokens":5,"outputTokens":6,"totalTokens":11}}`, reason)
					return
				}
				send(w, started(), text(0, "a"), stopped(reason), usage(5, 6, 0, 0))
			})
			for _, task := range []model.Task{model.TaskChat, model.TaskGenerate, model.TaskSummarize} {
				r := hello()
				r.Task = task
				got, outcome, err := askFor(t.Context(), t, s.provider(claude), r)
				if got.text != "a" || outcome.Stop != tc.stop || outcome.Usage != (model.Usage{Input: 5, Output: 6}) {
					t.Errorf("%s: %+v, %+v", task, got, outcome)
				}
				var failed *model.Error
				if (err != nil) != (tc.fault != "") || err != nil && (!errors.As(err, &failed) || failed.Fault != tc.fault || !strings.Contains(err.Error(), reason)) {
					t.Errorf("%s: %v", task, err)
				}
			}
		})
	}
}

func TestStopDependsOnCalls(t *testing.T) {
	t.Parallel()
	for _, reason := range []string{"end_turn", "tool_use"} {
		_, outcome, err := ask(t, streaming(t, tool(0, "t", "a"), ended(0), stopped(reason), usage(1, 1, 0, 0)).provider(claude))
		if err != nil || outcome.Stop != model.StopTools {
			t.Errorf("%s: %v, %v", reason, outcome, err)
		}
	}
	_, outcome, err := ask(t, streaming(t, tool(0, "t", "a"), toolInput(0, `{"pa`), stopped("max_tokens"), usage(1, 1, 0, 0)).provider(claude))
	if err != nil || outcome.Stop != model.StopLength {
		t.Errorf("%v, %v", outcome, err)
	}
}

func TestTruncatedStreams(t *testing.T) {
	t.Parallel()
	frames := [][]byte{
		started(), text(0, "Hello"), ended(0), tool(1, "t1", "a"), toolInput(1, `{"a":1}`), ended(1), stopped("tool_use"), usage(1, 2, 0, 0),
	}
	whole := slices.Concat(frames...)
	stop := len(slices.Concat(frames[:7]...))
	for at := range len(whole) + 1 {
		for _, abort := range []bool{false, true} {
			if near := at > stop-3 && at < stop+3 || at > len(whole)-3; !near && at%23 != 0 {
				continue
			}
			s := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
				send(w, whole[:at])
				if abort {
					panic(http.ErrAbortHandler)
				}
			})
			_, outcome, err := ask(t, s.provider(claude))
			if at >= stop {
				if err != nil || outcome.Stop != model.StopTools || outcome.Usage.IsZero() != (at < len(whole)) {
					t.Errorf("cut after %d of %d, %v: %+v, %v", at, len(whole), abort, outcome, err)
				}
				continue
			}
			var failed *model.Error
			if !errors.As(err, &failed) || failed.Fault != model.Unavailable || failed.RetryAfter != 0 || outcome.Stop != "" ||
				!strings.Contains(err.Error(), "ended before the message") {
				t.Errorf("cut after %d of %d, %v: %+v, %v", at, len(whole), abort, outcome, err)
			}
			if again := len(s.seen()) > 1; again != (at < len(frames[0])) {
				t.Errorf("cut after %d: %d requests", at, len(s.seen()))
			}
		}
	}
}

func TestMalformedStreams(t *testing.T) {
	t.Parallel()
	for name, frames := range map[string][][]byte{
		"HTML":                       {started(), []byte("<html>an answer of some proxy, long enough</html>")},
		"wrong checksum":             {started(), append(text(0, "secret answer")[:40], make([]byte, 80)...)},
		"invalid JSON":               {started(), event("contentBlockDelta", `{"contentBlockIndex":0,"delta":["secret answer"`)},
		"delta that is a string":     {started(), event("contentBlockDelta", `{"contentBlockIndex":0,"delta":"secret answer"}`)},
		"input without a tool":       {started(), toolInput(4, `"secret answer"`)},
		"a tool that begins twice":   {started(), tool(1, "a", "b"), tool(1, "c", "d")},
		"a message of unknown type":  {started(), frame(`"secret answer"`, ":message-type", "gossip")},
		"a message without any type": {started(), frame(`"secret answer"`)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := ask(t, streaming(t, append(frames, stopped("end_turn"))...).provider(claude))
			var failed *model.Error
			if !errors.As(err, &failed) || failed.Fault != model.Unavailable || strings.Contains(err.Error(), "secret") {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestMissingUsage(t *testing.T) {
	t.Parallel()
	left := make(chan struct{})
	s := serve(t, func(w http.ResponseWriter, r *http.Request, _ int) {
		send(w, started(), text(0, "a"), stopped("end_turn"))
		<-r.Context().Done() // the client closes the connection
		close(left)
	})
	p := s.provider(claude)
	p.usageWait = time.Millisecond
	got, outcome, err := ask(t, p)
	if err != nil || got.text != "a" || outcome.Stop != model.StopEnd || !outcome.Usage.IsZero() {
		t.Errorf("%v, %v, %v", got, outcome, err)
	}
	<-left
}

func TestStreamThatStaysOpen(t *testing.T) {
	t.Parallel()
	left := make(chan struct{})
	s := serve(t, func(w http.ResponseWriter, r *http.Request, _ int) {
		send(w, started(), text(0, "a"), stopped("end_turn"), usage(1, 2, 3, 4))
		<-r.Context().Done()
		close(left)
	})
	p := s.provider(claude)
	p.closeWait = time.Millisecond
	_, outcome, err := ask(t, p)
	if err != nil || outcome.Usage.Output != 2 {
		t.Errorf("%v, %v", outcome, err)
	}
	<-left
}

func TestPartsAreEmittedAtOnce(t *testing.T) {
	t.Parallel()
	next := make(chan struct{})
	s := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
		send(w, started())
		for _, f := range [][]byte{text(0, "a"), tool(1, "t", "n"), toolInput(1, "{"), toolInput(1, "}"), ended(1)} {
			send(w, f)
			<-next // the server waits until the part was emitted
		}
		send(w, stopped("tool_use"), usage(1, 1, 0, 0))
	})
	emitted := 0
	_, err := s.provider(claude).Generate(t.Context(), hello(), func(model.Part) error {
		emitted++
		next <- struct{}{}
		return nil
	})
	if err != nil || emitted != 5 {
		t.Errorf("%d parts, %v", emitted, err)
	}
}

// The SDK's decoder of events belongs to the client and is not safe for concurrent streams. Without a decoder for each
// call, the race detector fails this test.
func TestConcurrentAnswers(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, _ *http.Request, n int) {
		for i := range 50 {
			send(w, text(0, fmt.Sprintf("%d.%d ", n, i)))
		}
		send(w, stopped("end_turn"), usage(1, 2, 0, 0))
	})
	p := s.provider(claude)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			got, _, err := ask(t, p)
			var want strings.Builder
			n, _, _ := strings.Cut(got.text, ".")
			for i := range 50 {
				fmt.Fprintf(&want, "%s.%d ", n, i)
			}
			if err != nil || got.text != want.String() {
				t.Errorf("%q, %v", got.text, err)
			}
		})
	}
	group.Wait()
}

func TestConnectionsAreReused(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	from := map[string]bool{}
	s := serve(t, func(w http.ResponseWriter, r *http.Request, _ int) {
		mu.Lock()
		from[r.RemoteAddr] = true
		mu.Unlock()
		send(w, stopped("end_turn"), usage(1, 2, 0, 0))
		select { // the end of the stream is late, as on a network
		case <-r.Context().Done():
			t.Error("the client disconnected before the end of the stream")
		case <-time.After(5 * time.Millisecond):
		}
	})
	p := s.provider(claude)
	for range 5 {
		if _, _, err := ask(t, p); err != nil {
			t.Error(err)
		}
	}
	if len(from) != 1 {
		t.Errorf("%d connections for 5 answers", len(from))
	}
}

func TestPromptRouterModel(t *testing.T) {
	t.Parallel()
	metadata := event("metadata", `{"metrics":{"latencyMs":1},"usage":{"inputTokens":1,"outputTokens":1,"totalTokens":2},"trace":{"promptRouter":{"invokedModelId":"chosen"}}}`)
	_, outcome, err := ask(t, streaming(t, stopped("end_turn"), metadata).provider("arn:aws:bedrock:us-east-1:1:default-prompt-router/a"))
	if err != nil || outcome.Model != "chosen" {
		t.Errorf("%v, %v", outcome, err)
	}
}
