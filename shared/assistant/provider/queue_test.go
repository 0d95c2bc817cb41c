package provider_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"devplatform/shared/assistant/model"
	"devplatform/shared/assistant/provider"
)

// recorder records the parts of an answer and checks their order.
type recorder struct {
	t     *testing.T
	text  string
	calls []model.Call
	isIn  bool // a call is open
}

func (r *recorder) emit(p model.Part) error {
	last := len(r.calls) - 1
	switch {
	case p.Kind == model.Text && !r.isIn && p.Text != "":
		r.text += p.Text
	case p.Kind == model.CallStart && !r.isIn:
		r.calls, r.isIn = append(r.calls, model.Call{ID: p.CallID, Name: p.Name}), true
	case p.Kind == model.CallDelta && r.isIn && p.CallID == r.calls[last].ID && p.Text != "":
		r.calls[last].Input += p.Text
	case p.Kind == model.CallEnd && r.isIn && p.CallID == r.calls[last].ID:
		r.isIn = false
	default:
		r.t.Errorf("the part %+v is not valid after %q and %+v", p, r.text, r.calls)
	}
	return nil
}

// All parts are emitted, in the order that package model defines, for any order of the parts of any calls. Each step
// adds text, or begins, continues or ends one of four calls. Calls with an odd number get their name with their first
// input.
func TestOrderOfParts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		steps := rapid.SliceOfN(rapid.ByteRange(0, 15), 0, 40).Draw(rt, "steps")
		got := &recorder{t: t}
		q := provider.NewQueue(got.emit)
		wantText, wantCalls := "", []*model.Call{}
		want, open := map[byte]*model.Call{}, map[byte]*provider.Piece{}
		for n, step := range steps {
			i, text := step&3, fmt.Sprintf("%d.", n)
			call := open[i]
			var err error
			switch kind := step >> 2; {
			case kind == 0:
				wantText += text
				err = q.AddText(text)
			case kind == 1 && call == nil:
				want[i] = &model.Call{ID: text}
				wantCalls = append(wantCalls, want[i])
				if i%2 == 0 {
					want[i].Name = "n"
				}
				open[i] = q.AddCall(text, want[i].Name)
				err = q.AddInput(open[i], "")
			case kind == 2 && call != nil:
				want[i].Name, call.Name = "n", "n"
				want[i].Input += text
				err = q.AddInput(call, text)
			case kind == 3 && call != nil:
				delete(open, i)
				err = q.EndCall(call)
			}
			if err != nil {
				rt.Fatalf("step %d of %x: %v", n, steps, err)
			}
		}
		if err := q.Close(); err != nil || got.isIn || got.text != wantText || q.CallCount != len(wantCalls) {
			rt.Fatalf("%x: got %+v, %d calls, error %v, want the text %q and %d calls",
				steps, got, q.CallCount, err, wantText, len(wantCalls))
		}
		for i, call := range wantCalls {
			if got.calls[i] != *call {
				rt.Fatalf("%x: got the call %+v, want %+v", steps, got.calls[i], *call)
			}
		}
	})
}

// A name that is not valid UTF-8, or too long, does not reach the client of a stream.
func TestNames(t *testing.T) {
	t.Parallel()
	got := &recorder{t: t}
	q := provider.NewQueue(got.emit)
	err := q.AddInput(q.AddCall("\xfe", "\xff"), "\xfd")
	if want := (model.Call{ID: "\uFFFD", Name: "\uFFFD", Input: "\uFFFD"}); err != nil || got.calls[0] != want {
		t.Errorf("got the calls %+q, error %v, want replacement characters", got.calls, err)
	}
	long := strings.Repeat("x", provider.MaxName+1)
	for _, call := range []*provider.Piece{q.AddCall(long, "n"), q.AddCall("id", long)} {
		if err := q.AddInput(call, ""); err == nil {
			t.Errorf("got no error for the call %.10s %.10s", call.ID, call.Name)
		}
	}
}
