package prompt_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"devplatform/shared/assistant/prompt"
)

func TestMainBlock(t *testing.T) {
	t.Parallel()
	for markdown, want := range map[string][2]string{
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
		"``` a`b\nc\n```\nd":                                    {"d\n", ""}, // an info string after backticks has no backtick: the second fence opens
		"~~~ a`b\nc\n~~~":                                       {"c\n", "a`b"},
		"``\na\n``":                                             {},
		"```js\r\na\r\nb\r\n```\r\nc":                           {"a\nb\n", "js"},
		"text ```js\na\n```\nb":                                 {"b\n", ""},
	} {
		code, language := prompt.MainBlock(markdown)
		if code != want[0] || language != want[1] {
			t.Errorf("%q: %q, %q; want %q", markdown, code, language, want)
		}
	}
}

func TestAroundMainBlock(t *testing.T) {
	t.Parallel()
	for markdown, want := range map[string]string{
		"": "", "no block\n": "no block", "a\n\n```js\nb\n```\n\nc\n```\nd\n```\n": "a\n\nc\n```\nd\n```", "```\nb\n```\nc": "c", "a\n```\nb": "a",
	} {
		if got := prompt.AroundMainBlock(markdown); got != want {
			t.Errorf("%q: %q, want %q", markdown, got, want)
		}
	}
}

// FuzzMainBlock checks that the code of a block is returned unchanged if its fence is longer than all fences in it.
func FuzzMainBlock(f *testing.F) {
	f.Add("a\n```\nb\n", "js")
	f.Add("````\n", "")
	f.Fuzz(func(t *testing.T, code, language string) {
		if !utf8.ValidString(code) || strings.Contains(code, "\r") || len(strings.Fields(language)) > 1 || strings.ContainsAny(language, "` \t\n\r\v\f\u0085\u00a0") {
			return
		}
		fence := "```"
		for strings.Contains(code, fence) {
			fence += "`"
		}
		code = strings.TrimSuffix(code, "\n") + "\n"
		got, said := prompt.MainBlock("Text\n" + fence + language + "\n" + code + fence + "\nMore\n```x\ny\n```\n")
		if got != code || said != language {
			t.Fatalf("%q, %q; want %q, %q", got, said, code, language)
		}
	})
}
