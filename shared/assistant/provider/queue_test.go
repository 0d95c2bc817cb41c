package provider_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"devplatform/infra/providertest"
	"devplatform/shared/assistant/model"
	"devplatform/shared/assistant/provider"
)

// All parts are emitted, in the order that package model defines, for any order of the parts of any calls. Each step
// adds text, or begins, continues or ends one of four calls. Calls with an odd number get their name with their first
// input.
func TestOrderOfParts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		steps := rapid.SliceOfN(rapid.ByteRange(0, 15), 0, 40).Draw(rt, "steps")
		var got providertest.Answer
		q := provider.NewQueue(got.Emit)
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
		if err := q.Close(); err != nil || got.Text != wantText || q.CallCount != len(wantCalls) {
			rt.Fatalf("%x: got %+v, %d calls, error %v, want the text %q and %d calls",
				steps, got, q.CallCount, err, wantText, len(wantCalls))
		}
		got.Check(rt, nil)
		for i, call := range wantCalls {
			if got.Calls[i] != *call {
				rt.Fatalf("%x: got the call %+v, want %+v", steps, got.Calls[i], *call)
			}
		}
	})
}

// A name that is not valid UTF-8, or too long, does not reach the client of a stream.
func TestNames(t *testing.T) {
	t.Parallel()
	var got providertest.Answer
	q := provider.NewQueue(got.Emit)
	err := q.AddInput(q.AddCall("\xfe", "\xff"), "\xfd")
	if want := (model.Call{ID: "\uFFFD", Name: "\uFFFD", Input: "\uFFFD"}); err != nil || got.Calls[0] != want {
		t.Errorf("got the calls %+q, error %v, want replacement characters", got.Calls, err)
	}
	long := strings.Repeat("x", provider.MaxName+1)
	for _, call := range []*provider.Piece{q.AddCall(long, "n"), q.AddCall("id", long)} {
		if err := q.AddInput(call, ""); err == nil {
			t.Errorf("got no error for the call %.10s %.10s", call.ID, call.Name)
		}
	}
}
