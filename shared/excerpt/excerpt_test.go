package excerpt_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"devplatform/shared/excerpt"
)

func TestExcerpts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text                     string
		n                        int
		start, end, withEllipsis string
	}{
		{"", 0, "", "", ""},
		{"abc", 3, "abc", "abc", "abc"},
		{"abc", 2, "ab", "bc", "ab…"},
		{"abc", 0, "", "", "…"},
		{"aéb", 2, "a", "b", "a…"},
		{"aéb", 3, "aé", "éb", "aé…"},
		{"😀😀", 7, "😀", "😀", "😀…"},
		{"\x80\x80\x80", 2, "", "", "…"},
	} {
		start, end, withEllipsis := excerpt.Start(c.text, c.n), excerpt.End(c.text, c.n), excerpt.WithEllipsis(c.text, c.n)
		if start != c.start || end != c.end || withEllipsis != c.withEllipsis {
			t.Errorf("%q, %d bytes: got %q, %q and %q, want %q, %q and %q",
				c.text, c.n, start, end, withEllipsis, c.start, c.end, c.withEllipsis)
		}
	}
}

// FuzzExcerpts checks that excerpts are short, are parts of the text, and do not cut characters.
func FuzzExcerpts(f *testing.F) {
	f.Add("aé😀", 3)
	f.Add("\x80a\xff", 1)
	f.Fuzz(func(t *testing.T, text string, n int) {
		n = max(n, 0)
		start, end := excerpt.Start(text, n), excerpt.End(text, n)
		if !strings.HasPrefix(text, start) || !strings.HasSuffix(text, end) || max(len(start), len(end)) > n {
			t.Fatalf("%q, %d bytes: got %q and %q", text, n, start, end)
		}
		if utf8.ValidString(text) && (!utf8.ValidString(start) || !utf8.ValidString(end)) {
			t.Fatalf("%q, %d bytes: got %q and %q, want whole characters", text, n, start, end)
		}
	})
}
