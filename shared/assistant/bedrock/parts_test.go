package bedrock

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"pgregory.net/rapid"

	"devplatform/shared/assistant/model"
)

// block is a content block of an answer.
type block struct {
	call *model.Call // nil if the block is text
	text string
}

func drawBlocks(t *rapid.T) []block {
	words := rapid.StringMatching(`[a-zé☕😀"\\\n{}]{1,40}`)
	var blocks []block
	for i := range rapid.IntRange(0, 5).Draw(t, "blocks") {
		if rapid.Bool().Draw(t, "call") {
			id := fmt.Sprintf("tooluse_%d", i)
			input := `{"path":` + quote(words.Draw(t, "input")) + `}`
			blocks = append(blocks, block{call: &model.Call{ID: id, Name: fmt.Sprintf("tool_%d", i%2), Input: input}})
			continue
		}
		blocks = append(blocks, block{text: words.Draw(t, "text")})
	}
	return blocks
}

// splitText cuts a text between characters. Pieces may be empty.
func splitText(t *rapid.T, text string) []string {
	var pieces []string
	for runes := []rune(text); len(runes) > 0; {
		n := rapid.IntRange(0, len(runes)).Draw(t, "length of piece")
		pieces = append(pieces, string(runes[:n]))
		runes = runes[n:]
	}
	return pieces
}

// insertReasoning inserts events with reasoning between frames, and counts them.
func insertReasoning(t *rapid.T, frames [][]byte) (all [][]byte, inserted int) {
	for _, f := range frames {
		for range rapid.IntRange(0, 2).Draw(t, "number of reasoning events") {
			all = append(all, reasoningDelta(rapid.IntRange(0, 9).Draw(t, "block"), `{"text":"Hm."}`))
			inserted++
		}
		all = append(all, f)
	}
	return all, inserted
}

// eventsOfBlocks returns the events of each block in order.
func eventsOfBlocks(t *rapid.T, blocks []block) [][][]byte {
	all := make([][][]byte, len(blocks))
	for i, b := range blocks {
		if b.call == nil {
			for _, piece := range splitText(t, b.text) {
				all[i] = append(all[i], textDelta(i, piece))
			}
			all[i] = append(all[i], blockStop(i))
			continue
		}
		all[i] = append(all[i], toolStart(i, b.call.ID, b.call.Name))
		for _, piece := range splitText(t, b.call.Input) {
			all[i] = append(all[i], toolDelta(i, piece))
		}
		all[i] = append(all[i], blockStop(i))
	}
	return all
}

// For any sizes of the deltas, the text and the inputs are complete and in the order of their blocks.
func TestDeltasOfAnySize(t *testing.T) {
	t.Parallel()
	var frames [][]byte
	s := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) { writeFrames(w, slices.Concat(frames...)) })
	p := s.provider(claude)
	rapid.Check(t, func(rt *rapid.T) {
		blocks := drawBlocks(rt)
		frames = append([][]byte{messageStart()}, slices.Concat(eventsOfBlocks(rt, blocks)...)...)
		frames = append(frames, messageStop("end_turn"), metadata(1, 1, 0, 0))
		recorder := &partRecorder{t: rt}
		if _, err := p.Generate(t.Context(), chatRequest(), recorder.emit); err != nil {
			rt.Fatal(err)
		}
		if got, want := joinDeltas(recorder.parts), joinDeltas(partsOf(blocks)); !slices.Equal(got, want) {
			rt.Fatalf("got the parts %q, want %q", got, want)
		}
	})
}

// If blocks overlap, the calls are emitted one after the other, in the order in which they began. Text is emitted in
// the order in which it arrived.
func TestOverlappingBlocks(t *testing.T) {
	t.Parallel()
	var frames [][]byte
	s := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) { writeFrames(w, slices.Concat(frames...)) })
	p := s.provider(claude)
	rapid.Check(t, func(rt *rapid.T) {
		blocks := drawBlocks(rt)
		remaining := eventsOfBlocks(rt, blocks)
		var unfinished []int // indexes of the blocks with remaining events
		for i := range blocks {
			unfinished = append(unfinished, i)
		}
		frames = [][]byte{messageStart()}
		var wantCalls []model.Call
		var wantText strings.Builder
		for len(unfinished) > 0 {
			at := rapid.IntRange(0, len(unfinished)-1).Draw(rt, "next block")
			i := unfinished[at]
			next := remaining[i][0]
			if b := blocks[i]; b.call != nil && bytes.Equal(next, toolStart(i, b.call.ID, b.call.Name)) {
				wantCalls = append(wantCalls, *b.call)
			}
			frames = append(frames, next)
			wantText.WriteString(textOfFrame(next))
			if remaining[i] = remaining[i][1:]; len(remaining[i]) == 0 {
				unfinished = slices.Delete(unfinished, at, at+1)
			}
		}
		wantThinking := 0
		frames, wantThinking = insertReasoning(rt, append(frames, messageStop("end_turn")))
		frames = append(frames, metadata(1, 1, 0, 0))
		recorder := &partRecorder{t: rt}
		if _, err := p.Generate(t.Context(), chatRequest(), recorder.emit); err != nil {
			rt.Fatal(err)
		}
		if recorder.thinkingParts != wantThinking {
			rt.Fatalf("got %d thinking parts, want %d", recorder.thinkingParts, wantThinking)
		}
		if recorder.text != wantText.String() || !slices.Equal(recorder.calls, wantCalls) {
			rt.Fatalf("got %q and the calls %q, want %q and %q",
				recorder.text, recorder.calls, wantText.String(), wantCalls)
		}
	})
}

// joinDeltas returns one string for each text and for each call, with all deltas.
func joinDeltas(parts []model.Part) []string {
	var joined []string
	last := model.PartKind(0)
	for _, p := range parts {
		switch p.Kind {
		case model.Text:
			if last != model.Text {
				joined = append(joined, "text ")
			}
		case model.CallStart:
			joined = append(joined, "call "+p.CallID+" "+p.Name+" ")
		}
		joined[len(joined)-1] += p.Text
		last = p.Kind
	}
	return joined
}

// partsOf returns the parts of blocks, with one delta for each.
func partsOf(blocks []block) []model.Part {
	var parts []model.Part
	for _, b := range blocks {
		if b.call == nil {
			parts = append(parts, model.Part{Kind: model.Text, Text: b.text})
			continue
		}
		parts = append(parts,
			model.Part{Kind: model.CallStart, CallID: b.call.ID, Name: b.call.Name},
			model.Part{Kind: model.CallDelta, Text: b.call.Input})
	}
	return parts
}

// textOfFrame returns the text of a frame, or "".
func textOfFrame(frame []byte) string {
	_, after, found := bytes.Cut(frame, []byte(`"delta":{"text":`))
	if !found {
		return ""
	}
	quoted, _, _ := bytes.Cut(after, []byte(`},"p":"abcd"}`))
	var s string
	if err := json.Unmarshal(quoted, &s); err != nil {
		panic(err)
	}
	return s
}

// FuzzStream checks that an answer is complete only if the stream contains the event messageStop.
func FuzzStream(f *testing.F) {
	f.Add([]byte{})
	f.Add(slices.Concat(
		messageStart(), textDelta(0, "a"), toolStart(1, "t", "n"), toolDelta(1, "{}"), blockStop(1),
		messageStop("tool_use"), metadata(1, 2, 3, 4)))
	f.Add(slices.Concat(messageStart(), exception("throttlingException", "a")))
	f.Add(slices.Concat(textDelta(0, "a"), frame("", ":message-type", "error")))
	f.Add(event("messageStop", `{}`))
	f.Add(slices.Concat(
		event("contentBlockDelta", `{"delta":null}`), event("metadata", `{"usage":null}`), messageStop("end_turn")))
	f.Fuzz(func(t *testing.T, stream []byte) {
		s := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) { writeFrames(w, stream) })
		recorder := &partRecorder{t: t}
		outcome, err := s.provider(claude).Generate(t.Context(), chatRequest(), recorder.emit)
		if err == nil && (outcome.Stop == "" || recorder.isCallOpen || !bytes.Contains(stream, []byte("messageStop"))) {
			t.Errorf("got a complete answer with the outcome %+v, want an error", outcome)
		}
	})
}
