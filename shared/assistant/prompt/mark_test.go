package prompt

import (
	"strings"
	"testing"
)

// Where the texts hold the mark already, it becomes longer, however often they do.
func TestMarkIsAbsent(t *testing.T) {
	t.Parallel()
	digits := strings.Repeat("0123456789abcdef", 4)
	texts := []string{"nothing"}
	last := ""
	for range 12 { // beyond the digits that there are at first
		word := absentMark(digits, texts)
		if len(word) <= len(last) || !strings.HasPrefix(word, "data-01234567") || !strings.HasPrefix(word, last) {
			t.Fatalf("%s after %s", word, last)
		}
		texts = append(texts, "<"+word+" file>\n")
		last = word
	}
}
