package openai_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"pgregory.net/rapid"

	"devplatform/infra/providertest"
	"devplatform/shared/assistant/model"
	"devplatform/shared/assistant/openai"
)

// quote returns s as a JSON string.
func quote(s string) string {
	data, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// splitText cuts s between characters. Pieces may be empty.
func splitText(rt *rapid.T, s string) []string {
	var pieces []string
	runes := []rune(s)
	for len(runes) > 0 {
		n := rapid.IntRange(0, len(runes)).Draw(rt, "piece")
		pieces = append(pieces, string(runes[:n]))
		runes = runes[n:]
	}
	return append(pieces, "")
}

// drawCalls generates calls with inputs that a model might write.
func drawCalls(rt *rapid.T) []model.Call {
	input := rapid.SampledFrom([]string{
		`{}`,
		`{"path":"/a"}`,
		` {"a":[1,{"b":"}]\"\\"}]} `,
		`{"content":"función 鍵 {\n\"x\" \\\\"}`,
		`[{}]`,
		"{\n\t\"a\": {}\n}",
	})
	calls := make([]model.Call, rapid.IntRange(0, 4).Draw(rt, "calls"))
	for i := range calls {
		calls[i] = model.Call{
			ID:    fmt.Sprintf("call_%d", i),
			Name:  rapid.SampledFrom([]string{"f", "g"}).Draw(rt, "name"),
			Input: input.Draw(rt, "input"),
		}
	}
	return calls
}

// An answer is complete and in order for any sizes of the deltas, and for any order of the deltas of different calls.
func TestDeltasOfAnySize(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.StringMatching(`[ab{}"é鍵 ]{0,12}`).Draw(rt, "text")
		calls := drawCalls(rt)
		answer := drawEventStream(rt, text, calls)
		s := serve(t, respondText(answer))
		defer s.Close()
		got, outcome, err := generate(rt, s, simpleRequest)
		if err != nil {
			rt.Fatalf("got error %v for %s", err, answer)
		}
		wantStop := model.StopEnd
		if len(calls) > 0 {
			wantStop = model.StopTools
		}
		if want := strings.Count(answer, reasoningText); got.Thinking != want {
			rt.Fatalf("got %d thinking parts, want %d, for %s", got.Thinking, want, answer)
		}
		if got.Text != text || len(got.Calls) != len(calls) || outcome.Stop != wantStop {
			rt.Fatalf("got the answer %+v and the outcome %+v for %s", got, outcome, answer)
		}
		for i, want := range calls {
			// White space after a complete object may be dropped.
			got.Calls[i].Input, want.Input = strings.TrimRight(got.Calls[i].Input, " "), strings.TrimRight(want.Input, " ")
			if got.Calls[i] != want {
				rt.Fatalf("call %d: got %+v, want %+v, for %s", i, got.Calls[i], want, answer)
			}
		}
	})
}

// reasoningText is a text of reasoning, which must not be emitted.
const reasoningText = `"Hm, hm."`

// drawEventStream returns the answer as an event stream. The deltas of different calls are mixed, and reasoning is
// inserted anywhere. The deltas of one call are in order, and calls begin in order.
func drawEventStream(rt *rapid.T, text string, calls []model.Call) string {
	// queues are the remaining deltas of the text, at index 0, and of each call.
	queues := make([][]string, len(calls)+1)
	for _, piece := range splitText(rt, text) {
		queues[0] = append(queues[0], `"content":`+quote(piece))
	}
	for i, c := range calls {
		begin := fmt.Sprintf(`{"index":%d,"id":%q,"type":"function","function":{"name":%q,"arguments":""}}`, i, c.ID, c.Name)
		queues[i+1] = append(queues[i+1], begin)
		for _, piece := range splitText(rt, c.Input) {
			queues[i+1] = append(queues[i+1], fmt.Sprintf(`{"index":%d,"function":{"arguments":%s}}`, i, quote(piece)))
		}
	}
	deltas := []string{`"role":"assistant"`}
	begun := 1 // the number of queues that have begun, including the text
	for {
		var open []int
		for i := range min(begun+1, len(queues)) {
			if len(queues[i]) > 0 {
				open = append(open, i)
			}
		}
		if len(open) == 0 {
			break
		}
		i := rapid.SampledFrom(open).Draw(rt, "queue")
		begun = max(begun, i+1)
		delta := queues[i][0]
		queues[i] = queues[i][1:]
		if i > 0 {
			delta = `"tool_calls":[` + delta + `]`
		}
		deltas = append(deltas, delta)
	}
	reason := rapid.SampledFrom([]string{"stop", "tool_calls"}).Draw(rt, "reason")
	lastHasReason := rapid.Bool().Draw(rt, "reason in the last delta")
	newline := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(rt, "newline")
	var b strings.Builder
	for i, delta := range deltas {
		chunk := deltaChunk("{" + delta + "}")
		if lastHasReason && i == len(deltas)-1 {
			chunk = finishChunk("{"+delta+"}", reason)
		}
		if rapid.Bool().Draw(rt, "comment") {
			b.WriteString(": keep-alive" + newline + newline)
		}
		for range rapid.IntRange(0, 2).Draw(rt, "thoughts") {
			name := rapid.SampledFrom([]string{"reasoning_content", "reasoning"}).Draw(rt, "name")
			b.WriteString("data: " + deltaChunk(fmt.Sprintf(`{"content":null,%q:%s}`, name, reasoningText)) + newline + newline)
		}
		b.WriteString("data: " + chunk + newline + newline)
	}
	if !lastHasReason {
		b.WriteString("data: " + finishChunk(`{}`, reason) + newline + newline)
	}
	if rapid.Bool().Draw(rt, "usage") {
		b.WriteString("data: " + usageChunk + newline + newline)
	}
	if rapid.Bool().Draw(rt, "done") {
		b.WriteString("data: [DONE]" + newline + newline)
	}
	return b.String()
}

// If each call arrives in a single delta, the calls are kept apart, even if their indexes and IDs are missing or equal.
func TestWholeCalls(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		calls := drawCalls(rt)
		index := rapid.SampledFrom([]string{``, `"index":0,`, `"index":null,`, `"index":%d,`}).Draw(rt, "index")
		id := rapid.SampledFrom([]string{``, `"id":"",`, `"id":null,`, `"id":"same",`, `"id":"call_%d",`}).Draw(rt, "id")
		var b strings.Builder
		var pending []string // the calls of the next chunk
		for i, c := range calls {
			number := strings.NewReplacer("%d", strconv.Itoa(i))
			call := fmt.Sprintf(`{%s"function":{"name":%q,"arguments":%s}}`, number.Replace(index+id), c.Name, quote(c.Input))
			pending = append(pending, call)
			if rapid.Bool().Draw(rt, "end of the chunk") {
				b.WriteString(eventStream(callsChunk(strings.Join(pending, ","))))
				pending = nil
			}
		}
		b.WriteString(eventStream(finishChunk(`{"tool_calls":[`+strings.Join(pending, ",")+`]}`, "stop")))
		var got providertest.Answer
		if _, err := openai.Read([]byte(b.String()), got.Emit); err != nil {
			rt.Fatalf("got error %v for %s", err, b.String())
		}
		got.Check(rt, nil)
		got.CheckIDs(rt)
		if len(got.Calls) != len(calls) {
			rt.Fatalf("got the calls %+v, want %d, for %s", got.Calls, len(calls), b.String())
		}
		for i, c := range calls {
			if got.Calls[i].Name != c.Name || got.Calls[i].Input != c.Input {
				rt.Fatalf("call %d: got %+v, want %+v, for %s", i, got.Calls[i], c, b.String())
			}
		}
	})
}

// FuzzStream checks that any stream results in an answer or a *model.Error, and that parts are always in order.
func FuzzStream(f *testing.F) {
	calls := callsChunk(`{"index":0,"id":"a","function":{"name":"f","arguments":"{"}},{"index":1,"function":{"name":"g"}}`)
	f.Add([]byte(eventStream(helloChunk, calls, stopChunk, usageChunk, doneData)))
	call := `{"content":[{"type":"text"}],"refusal":"","tool_calls":[{"function":{"name":"f","arguments":{}}}]}`
	f.Add([]byte(eventStream(deltaChunk(call), finishChunk(`{}`, "length"))))
	f.Add([]byte(eventStream(helloChunk, `{"error":{"code":429,"metadata":{"raw":"x"}}}`)))
	f.Add([]byte(`{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}]}`))
	f.Add([]byte("event: error\ndata: [{\"error\":\"x\"}]\n\n: c\r\n\r\n"))
	f.Add([]byte("event: error\rdata:\rdata: {}\r\n\r"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var got providertest.Answer
		outcome, err := openai.Read(data, got.Emit)
		got.Check(t, err)
		got.CheckIDs(t)
		if err == nil && outcome.Stop == "" {
			t.Error("a complete answer has no stop reason")
		}
		if err != nil {
			var failed *model.Error
			if !errors.As(err, &failed) || failed.Fault == "" || failed.Cause == nil {
				t.Errorf("got error %v, want a *model.Error with fault and cause", err)
			}
			if outcome.Stop != "" {
				t.Errorf("an incomplete answer has the stop reason %q", outcome.Stop)
			}
		}
		u := outcome.Usage
		if u.Input < 0 || u.Output < 0 {
			t.Errorf("got the invalid usage %+v", u)
		}
	})
}

// BenchmarkRead measures the time to read a chunk and emit its part.
func BenchmarkRead(b *testing.B) {
	const chunks = 1000
	answer := []byte(strings.Repeat(eventStream(helloChunk), chunks) + eventStream(stopChunk, usageChunk, doneData))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := openai.Read(answer, func(model.Part) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/chunks, "ns/chunk")
}
