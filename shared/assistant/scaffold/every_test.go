package scaffold

import (
	"context"
	"slices"
	"strings"
	"testing"

	"devplatform/shared/assistant/action"
	"devplatform/shared/assistant/model"
	"devplatform/shared/assistant/scaffold/blueprint"
)

// frameworks are all that there are blueprints for.
var frameworks = []blueprint.Framework{blueprint.React, blueprint.Next, blueprint.Vue, blueprint.Svelte, blueprint.Express, blueprint.Go, blueprint.Static}

func TestEveryFrameworkMakesEveryKind(t *testing.T) {
	t.Parallel()
	for _, f := range frameworks {
		for _, typed := range []bool{false, true} {
			for _, prompt := range ofEachKind {
				facts := model.Facts{Framework: string(f), Paths: []string{"/package.json"}}
				if typed {
					facts.Paths = append(facts.Paths, "/tsconfig.json")
				}
				if f == blueprint.Go {
					facts.Paths = []string{"/go.mod", "/main.go"}
				}
				h := ask(t, chatRequest(facts, prompt))
				h.apply(t, facts.Paths)
				if len(h.calls) == 0 || h.calls[0].Name != "create_file" || !strings.Contains(h.text, "no language model") {
					t.Errorf("%s, %q: %d calls: %s", f, prompt, len(h.calls), h.text)
				}
			}
		}
	}
}

// stored is a project's files by path.
type stored map[string]string

func (s stored) Stat(_ context.Context, p string) (action.File, bool, error) {
	_, ok := s[p]
	return action.File{ETag: "e"}, ok, nil
}

func (s stored) Prepare(context.Context, ...string) error { return nil }

func (s stored) HasInside(_ context.Context, p string) (bool, error) {
	for file := range s {
		if strings.HasPrefix(file, p+"/") {
			return true, nil
		}
	}
	return false, nil
}

func (s stored) Read(_ context.Context, p string) (string, bool, error) { return s[p], true, nil }

// apply has an answer's actions checked as the assistant checks them.
func (h heard) apply(t *testing.T, paths []string) {
	t.Helper()
	files := stored{}
	for _, p := range paths {
		files[p] = map[string]string{"/package.json": "{}\n", "/go.mod": "module a\n"}[p]
	}
	draft := action.NewDraft(files)
	for _, c := range h.calls {
		a, err := action.Parse(c)
		if err == nil {
			err = draft.Apply(t.Context(), a)
		}
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
	}
}

func TestGenerateWritesOneBlock(t *testing.T) {
	t.Parallel()
	for _, f := range frameworks {
		for _, prompt := range ofEachKind {
			h := ask(t, model.Request{Task: model.TaskGenerate, MaxOutput: 100_000, Facts: model.Facts{Prompt: prompt, Framework: string(f)}})
			lines := strings.Split(h.text, "\n")
			fences := 0
			for _, l := range lines {
				if strings.HasPrefix(l, "```") {
					fences++
				}
			}
			if fences != 2 || !strings.HasPrefix(lines[0], "```") || len(lines[0]) < 5 || len(h.calls) > 0 || !strings.Contains(h.text, "no language model") {
				t.Errorf("%s, %q: %d fences, begins with %q\n%s", f, prompt, fences, lines[0], h.text)
			}
		}
	}
}

// answered is what an answer says and the paths it creates.
func answered(t *testing.T, f model.Facts, prompt string) (text string, created []string, contents map[string]string) {
	t.Helper()
	h := ask(t, chatRequest(f, prompt))
	contents = map[string]string{}
	for _, c := range h.calls {
		a, err := action.Parse(c)
		if err == nil && a.Type == action.CreateFile {
			created = append(created, a.Path)
			contents[a.Path] = *a.Content
		}
	}
	return h.text, created, contents
}

func TestThingsLieInTheirProject(t *testing.T) {
	t.Parallel()
	for _, prompt := range append(ofEachKind, "write a test for app/page.tsx") {
		text, created, _ := answered(t, monorepo, prompt)
		if len(created) == 0 {
			t.Errorf("%q: nothing is created: %s", prompt, text)
		}
		for _, p := range created {
			if !strings.HasPrefix(p, "/apps/web/") || !strings.Contains(text, p) {
				t.Errorf("%q: %s is created, and said: %s", prompt, p, text)
			}
		}
	}
}

func TestPagesBringTheirForm(t *testing.T) {
	t.Parallel()
	for _, f := range frameworks {
		if _, created, _ := answered(t, model.Facts{Framework: string(f)}, "create a page with a contact form"); slices.ContainsFunc(created, func(p string) bool { return strings.Contains(p, "2") }) {
			t.Errorf("%s: %v", f, created)
		}
	}
}

func TestThingsComeWithTheirTest(t *testing.T) {
	t.Parallel()
	for _, f := range frameworks {
		for _, what := range []string{"a Dropdown component", "an endpoint for orders", "a signup form with email", "a list of todos", "a contact page", "a useToggle hook", "a helper to format dates"} {
			text, created, _ := answered(t, model.Facts{Framework: string(f)}, "create "+what+" and a test for it")
			tests := 0
			for _, p := range created {
				if isTestPath(p) {
					tests++
				}
			}
			if tests == 0 || strings.Contains(text, "without knowing") || strings.Contains(text, "not known here") {
				t.Errorf("%s, %s: %v\n%s", f, what, created, text)
			}
		}
	}
}
