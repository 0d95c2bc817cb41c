package scaffold

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"devplatform/shared/assistant/action"
	"devplatform/shared/assistant/model"
)

// heard is an answer as the assistant receives it.
type heard struct {
	text    string
	calls   []model.Call
	outcome model.Outcome
}

func send(t *testing.T, r model.Request) heard {
	t.Helper()
	var h heard
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

// actions returns short descriptions of the actions. It parses each call as the assistant does.
func (h heard) actions(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, c := range h.calls {
		a, err := action.Parse(c)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, a.Brief())
	}
	return all
}

func TestActions(t *testing.T) {
	t.Parallel()
	var paths, deletions []string
	for n := range action.MaxPerAnswer + 1 {
		paths = append(paths, fmt.Sprintf("/%d.js", n))
		deletions = append(deletions, "delete "+paths[n])
	}
	for name, c := range map[string]struct {
		facts model.Facts
		want  []string
	}{
		"a new file": {
			model.Facts{Prompt: "a login form", Framework: "react"},
			[]string{"create_file /src/components/LoginForm.jsx"},
		},
		"a file that exists": {
			model.Facts{Prompt: "a login form", Framework: "react", Paths: []string{"/src/components/LoginForm.jsx"}}, nil,
		},
		"a folder of a larger project": {
			model.Facts{
				Prompt: "a login form", Framework: "react", CurrentFile: "/apps/web/src/App.jsx",
				Paths: []string{"/apps/web/package.json"},
			},
			[]string{"create_file /apps/web/src/components/LoginForm.jsx"},
		},
		"a page for Next.js in src": {
			model.Facts{Prompt: "an about page", Framework: "Next.js", Paths: []string{"/package.json", "/src/app/page.jsx"}},
			[]string{"create_file /src/app/about/page.jsx"},
		},
		"a starter in a project with files": {
			model.Facts{Prompt: "start a static app", Paths: []string{"/index.html"}}, nil,
		},
		"changes of files": {
			model.Facts{
				Prompt: "Rename /a.js to /b.js. Delete /c.js. npm install zod@^4 and @types/node.",
				Paths:  []string{"/a.js", "/c.js", "/package.json"},
			},
			[]string{"rename_file /a.js", "delete_file /c.js", "add_dependency /package.json"},
		},
		"a file that does not exist": {facts: model.Facts{Prompt: "Delete /c.js"}},
		"a new name that exists": {
			facts: model.Facts{Prompt: "Rename /a.js to /b.js", Paths: []string{"/a.js", "/b.js"}},
		},
		"no manifest":                   {facts: model.Facts{Prompt: "npm install zod"}},
		"the same file twice":           {facts: model.Facts{Prompt: "A login form. A login form.", Framework: "react"}},
		"one sentence of two":           {facts: model.Facts{Prompt: "A login form. And some magic.", Framework: "react"}},
		"a name that leaves the folder": {facts: model.Facts{Prompt: `a page called "../../etc"`, Framework: "static"}},
		"too many actions":              {facts: model.Facts{Prompt: strings.Join(deletions, "\n"), Paths: paths}},
		"nothing":                       {facts: model.Facts{Prompt: " "}},
	} {
		h := send(t, model.Request{Task: model.TaskChat, MaxOutput: 8192, Facts: c.facts})
		if got := h.actions(t); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q; the text is %s", name, got, c.want, h.text)
		}
		if refused := strings.Contains(h.text, "AI_PROVIDER=openai"); refused != (c.want == nil) {
			t.Errorf("%s: the text is %s", name, h.text)
		}
	}
}

func TestGenerate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ prompt, language, framework, want string }{
		{"a todo list", "", "", "```html\n<!doctype html>"},
		{"a todo list", "javascript", "", "```jsx\nimport"},
		{"an endpoint for products with name and price", "", "", "```mjs\nimport"},
		{"an endpoint for products with name and price", "Go", "", "```go\n// Package products"},
		{"a login form", "typescript", "react", "no template for this in the language typescript"},
		{"a starter", "", "react", "needs a project"},
		{"a button. a card.", "", "react", "one piece at a time"},
		{"a function that slugifies a title", "", "", "“function that slugifies a”"},
	} {
		h := send(t, model.Request{Task: model.TaskGenerate, MaxOutput: 8192, Facts: model.Facts{
			Prompt: c.prompt, Language: c.language, Framework: c.framework,
		}})
		if !strings.Contains(h.text, c.want) || len(h.calls) > 0 {
			t.Errorf("%q in %s for %q: got %s, want %s", c.prompt, c.language, c.framework, h.text, c.want)
		}
	}
}

// TestRefusal checks that a refusal shows only requests that are understood in the project.
func TestRefusal(t *testing.T) {
	t.Parallel()
	for framework, want := range map[string]int{"static": 5, "react": 5, "nextjs": 5, "express": 2, "go": 2, "vue": 2} {
		f := model.Facts{Prompt: "Build a Twitter clone", Framework: framework, Paths: []string{"/package.json"}}
		_, text, _ := strings.Cut(answerTo(model.Request{Task: model.TaskChat, Facts: f}).text, "Try for example")
		shown := quoted.FindAllStringSubmatch(text, -1)
		if len(shown) != want {
			t.Errorf("got %d requests for %q, want %d", len(shown), framework, want)
		}
		for _, try := range shown {
			f.Prompt = try[1]
			if _, err := chat(f); err != nil {
				t.Errorf("%q in a project of %q: %v", f.Prompt, framework, err)
			}
		}
	}
}

func TestSummary(t *testing.T) {
	t.Parallel()
	r := model.Request{Task: model.TaskSummarize, MaxOutput: 400, Facts: model.Facts{
		Summary: "- “a”: nothing was changed",
		Turns:   []model.Turn{{User: "a login\nform", Actions: []string{"create_file /a", "delete_file /b"}}, {User: "hm"}},
	}}
	want := "- “a”: nothing was changed\n- “a login form”: create_file /a, delete_file /b\n- “hm”: nothing was changed"
	if h := send(t, r); h.text != want {
		t.Errorf("got %s, want %s", h.text, want)
	}
	r.MaxOutput = 8
	if h := send(t, r); h.text != "- “hm”: nothing was changed" {
		t.Errorf("got %s, want only the latest turn", h.text)
	}
}

func TestRepairIsDeclined(t *testing.T) {
	t.Parallel()
	failed := model.Message{Role: model.User, Results: []model.Result{{CallID: "1", Text: "no", Failed: true}}}
	h := send(t, model.Request{
		Task: model.TaskChat, MaxOutput: 8192, Facts: model.Facts{Prompt: "a login form"}, Messages: []model.Message{failed},
	})
	if len(h.calls) > 0 || h.text == "" || h.outcome.Stop != model.StopEnd {
		t.Errorf("got %d calls, the text %q and the reason %q", len(h.calls), h.text, h.outcome.Stop)
	}
}

func TestOutcome(t *testing.T) {
	t.Parallel()
	r := model.Request{Task: model.TaskChat, MaxOutput: 8192, Facts: model.Facts{Prompt: "start a react app"}}
	h := send(t, r)
	usage := h.outcome.Usage
	if h.outcome.Stop != model.StopTools || h.outcome.Model != Model || usage.Input != 5 || usage.Output < 1000 {
		t.Errorf("got %+v", h.outcome)
	}
	if again := send(t, r); again.calls[0] != h.calls[0] {
		t.Error("the same request got another answer")
	}
	r.Facts.Turns = []model.Turn{{User: "hm"}}
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
	r := model.Request{Task: model.TaskChat, MaxOutput: 8192, Facts: model.Facts{Prompt: "start a react app"}}
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

// A prompt of quotation marks that are not closed does not cost more than other prompts.
func TestOpenQuotes(t *testing.T) {
	t.Parallel()
	const size, maxFactor = 8000, 20
	took := func(prompt string) time.Duration {
		began := time.Now()
		send(t, model.Request{Task: model.TaskChat, MaxOutput: 8192, Facts: model.Facts{Prompt: prompt}})
		return time.Since(began)
	}
	closed, open := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
	for range 3 { // in turns
		closed = min(closed, took(strings.Repeat("“a” ", size)))
		open = min(open, took(strings.Repeat("“", size)))
	}
	if open > maxFactor*closed {
		t.Errorf("took %v, and %v if they are closed, want at most %d times as long", open, closed, maxFactor)
	}
}

func FuzzGenerate(f *testing.F) {
	for _, c := range corpus {
		f.Add(c.prompt, c.framework)
	}
	f.Add("create a \x00\xff component called `\u202e`", "\xff")
	f.Add("modal “\"”, `“`", "")
	f.Fuzz(func(t *testing.T, prompt, framework string) {
		for _, task := range []model.Task{model.TaskChat, model.TaskGenerate, model.TaskSummarize} {
			h := send(t, model.Request{Task: task, MaxOutput: 8192, Facts: model.Facts{
				Prompt: prompt, Framework: framework, Language: framework, Paths: []string{"/package.json", prompt},
				Turns: []model.Turn{{User: prompt}},
			}})
			if h.text == "" {
				t.Error("the answer has no text")
			}
			h.actions(t)
		}
	})
}
