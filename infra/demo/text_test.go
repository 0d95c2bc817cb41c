package main

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestTextsFitAndObeyNobody(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, got, want string }{
		{"an id by its end", short("/api/projects/prj_01M80ZQYAYEXZP87NV1KDAG06R/files"), "/api/projects/prj_…DAG06R/files"},
		{"a version by its end", short(`"01M80ZYRFRNQCKPRFC077X681G"`), `"…7X681G"`},
		{"no id", short("/src/components/index.css"), "/src/components/index.css"},
		{"escape codes go", clean("a\x1b[2Jb\x07\u202e\tc\n"), "a[2Jb c "},
		{"a text that fits", elide("abc", 3), "abc"},
		{"the middle goes", elide("/src/components/ContactForm.jsx", 16), "/src/…ctForm.jsx"},
		{"no room at all", elide("abc", 0), ""},
		{"the end goes", cut("Café Déjà", 5), "Café…"},
		{"thousands", number(-1234567), "-1,234,567"},
		{"hundreds", number(-123), "-123"},
		{"less than a millisecond", milliseconds(time.Microsecond), "<1 ms"},
		{"seconds in milliseconds", milliseconds(5012345 * time.Microsecond), "5,012 ms"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", c.name, c.got, c.want)
		}
	}
	text := "The quick brown fox jumps overthelazydogandeverythingelsethatsleeps there"
	lines := wrap(text, 20)
	for _, line := range lines {
		if length(line) > 20 {
			t.Errorf("%q is too long", line)
		}
	}
	if joined := strings.Join(lines, ""); strings.ReplaceAll(joined, " ", "") != strings.ReplaceAll(text, " ", "") {
		t.Errorf("wrapped to %q", lines)
	}
	if lines := wrap("one two three", 7); !slices.Equal(lines, []string{"one two", "three"}) {
		t.Errorf("%q", lines)
	}
}

// However a call's input is cut, what is read of it so far is the beginning of what it is in the end.
func TestMembersAreReadAsTheyCome(t *testing.T) {
	t.Parallel()
	const input = `{"path": "/a \"b\".txt","content":"é\u00e9\t\\n\n\ud83d\ude00 end"}`
	const path, content = `/a "b".txt`, "éé\t\\n\n😀 end"
	if got := member(input, "path"); got != path {
		t.Errorf("path %q", got)
	}
	if got := member(input, "content"); got != content {
		t.Errorf("content %q", got)
	}
	for i := range input {
		if got := strings.TrimSuffix(member(input[:i], "content"), "\ufffd"); !strings.HasPrefix(content, got) {
			t.Errorf("of %s: %q", input[:i], got)
		}
	}
	for _, other := range []string{"", "{", `{"content"`, `{"content":7}`, `{"content":{"content":null}}`} {
		if got := member(other, "content"); got != "" {
			t.Errorf("of %s: %q", other, got)
		}
	}
}
