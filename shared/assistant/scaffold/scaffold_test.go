package scaffold

import (
	"context"
	"errors"
	"iter"
	"maps"
	"testing"
	"unicode/utf8"

	"devplatform/shared/assistant/action"
	"devplatform/shared/assistant/model"
)

// receivedAnswer is an answer as the assistant receives it.
type receivedAnswer struct {
	text    string
	calls   []model.Call
	outcome model.Outcome
}

func send(t *testing.T, r model.Request) receivedAnswer {
	t.Helper()
	var h receivedAnswer
	outcome, err := New().Generate(t.Context(), r, func(p model.Part) error {
		if !utf8.ValidString(p.Text) {
			t.Errorf("the part %q is not UTF-8", p.Text)
		}
		switch p.Kind {
		case model.Text:
			h.text += p.Text
		case model.CallStart:
			h.calls = append(h.calls, model.Call{ID: p.CallID, Name: p.Name})
		case model.CallDelta:
			h.calls[len(h.calls)-1].Input += p.Text
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	h.outcome = outcome
	return h
}

// actions returns the actions. It checks each against an empty project, as the assistant does.
func (h receivedAnswer) actions(t *testing.T) []action.Action {
	t.Helper()
	draft := action.NewDraft(noFiles{})
	for _, c := range h.calls {
		a, err := action.Parse(c)
		if err := errors.Join(err, draft.Apply(t.Context(), a)); err != nil {
			t.Fatal(err)
		}
	}
	return draft.Actions()
}

// noFiles are the files of an empty project.
type noFiles struct{}

func (noFiles) Paths() iter.Seq[string] { return maps.Keys(map[string]bool{}) }

func (noFiles) Stat(string) (etag string, ok bool) { return "", false }

func (noFiles) Read(context.Context, string) (content string, isText bool, err error) {
	return "", false, nil
}

func TestRepairIsDeclined(t *testing.T) {
	t.Parallel()
	failed := model.Message{Role: model.User, Results: []model.Result{{CallID: "1", Text: "no", Failed: true}}}
	h := send(t, model.Request{
		Task: model.TaskChat, MaxOutput: 8192, Subject: model.Subject{Prompt: "a todo app"},
		Messages: []model.Message{failed},
	})
	if len(h.calls) > 0 || h.text == "" || h.outcome.Stop != model.StopEnd {
		t.Errorf("got %d calls, the text %q and the reason %q", len(h.calls), h.text, h.outcome.Stop)
	}
}

func TestOutcome(t *testing.T) {
	t.Parallel()
	r := model.Request{Task: model.TaskChat, MaxOutput: 8192, Subject: model.Subject{Prompt: "a todo app"}}
	h := send(t, r)
	usage := h.outcome.Usage
	if h.outcome.Stop != model.StopTools || h.outcome.Model != Model || usage.Input != 3 || usage.Output < 1000 {
		t.Errorf("got %+v", h.outcome)
	}
	if again := send(t, r); again.calls[0] != h.calls[0] {
		t.Error("the same request got another answer")
	}
	r.Messages = []model.Message{{Role: model.User, Text: "hm"}}
	if later := send(t, r); later.calls[0].ID == h.calls[0].ID {
		t.Error("the IDs of calls are not unique in a conversation")
	}
	r.MaxOutput = 500
	if h := send(t, r); h.outcome.Stop != model.StopLength || len(h.calls) > 0 || h.text == "" {
		t.Errorf("got %d calls and the reason %q for an answer that is too long", len(h.calls), h.outcome.Stop)
	}
}

// An error of emit, or the end of the context, ends the generation.
func TestGenerationStops(t *testing.T) {
	t.Parallel()
	r := model.Request{Task: model.TaskChat, MaxOutput: 8192, Subject: model.Subject{Prompt: "a todo app"}}
	failed := errors.New("failed")
	parts := 0
	_, err := New().Generate(t.Context(), r, func(model.Part) error { parts++; return failed })
	if !errors.Is(err, failed) || parts != 1 {
		t.Errorf("got error %v after %d parts", err, parts)
	}
	ctx, cancel := context.WithCancel(t.Context())
	parts = 0
	var outcome model.Outcome
	outcome, err = New().Generate(ctx, r, func(model.Part) error {
		if parts++; parts == 2 {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || parts != 2 || outcome.Usage.Output == 0 {
		t.Errorf("got error %v and %+v after %d parts", err, outcome, parts)
	}
}

func FuzzGenerate(f *testing.F) {
	for _, c := range choices {
		f.Add(c.prompt, "static")
	}
	f.Add("create a \x00\xff blog called `\u202e`", "\xff")
	f.Fuzz(func(t *testing.T, prompt, framework string) {
		for _, task := range []model.Task{model.TaskChat, model.TaskGenerate} {
			h := send(t, model.Request{
				Task: task, MaxOutput: 8192, Subject: model.Subject{Prompt: prompt, Framework: framework},
			})
			if h.text == "" {
				t.Error("the answer has no text")
			}
			h.actions(t)
		}
	})
}
