package prompt_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"devplatform/shared/assistant/model"
	"devplatform/shared/assistant/prompt"
)

func TestMainBlock(t *testing.T) {
	t.Parallel()
	for markdown, want := range map[string]struct{ code, language string }{
		"":                 {},
		"no block":         {},
		"`inline` ``two``": {},
		"```\na\n```":      {"a\n", ""},
		"Here:\n\n```tsx\na\n\nb\n```\nThen:\n```css\nc\n```\n": {"a\n\nb\n", "tsx"},
		"~~~ go  title=x\na\n~~~\n":                             {"a\n", "go"},
		"```ts\tx\na\n```":                                      {"a\n", "ts"},
		"```` md\n```js\na\n```\n````\nafter":                   {"```js\na\n```\n", "md"},
		"```js\n````\nb\n```":                                   {"", "js"}, // a longer fence closes the block too
		"~~~\n```\na\n```\n~~~":                                 {"```\na\n```\n", ""},
		"```js\na":                                              {"a\n", "js"},
		"```js\na\n":                                            {"a\n", "js"},
		"```js\na\n\n":                                          {"a\n\n", "js"},
		"```js":                                                 {"", "js"},
		"   ```js\n   a\n     b\n c\n  ```\nd":                  {"a\n  b\nc\n", "js"},
		"    ```js\n    a\n    ```":                             {},
		"\t```js\n\ta\n\t```":                                   {},
		"```js\na\n    ```\nb\n```":                             {"a\n    ```\nb\n", "js"},
		"```js\na\n```x\nb\n```   \nc":                          {"a\n```x\nb\n", "js"},
		// The first line is not a fence, because the text after a fence must not contain a backtick.
		"``` a`b\nc\n```\nd":          {"d\n", ""},
		"~~~ a`b\nc\n~~~":             {"c\n", "a`b"},
		"``\na\n``":                   {},
		"```js\r\na\r\nb\r\n```\r\nc": {"a\nb\n", "js"},
		"text ```js\na\n```\nb":       {"b\n", ""},
	} {
		code, language, _ := prompt.MainBlock(markdown)
		if code != want.code || language != want.language {
			t.Errorf("%q: got code %q and language %q, want %q and %q",
				markdown, code, language, want.code, want.language)
		}
	}
}

func TestTextAroundMainBlock(t *testing.T) {
	t.Parallel()
	for markdown, want := range map[string]string{
		"":                                       "",
		"no block\n":                             "no block",
		"a\n\n```js\nb\n```\n\nc\n```\nd\n```\n": "a\n\nc\n```\nd\n```",
		"```\nb\n```\nc":                         "c",
		"a\n```\nb":                              "a",
	} {
		if _, _, got := prompt.MainBlock(markdown); got != want {
			t.Errorf("%q: got %q, want %q", markdown, got, want)
		}
	}
}

// FuzzMainBlock checks that the code of a block is returned unchanged if the fence of the block is longer than all
// fences in the code.
func FuzzMainBlock(f *testing.F) {
	f.Add("a\n```\nb\n", "js")
	f.Add("````\n", "")
	f.Fuzz(func(t *testing.T, code, language string) {
		if !utf8.ValidString(code) || strings.Contains(code, "\r") || len(strings.Fields(language)) > 1 ||
			strings.ContainsAny(language, "` \t\n\r\v\f\u0085\u00a0") {
			return
		}
		fence := "```"
		for strings.Contains(code, fence) {
			fence += "`"
		}
		code = strings.TrimSuffix(code, "\n") + "\n"
		block := fence + language + "\n" + code + fence
		gotCode, gotLanguage, _ := prompt.MainBlock("Text\n" + block + "\nMore\n```x\ny\n```\n")
		if gotCode != code || gotLanguage != language {
			t.Fatalf("got code %q and language %q, want %q and %q", gotCode, gotLanguage, code, language)
		}
	})
}

func TestGenerate(t *testing.T) {
	t.Parallel()
	r := prompt.Generate("A button", "ts\nx", "react", 500)
	if got, want := lastText(r), "language: \"ts\\nx\"\nframework: \"react\"\n\nA button"; got != want {
		t.Errorf("got the message %q, want %q", got, want)
	}
	subject := model.Subject{Prompt: "A button", Framework: "react"}
	if diff := cmp.Diff(subject, r.Subject); diff != "" {
		t.Errorf("subject (-want +got):\n%s", diff)
	}
	if r.Task != model.TaskGenerate || r.Tools != nil || r.MaxOutput != 500 {
		t.Errorf("got task %q, %d tools and limit %d, want %q, none and 500",
			r.Task, len(r.Tools), r.MaxOutput, model.TaskGenerate)
	}
	if got, want := lastText(prompt.Generate("A button", "", "", 500)), "A button"; got != want {
		t.Errorf("got the message %q, want %q", got, want)
	}
}
