package scaffold

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"devplatform/shared/assistant/action"
	"devplatform/shared/assistant/model"
)

// heard is an answer put together again from its parts.
type heard struct {
	text    string
	calls   []model.Call
	parts   []model.Part
	outcome model.Outcome
}

// ask has the provider answer, and fails the test where the parts break the contract.
func ask(t testing.TB, r model.Request) heard {
	t.Helper()
	var h heard
	var open *model.Call
	outcome, err := New().Generate(t.Context(), r, func(p model.Part) error {
		h.parts = append(h.parts, p)
		if !utf8.ValidString(p.Text) {
			t.Errorf("a part is no UTF-8: %q", p.Text)
		}
		switch p.Kind {
		case model.Text:
			if open != nil || p.Text == "" {
				t.Errorf("text %q within a call, or empty", p.Text)
			}
			h.text += p.Text
		case model.CallStart:
			if open != nil {
				t.Errorf("call %s begins within %s", p.CallID, open.ID)
			}
			open = &model.Call{ID: p.CallID, Name: p.Name}
		case model.CallDelta:
			if open == nil || open.ID != p.CallID {
				t.Fatalf("more of call %s, which is not open", p.CallID)
			}
			open.Input += p.Text
		case model.CallEnd:
			if open == nil || open.ID != p.CallID {
				t.Fatalf("call %s ends, which is not open", p.CallID)
			}
			h.calls = append(h.calls, *open)
			open = nil
		default:
			t.Errorf("a part of kind %d", p.Kind)
		}
		return nil
	})
	if err != nil {
		t.Fatalf("generate: %v", err)
	}
	if open != nil {
		t.Errorf("call %s never ends", open.ID)
	}
	h.outcome = outcome
	h.check(t, r)
	return h
}

// check holds what is true of every answer.
func (h heard) check(t testing.TB, r model.Request) {
	t.Helper()
	if h.outcome.Model != Model || !strings.Contains(Model, "no language model") {
		t.Errorf("the model is %q", h.outcome.Model)
	}
	stop := model.StopEnd
	if len(h.calls) > 0 {
		stop = model.StopTools
	}
	if h.outcome.Stop != stop && h.outcome.Stop != model.StopLength {
		t.Errorf("stop is %q with %d calls", h.outcome.Stop, len(h.calls))
	}
	if r.MaxOutput > 0 && h.outcome.Usage.Output > r.MaxOutput {
		t.Errorf("%d tokens were written, %d allowed", h.outcome.Usage.Output, r.MaxOutput)
	}
	paths := map[string]bool{}
	for _, p := range r.Facts.Paths {
		paths[p] = true
	}
	operations := 0
	ids := map[string]bool{}
	for _, c := range h.calls {
		a, err := action.Parse(c)
		if err != nil {
			t.Errorf("%s %s: %v", c.Name, c.Input, err)
			continue
		}
		if ids[c.ID] {
			t.Errorf("two calls are %s", c.ID)
		}
		ids[c.ID] = true
		operations++
		switch a.Type {
		case action.CreateFile:
			if paths[a.Path] {
				t.Errorf("%s exists and is created", a.Path)
			}
			paths[a.Path] = true
		case action.RenameFile:
			operations++
			if !paths[a.Path] || paths[*a.To] {
				t.Errorf("rename %s to %s", a.Path, *a.To)
			}
			delete(paths, a.Path)
			paths[*a.To] = true
		default:
			if !paths[a.Path] {
				t.Errorf("%s %s, which does not exist", a.Type, a.Path)
			}
			if a.Type == action.DeleteFile {
				delete(paths, a.Path)
			}
		}
	}
	if operations > action.MaxPerAnswer {
		t.Errorf("%d operations in an answer", operations)
	}
}

func chatRequest(f model.Facts, prompt string) model.Request {
	f.Prompt = prompt
	return model.Request{Task: model.TaskChat, MaxOutput: 100_000, Facts: f}
}

// likely are prompts of everyday work, for properties of their answers.
var likely = []string{"create a Navbar component", "create a contact page and a useTheme hook", "a signup form with email, password and newsletter checkbox",
	"a table of users with name, email and age", "create an endpoint for products with name and price", "delete old.js and rename App.jsx to Root.jsx",
	"add axios@^1.7", "explain App.jsx", "hello", "what can you do?", "build me a startup", "a test for the Button component", "",
	"create pages: about, contact, pricing, team, jobs, news, blog, shop, cart, login, profile, settings, help, faq, terms, privacy, search, tags, feed, archive, map, start"}

func TestAnswersAreTheSameEveryTime(t *testing.T) {
	t.Parallel()
	for _, f := range []model.Facts{reactApp, expressApp, goApp, vueApp, staticApp, empty} {
		for _, prompt := range likely {
			r := chatRequest(f, prompt)
			first := ask(t, r)
			r.Facts.Paths = reversed(f.Paths)
			second := ask(t, r)
			if diff := cmp.Diff(first.parts, second.parts); diff != "" {
				t.Errorf("%q differs: %s", prompt, diff)
			}
			if first.text == "" {
				t.Errorf("%q: nothing was said", prompt)
			}
		}
	}
}

func reversed(paths []string) []string {
	out := make([]string, len(paths))
	for i, p := range paths {
		out[len(paths)-1-i] = p
	}
	return out
}

func TestPartsAreSmall(t *testing.T) {
	t.Parallel()
	h := ask(t, chatRequest(reactApp, "delete old.js"))
	if len(h.calls) != 1 || h.calls[0].Name != "delete_file" || h.calls[0].Input != `{"path":"/src/old.js"}` {
		t.Errorf("calls: %+v", h.calls)
	}
	if n := len(h.parts); n < 6 {
		t.Errorf("only %d parts", n)
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		size := rapid.IntRange(1, 40).Draw(t, "size")
		all := pieces(text, size)
		if got := strings.Join(all, ""); got != text {
			t.Fatalf("%q became %q", text, got)
		}
		for _, p := range all {
			if p == "" || len(p) > 2*size+4 || utf8.ValidString(text) && !utf8.ValidString(p) {
				t.Fatalf("the piece %q of %q", p, text)
			}
		}
	})
}

func TestOutputStaysWithinItsLimit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		r := chatRequest(rapid.SampledFrom([]model.Facts{reactApp, expressApp, goApp, staticApp}).Draw(rt, "project"), rapid.SampledFrom(likely).Draw(rt, "prompt"))
		r.MaxOutput = rapid.IntRange(1, 3000).Draw(rt, "most")
		h := ask(t, r)
		if h.outcome.Stop == model.StopLength && len(h.calls) > 0 {
			rt.Fatalf("text was cut while calls were kept")
		}
	})
	whole := ask(t, chatRequest(reactApp, "delete old.js and date.js"))
	r := chatRequest(reactApp, "delete old.js and date.js")
	r.MaxOutput = whole.outcome.Usage.Output - 1
	if part := ask(t, r); len(part.calls) > 1 || !strings.Contains(part.text, "Left out") && part.outcome.Stop != model.StopLength {
		t.Errorf("with %d tokens: %d calls, %s: %s", r.MaxOutput, len(part.calls), part.outcome.Stop, part.text)
	}
}

func TestAnswersHaveAtMostTwentyOperations(t *testing.T) {
	t.Parallel()
	f := model.Facts{Framework: "react"}
	prompt := "delete"
	for i := range 30 {
		f.Paths = append(f.Paths, fmt.Sprintf("/src/file%d.js", i))
		prompt += fmt.Sprintf(" file%d.js", i)
	}
	h := ask(t, chatRequest(f, prompt))
	if len(h.calls) != action.MaxPerAnswer || !strings.Contains(h.text, "Left out") {
		t.Errorf("%d calls: %s", len(h.calls), h.text)
	}
	prompt = ""
	for i := range 15 {
		prompt += fmt.Sprintf("rename file%d.js to other%d.js\n", i, i)
	}
	if h := ask(t, chatRequest(f, prompt)); len(h.calls) != action.MaxPerAnswer/2 {
		t.Errorf("%d renames, which count twice", len(h.calls))
	}
}

func TestPackagesAreAddedInPortions(t *testing.T) {
	t.Parallel()
	prompt := ""
	for request := range 3 {
		prompt += "\ninstall"
		for i := range 30 + 20*request {
			prompt += fmt.Sprintf(" package%d-%d", request, i)
		}
	}
	h := ask(t, chatRequest(reactApp, prompt))
	total := 0
	for _, c := range h.calls {
		a, err := action.Parse(c)
		if err != nil || len(a.Packages) > mostPackages {
			t.Errorf("%d packages, %v", len(a.Packages), err)
		}
		total += len(a.Packages)
	}
	if total != 30+50+50 || !strings.Contains(h.text, "first 50 packages") {
		t.Errorf("%d packages: %s", total, h.text)
	}
}

func TestRepairIsDeclined(t *testing.T) {
	t.Parallel()
	r := chatRequest(reactApp, "delete old.js")
	r.Messages = []model.Message{{Role: model.User, Text: "delete old.js"}, {Role: model.Assistant, Calls: []model.Call{{ID: "call_1", Name: "delete_file", Input: "{}"}}},
		{Role: model.User, Results: []model.Result{{CallID: "call_1", Text: "no", Failed: true}}}}
	h := ask(t, r)
	if len(h.calls) != 0 || h.outcome.Stop != model.StopEnd || strings.Count(h.text, ". ") > 0 {
		t.Errorf("%d calls, %s: %q", len(h.calls), h.outcome.Stop, h.text)
	}
}

func TestGenerationEndsWithItsCaller(t *testing.T) {
	t.Parallel()
	r := chatRequest(reactApp, "delete old.js")
	gone := errors.New("gone")
	n := 0
	if _, err := New().Generate(t.Context(), r, func(model.Part) error { n++; return gone }); !errors.Is(err, gone) || n != 1 {
		t.Errorf("after %d parts: %v", n, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	n = 0
	outcome, err := New().Generate(ctx, r, func(model.Part) error {
		if n++; n == 2 {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || n != 2 {
		t.Errorf("after %d parts: %v", n, err)
	}
	if outcome.Usage.Output == 0 || outcome.Usage.Input == 0 {
		t.Errorf("usage of what was done: %+v", outcome.Usage)
	}
}

func TestUsageCountsWhatWasLookedInto(t *testing.T) {
	t.Parallel()
	f := reactApp
	f.Files = []model.File{{Path: "/src/App.jsx", Content: strings.Repeat("const a = 1\n", 100)}, {Path: "/src/old.js", Content: strings.Repeat("x", 4000)}}
	h := ask(t, chatRequest(f, "explain App.jsx"))
	if want := tokens(len("explain App.jsx") + 1200); h.outcome.Usage.Input != want {
		t.Errorf("%d tokens were read, want %d", h.outcome.Usage.Input, want)
	}
}

func TestSummariesAreMadeOfTheTurns(t *testing.T) {
	t.Parallel()
	f := model.Facts{Summary: "- Asked: a thing — Done: create_file /a.js.", Turns: []model.Turn{
		{User: "create a page\nfor me", Assistant: "The page. It is there.", Actions: []string{"create_file /src/pages/Page.jsx"}},
		{User: "what is JSX?", Assistant: "I did not understand that. I am the built-in generator."},
		{User: "well"},
	}}
	r := model.Request{Task: model.TaskSummarize, MaxOutput: 400, Facts: f}
	want := "- Asked: a thing — Done: create_file /a.js.\n- Asked: create a page for me — Done: create_file /src/pages/Page.jsx.\n" +
		"- Asked: what is JSX? — Answered: I did not understand that.\n- Asked: well"
	if h := ask(t, r); h.text != want {
		t.Errorf("got\n%s\nwant\n%s", h.text, want)
	}
	rapid.Check(t, func(rt *rapid.T) {
		r := r
		r.MaxOutput = rapid.IntRange(1, 60).Draw(rt, "most")
		r.Facts.Turns = append(r.Facts.Turns, model.Turn{User: rapid.String().Draw(rt, "user"), Assistant: rapid.String().Draw(rt, "assistant")})
		if h := ask(t, r); h.outcome.Stop != model.StopEnd {
			rt.Fatalf("a note was cut: %q", h.text)
		}
	})
}

// ofEachKind are prompts for everything that a framework has, and how many files each makes at least.
var ofEachKind = []string{"create a UserCard component", "create a contact page", "create an endpoint for products with name, price (number) and in stock (boolean)",
	"a signup form with email, password and newsletter checkbox", "a list of todos", "a table of users with name, email and age",
	"create a useLocalStorage hook", "create a cart store", "write a helper to format dates", "an api client for orders",
	"a test for the UserCard component", "create a Dropdown component with tests", "create an endpoint for orders and a test for it"}

func FuzzNothingPanics(f *testing.F) {
	for _, p := range append(likely, ofEachKind...) {
		f.Add(p, "react", "/src/App.jsx", "const a = '")
	}
	f.Add("explain a.go and b.html", "go", "/a.go", "package a\nfunc (")
	f.Add("rename a to ../../b and /c to //d", "", "/a", "<script><!--")
	f.Add("create a \x00\xff component called `"+strings.Repeat("\u202e", 40)+"`", "\xff", "/\xff", "`${`${")
	f.Fuzz(func(t *testing.T, prompt, framework, path, content string) {
		if len(prompt) > 50_000 || len(content) > 50_000 {
			return
		}
		facts := model.Facts{Prompt: prompt, Framework: framework, Language: framework, Paths: []string{"/package.json"}, CurrentFile: path}
		if strings.HasPrefix(path, "/") && utf8.ValidString(path) {
			facts.Paths = append(facts.Paths, path)
			facts.Files = []model.File{{Path: path, Content: content}}
		}
		for _, task := range []model.Task{model.TaskChat, model.TaskGenerate, model.TaskSummarize, "other"} {
			emitted := 0
			_, err := New().Generate(t.Context(), model.Request{Task: task, MaxOutput: 20_000, Facts: facts}, func(p model.Part) error {
				emitted++
				if !utf8.ValidString(p.Text) {
					t.Errorf("no UTF-8: %q", p.Text)
				}
				return nil
			})
			if err != nil || emitted == 0 && task != model.TaskSummarize {
				t.Errorf("%s: %d parts, %v", task, emitted, err)
			}
		}
	})
}
