package openai

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// surrogates decodes the strings of successive deltas. A server may split a text between the two halves of a surrogate
// pair, such as "\ud83d" and "\ude00". Each half alone is not valid, so the first half waits for the next delta.
type surrogates struct {
	half string // a JSON escape, or ""
}

// escapeLength is the length of an escape such as \ud83d.
const escapeLength = 6

// text returns the text of a value like textOf, without a first half at its end.
func (s *surrogates) text(v jsontext.Value) string {
	if v.Kind() != '"' {
		return textOf(v)
	}
	text := s.half + string(v[1:len(v)-1])
	s.half = ""
	if start := len(text) - escapeLength; start >= 0 && isHighSurrogate(text[start:]) {
		before := text[:start]
		if backslashes := len(before) - len(strings.TrimRight(before, `\`)); backslashes%2 == 0 {
			s.half, text = text[start:], before
		}
	}
	return textOf(jsontext.Value(`"` + text + `"`))
}

// end returns the replacement character if the last delta ended with a first half.
func (s *surrogates) end() string {
	if s.half == "" {
		return ""
	}
	s.half = ""
	return "\uFFFD"
}

// isHighSurrogate reports whether an escape is the first half of a surrogate pair.
func isHighSurrogate(escape string) bool {
	return strings.HasPrefix(escape, `\u`) && strings.ContainsRune("dD", rune(escape[2])) &&
		strings.ContainsRune("89abAB", rune(escape[3]))
}
