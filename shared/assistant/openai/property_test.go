package openai_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"pgregory.net/rapid"

	"devplatform/shared/assistant/model"
	"devplatform/shared/assistant/openai"
)

// quote returns s as JSON.
func quote(s string) string {
	data, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// split cuts s between characters. Pieces may be empty.
func split(rt *rapid.T, s string) []string {
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
		`{}`, `{"path":"/a"}`, ` {"a":[1,{"b":"}]\"\\"}]} `, `{"content":"función 鍵 {\n\"x\" \\\\"}`, `[{}]`, "{\n\t\"a\": {}\n}",
	})
	calls := make([]model.Call, rapid.IntRange(0, 4).Draw(rt, "calls"))
	for i := range calls {
		calls[i] = model.Call{ID: fmt.Sprintf("call_%d", i), Name: rapid.SampledFrom([]string{"f", "g"}).Draw(rt, "name"), Input: input.Draw(rt, "input")}
	}
	return calls
}

// TestDeltasOfAnySize checks that an answer arrives complete and in order, however text and inputs are cut into deltas,
// and however the deltas are mixed.
func TestDeltasOfAnySize(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.StringMatching(`[ab{}"é鍵 ]{0,12}`).Draw(rt, "text")
		calls := drawCalls(rt)
		answer := mix(rt, text, calls)
		u := serve(t, raw(answer))
		defer u.Close()
		got, outcome, err := ask(rt, u, question)
		if err != nil {
			rt.Fatalf("%v of %s", err, answer)
		}
		want := model.StopEnd
		if len(calls) > 0 {
			want = model.StopTools
		}
		if want := strings.Count(answer, thought); got.thoughts != want {
			rt.Fatalf("%d thoughts, want %d, of %s", got.thoughts, want, answer)
		}
		if got.text != text || len(got.calls) != len(calls) || outcome.Stop != want {
			rt.Fatalf("%+v, %+v of %s", got, outcome, answer)
		}
		for i, c := range calls {
			// White space after a complete object may be dropped.
			got.calls[i].Input, c.Input = strings.TrimRight(got.calls[i].Input, " "), strings.TrimRight(c.Input, " ")
			if got.calls[i] != c {
				rt.Fatalf("call %d: %+v, want %+v, of %s", i, got.calls[i], c, answer)
			}
		}
	})
}

// thought is a text of reasoning, which must not be emitted.
const thought = `"Hm, hm."`

// mix returns the answer as an event stream. The deltas of different calls are mixed, and reasoning is inserted
// anywhere. The deltas of one call are in order, and calls begin in order.
func mix(rt *rapid.T, text string, calls []model.Call) string {
	lanes := make([][]string, len(calls)+1)
	for _, piece := range split(rt, text) {
		lanes[0] = append(lanes[0], `"content":`+quote(piece))
	}
	for i, c := range calls {
		begin := fmt.Sprintf(`{"index":%d,"id":%q,"type":"function","function":{"name":%q,"arguments":""}}`, i, c.ID, c.Name)
		lanes[i+1] = append(lanes[i+1], begin)
		for _, piece := range split(rt, c.Input) {
			lanes[i+1] = append(lanes[i+1], fmt.Sprintf(`{"index":%d,"function":{"arguments":%s}}`, i, quote(piece)))
		}
	}
	deltas := []string{`"role":"assistant"`}
	begun := 1 // the number of lanes that may continue, including the next one to begin
	for {
		var open []int
		for i := range min(begun+1, len(lanes)) {
			if len(lanes[i]) > 0 {
				open = append(open, i)
			}
		}
		if len(open) == 0 {
			break
		}
		i := rapid.SampledFrom(open).Draw(rt, "lane")
		begun = max(begun, i+1)
		delta := lanes[i][0]
		lanes[i] = lanes[i][1:]
		if i > 0 {
			delta = `"tool_calls":[` + delta + `]`
		}
		deltas = append(deltas, delta)
	}
	ends := rapid.SampledFrom([]string{"stop", "tool_calls"}).Draw(rt, "reason")
	lastHasReason := rapid.Bool().Draw(rt, "reason in the last delta")
	newline := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(rt, "newline")
	var b strings.Builder
	for i, delta := range deltas {
		chunk := say("{" + delta + "}")
		if lastHasReason && i == len(deltas)-1 {
			chunk = finish("{"+delta+"}", ends)
		}
		if rapid.Bool().Draw(rt, "comment") {
			b.WriteString(": keep-alive" + newline + newline)
		}
		for range rapid.IntRange(0, 2).Draw(rt, "thoughts") {
			name := rapid.SampledFrom([]string{"reasoning_content", "reasoning"}).Draw(rt, "name")
			b.WriteString("data: " + say(fmt.Sprintf(`{"content":null,%q:%s}`, name, thought)) + newline + newline)
		}
		b.WriteString("data: " + chunk + newline + newline)
	}
	if !lastHasReason {
		b.WriteString("data: " + finish(`{}`, ends) + newline + newline)
	}
	if rapid.Bool().Draw(rt, "usage") {
		b.WriteString("data: " + someUsage + newline + newline)
	}
	if rapid.Bool().Draw(rt, "done") {
		b.WriteString("data: [DONE]" + newline + newline)
	}
	return b.String()
}

// TestWholeCalls checks that whole calls are recognized, whatever a server sends as index and id.
func TestWholeCalls(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		calls := drawCalls(rt)
		index := rapid.SampledFrom([]string{``, `"index":0,`, `"index":null,`, `"index":%d,`}).Draw(rt, "index")
		id := rapid.SampledFrom([]string{``, `"id":"",`, `"id":null,`, `"id":"same",`, `"id":"call_%d",`}).Draw(rt, "id")
		var b strings.Builder
		var together []string
		for i, c := range calls {
			number := strings.NewReplacer("%d", strconv.Itoa(i))
			call := fmt.Sprintf(`{%s"function":{"name":%q,"arguments":%s}}`, number.Replace(index+id), c.Name, quote(c.Input))
			together = append(together, call)
			if rapid.Bool().Draw(rt, "a chunk ends") {
				b.WriteString(events(say(`{"tool_calls":[` + strings.Join(together, ",") + `]}`)))
				together = nil
			}
		}
		b.WriteString(events(finish(`{"tool_calls":[`+strings.Join(together, ",")+`]}`, "stop")))
		var got collected
		if _, err := openai.Read([]byte(b.String()), got.take); err != nil {
			rt.Fatalf("%v of %s", err, b.String())
		}
		got.check(rt, nil)
		if len(got.calls) != len(calls) {
			rt.Fatalf("%+v of %s", got.calls, b.String())
		}
		for i, c := range calls {
			if got.calls[i].Name != c.Name || got.calls[i].Input != c.Input {
				rt.Fatalf("call %d: %+v of %s", i, got.calls[i], b.String())
			}
		}
	})
}

// FuzzStream checks that any bytes lead to an answer or to a *model.Error, and that parts are always in order.
func FuzzStream(f *testing.F) {
	f.Add([]byte(events(hello, say(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{"}},{"index":1,"function":{"name":"g"}}]}`), stop, someUsage, done)))
	f.Add([]byte(events(say(`{"content":[{"type":"text","text":"a"}],"refusal":"","function_call":{"name":"f","arguments":{}}}`), finish(`{}`, "length"))))
	f.Add([]byte(events(hello, `{"error":{"code":429,"metadata":{"raw":"x"}}}`)))
	f.Add([]byte(`{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}]}`))
	f.Add([]byte("event: error\ndata: [{\"error\":\"x\"}]\n\n: c\r\n\r\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var got collected
		outcome, err := openai.Read(data, got.take)
		got.check(t, err)
		var failed *model.Error
		switch {
		case err == nil && outcome.Stop == "":
			t.Error("complete without a stop")
		case err != nil && (!errors.As(err, &failed) || failed.Fault == "" || failed.Cause == nil || outcome.Stop != ""):
			t.Errorf("%+v, %v", outcome, err)
		}
		if u := outcome.Usage; u.Input < 0 || u.Output < 0 || u.CacheRead < 0 || u.CacheWrite < 0 || u.CacheRead+u.CacheWrite > u.Input {
			t.Errorf("usage %+v", u)
		}
	})
}

// BenchmarkRead measures the time from a chunk's bytes to its part.
func BenchmarkRead(b *testing.B) {
	const chunks = 1000
	answer := []byte(strings.Repeat(events(hello), chunks) + events(stop, someUsage, done))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := openai.Read(answer, func(model.Part) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/chunks, "ns/chunk")
}
