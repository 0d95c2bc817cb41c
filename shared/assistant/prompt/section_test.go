package prompt

import (
	"strings"
	"testing"
)

// A mark that already occurs in the texts becomes longer until it is absent.
func TestAbsentMark(t *testing.T) {
	t.Parallel()
	digits := strings.Repeat("0123456789abcdef", 4)
	texts := []string{"nothing"}
	last := ""
	for range 12 { // more than the given digits
		word := absentMark(digits, texts)
		if len(word) <= len(last) || !strings.HasPrefix(word, "data-01234567") || !strings.HasPrefix(word, last) {
			t.Fatalf("%s after %s", word, last)
		}
		texts = append(texts, "<"+word+" file>\n")
		last = word
	}
}
