package scaffold

import (
	"strings"
	"testing"

	"devplatform/shared/assistant/model"
	"devplatform/shared/assistant/scaffold/blueprint"
)

func TestGenerateChoosesByLanguageAndFramework(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ prompt, language, framework, want string }{
		{"a login form", "", "", "form static login"},
		{"a login form", "", "react", "form react login"},
		{"a login form", "typescript", "react", "form react login ts"},
		{"a login form", "TypeScript", "React", "form react login ts"},
		{"a login form in Vue", "", "react", "form vue login"},
		{"a login form", "typescript", "", "form react login ts"},
		{"a login form", "jsx", "", "form react login"},
		{"a login form", "javascript", "", "form static login"},
		{"a Navbar", "vue", "", "component vue navbar"},
		{"a Navbar", "svelte", "", "component svelte navbar"},
		{"an endpoint for users", "", "", "endpoint express users"},
		{"an endpoint for users", "go", "", "endpoint go users"},
		{"an endpoint for users", "golang", "go", "endpoint go users"},
		{"an endpoint for users", "typescript", "express", "endpoint express users ts"},
		{"a useDebounce hook", "javascript", "", "utility/hook react debounce"},
		{"a route for settings", "", "react", "page react settings"},
		{"a route for users", "", "express", "endpoint express users"},
		{"a test for the Button component", "", "react", "test react button of component"},
		{"create a Navbar component and a contact page", "", "react", "component react navbar"},
		{"a contact page", "html", "static", "page static contact"},
		{"a contact page", "css", "static", "page static contact"},
		{"a login form", "python", "", ""},
		{"a login form", "python", "react", ""},
		{"a login form", "go", "react", ""},
		{"a login form", "", "django", ""},
		{"a login form in Angular", "", "react", ""},
		{"a component", "", "react", ""},
		{"a test", "", "react", ""},
		{"bubble sort", "go", "", ""},
		{"", "", "", ""},
		{"delete /src/a.js", "", "react", ""},
	} {
		c := newConversation(factsOf(model.Facts{Prompt: test.prompt, Language: test.language, Framework: test.framework}))
		got := ""
		c.build = func(s blueprint.Spec) (blueprint.Result, error) {
			got = specLine(s)
			return blueprint.Result{Files: []blueprint.File{{Path: "/a.jsx", Content: "a```b\n"}, {Path: "/a.css", Content: "c\n"}}, Packages: []string{"p@1"}, Says: "So."}, nil
		}
		a := c.generate()
		if got != test.want {
			t.Errorf("%q, %q, %q: got %s, want %s", test.prompt, test.language, test.framework, got, test.want)
		}
		code := strings.Contains(a.text, "```")
		if code != (test.want != "" && test.language != "html") || len(a.steps) > 0 || !strings.Contains(a.text, "no language model") {
			t.Errorf("%q, %q, %q:\n%s", test.prompt, test.language, test.framework, a.text)
		}
		if test.language == "css" && !strings.HasPrefix(a.text, "```css\nc\n```\n") {
			t.Errorf("css:\n%s", a.text)
		}
		if test.framework == "react" && code && !strings.HasPrefix(a.text, "````jsx\na```b\n````\n") {
			t.Errorf("a fence is no longer than those within:\n%s", a.text)
		}
	}
}
