package prompt

import (
	"strings"
	"testing"
)

// A mark that already occurs in the texts becomes longer until it is absent.
func TestAbsentMark(t *testing.T) {
	t.Parallel()
	digits := strings.Repeat("0123456789abcdef", 4)
	texts := []string{"a text without a mark"}
	last := ""
	for range 12 { // the ninth and later marks need more than the 64 given digits
		mark := absentMark(digits, texts)
		if len(mark) <= len(last) || !strings.HasPrefix(mark, "data-01234567") || !strings.HasPrefix(mark, last) {
			t.Fatalf("got the mark %s after %s, want a longer one with the same beginning", mark, last)
		}
		texts = append(texts, "<"+mark+" file>\n")
		last = mark
	}
}
