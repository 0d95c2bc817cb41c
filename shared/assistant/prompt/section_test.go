package prompt

import (
	"crypto/sha256"
	"slices"
	"strings"
	"testing"
)

// If a mark occurs in the texts, another one is chosen.
func TestAbsentMark(t *testing.T) {
	t.Parallel()
	var texts, seen []string
	for range 12 {
		mark := absentMark(sha256.Sum256(nil), texts)
		if len(mark) != len("data-01234567") || !strings.HasPrefix(mark, "data-") || slices.Contains(seen, mark) {
			t.Fatalf("got the mark %s after %q, want another one", mark, seen)
		}
		seen, texts = append(seen, mark), append(texts, "<"+mark+" file>\n")
	}
}
