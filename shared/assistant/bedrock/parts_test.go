package bedrock

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"devplatform/shared/assistant/model"
)

// block is a content block of an answer.
type block struct {
	call *model.Call // nil: text
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

// pieces cuts a text between characters. Pieces may be empty.
func pieces(t *rapid.T, text string) []string {
	var out []string
	for runes := []rune(text); len(runes) > 0; {
		n := rapid.IntRange(0, len(runes)).Draw(t, "cut")
		out = append(out, string(runes[:n]))
		runes = runes[n:]
	}
	return out
}

// thoughts inserts reasoning between frames, and counts it.
func thoughts(t *rapid.T, frames [][]byte) (all [][]byte, n int) {
	for _, f := range frames {
		for range rapid.IntRange(0, 2).Draw(t, "thoughts") {
			all = append(all, reasoning(rapid.IntRange(0, 9).Draw(t, "block"), `{"text":"Hm."}`))
			n++
		}
		all = append(all, f)
	}
	return all, n
}

// lanes returns the events of each block in order.
func lanes(t *rapid.T, blocks []block) [][][]byte {
	all := make([][][]byte, len(blocks))
	for i, b := range blocks {
		if b.call == nil {
			for _, p := range pieces(t, b.text) {
				all[i] = append(all[i], text(i, p))
			}
			all[i] = append(all[i], ended(i))
			continue
		}
		all[i] = append(all[i], tool(i, b.call.ID, b.call.Name))
		for _, p := range pieces(t, b.call.Input) {
			all[i] = append(all[i], toolInput(i, p))
		}
		all[i] = append(all[i], ended(i))
	}
	return all
}

// Text and input arrive complete and in the order of their blocks, however they are cut into deltas.
func TestDeltasOfAnySize(t *testing.T) {
	t.Parallel()
	var frames [][]byte
	s := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) { send(w, slices.Concat(frames...)) })
	p := s.provider(claude)
	rapid.Check(t, func(rt *rapid.T) {
		blocks := drawBlocks(rt)
		frames = append(append([][]byte{started()}, slices.Concat(lanes(rt, blocks)...)...), stopped("end_turn"), usage(1, 1, 0, 0))
		l := &listen{t: rt}
		if _, err := p.Generate(t.Context(), hello(), l.emit); err != nil {
			rt.Fatal(err)
		}
		if got, want := grouped(l.parts), merged(blocks); !reflect.DeepEqual(got, want) {
			rt.Fatalf("\n got %q\nwant %q", got, want)
		}
	})
}

// If blocks overlap, calls are emitted in the order in which they began, each complete, and text in the order in which
// it arrived.
func TestOverlappingBlocks(t *testing.T) {
	t.Parallel()
	var frames [][]byte
	s := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) { send(w, slices.Concat(frames...)) })
	p := s.provider(claude)
	rapid.Check(t, func(rt *rapid.T) {
		blocks := drawBlocks(rt)
		waiting := lanes(rt, blocks)
		left := make([]int, 0, len(blocks))
		for i := range blocks {
			left = append(left, i)
		}
		frames = [][]byte{started()}
		var began []model.Call
		var said strings.Builder
		for len(left) > 0 {
			at := rapid.IntRange(0, len(left)-1).Draw(rt, "next")
			i := left[at]
			if b := blocks[i]; b.call != nil && bytes.Equal(waiting[i][0], tool(i, b.call.ID, b.call.Name)) {
				began = append(began, *b.call)
			}
			frames = append(frames, waiting[i][0])
			said.WriteString(textIn(waiting[i][0]))
			if waiting[i] = waiting[i][1:]; len(waiting[i]) == 0 {
				left = slices.Delete(left, at, at+1)
			}
		}
		thought := 0
		frames, thought = thoughts(rt, append(frames, stopped("end_turn")))
		frames = append(frames, usage(1, 1, 0, 0))
		l := &listen{t: rt}
		if _, err := p.Generate(t.Context(), hello(), l.emit); err != nil {
			rt.Fatal(err)
		}
		if l.thoughts != thought {
			rt.Fatalf("%d thoughts, want %d", l.thoughts, thought)
		}
		if l.text != said.String() || !slices.Equal(l.calls, began) {
			rt.Fatalf("\n got %q, %q\nwant %q, %q", l.text, l.calls, said.String(), began)
		}
	})
}

// grouped joins the deltas of each text and of each call.
func grouped(parts []model.Part) []string {
	var out []string
	last := model.PartKind(0)
	for _, p := range parts {
		switch p.Kind {
		case model.Text:
			if last != model.Text {
				out = append(out, "text ")
			}
		case model.CallStart:
			out = append(out, "call "+p.CallID+" "+p.Name+" ")
		}
		out[len(out)-1] += p.Text
		last = p.Kind
	}
	return out
}

func merged(blocks []block) []string {
	var parts []model.Part
	for _, b := range blocks {
		if b.call == nil {
			parts = append(parts, model.Part{Kind: model.Text, Text: b.text})
			continue
		}
		parts = append(parts, model.Part{Kind: model.CallStart, CallID: b.call.ID, Name: b.call.Name}, model.Part{Kind: model.CallDelta, Text: b.call.Input})
	}
	return grouped(parts)
}

// textIn returns the text of a frame, or "".
func textIn(frame []byte) string {
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

// FuzzPartQueue checks that parts are emitted in order and complete for events of any blocks in any order.
func FuzzPartQueue(f *testing.F) {
	f.Add([]byte{0x10, 0x20, 0x00, 0x30})
	f.Add([]byte{0x10, 0x11, 0x21, 0x20, 0x31, 0x02, 0x30})
	f.Add([]byte{0x10, 0x11, 0x12, 0x32, 0x31, 0x10, 0x00, 0x30})
	f.Fuzz(func(t *testing.T, events []byte) {
		l := &listen{t: t}
		q := newPartQueue(l.emit)
		var said strings.Builder
		var calls []*model.Call
		running := map[int32]*model.Call{}
		for n, e := range events {
			index, piece := int32(e&0x0f), fmt.Sprintf("%d.", n)
			c := running[index]
			var err error
			want := false // an error
			switch e >> 4 & 3 {
			case 0:
				said.WriteString(piece)
				err = q.text(piece)
			case 1:
				if want = c != nil; !want {
					c = &model.Call{ID: piece, Name: "n"}
					running[index], calls = c, append(calls, c)
				}
				err = q.start(index, piece, "n")
			case 2:
				if want = c == nil; !want {
					c.Input += piece
				}
				err = q.input(index, piece)
			case 3:
				delete(running, index)
				err = q.end(index)
			}
			if (err != nil) != want {
				t.Fatalf("event %d of %x: %v", n, events, err)
			}
		}
		if err := q.close(); err != nil {
			t.Fatal(err)
		}
		if l.open || l.text != said.String() || len(l.calls) != len(calls) || q.calls != len(calls) {
			t.Fatalf("%x: open %v, %q, %v", events, l.open, l.text, l.calls)
		}
		for i, c := range calls {
			if c.Input == "" {
				c.Input = "{}"
			}
			if *c != l.calls[i] {
				t.Fatalf("%x: %v, want %v", events, l.calls[i], *c)
			}
		}
	})
}

// FuzzStream checks that a stream of any bytes is a complete answer only if it has the end of a message.
func FuzzStream(f *testing.F) {
	f.Add([]byte{})
	f.Add(slices.Concat(started(), text(0, "a"), tool(1, "t", "n"), toolInput(1, "{}"), ended(1), stopped("tool_use"), usage(1, 2, 3, 4)))
	f.Add(slices.Concat(started(), exception("throttlingException", "a")))
	f.Add(slices.Concat(text(0, "a"), frame("", ":message-type", "error")))
	f.Add(slices.Concat(event("messageStop", `{}`)))
	f.Add(slices.Concat(event("contentBlockDelta", `{"delta":null}`), event("metadata", `{"usage":null}`), stopped("end_turn")))
	f.Fuzz(func(t *testing.T, stream []byte) {
		s := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) { send(w, stream) })
		l := &listen{t: t}
		outcome, err := s.provider(claude).Generate(t.Context(), hello(), l.emit)
		if err == nil && (outcome.Stop == "" || l.open || !bytes.Contains(stream, []byte("messageStop"))) {
			t.Errorf("%v, open %v", outcome, l.open)
		}
	})
}
