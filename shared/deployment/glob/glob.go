// Package glob matches the paths of a project with its patterns, in limited time. It must not depend on the tools whose
// configurations contain the patterns.
package glob

import (
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// maxChoices is the maximum number of patterns that a pattern with alternatives stands for. This number, and with it
// the time for a match, grows exponentially with the number of braces.
const maxChoices = 1000

// IsValid reports whether a pattern can match a path: its syntax is valid, and it does not have too many alternatives.
func IsValid(pattern string) bool {
	choices, open := 1, []int(nil) // open has the number of alternatives of each group that is open
	for i := strings.IndexByte(pattern, '{'); i >= 0 && i < len(pattern); i++ {
		switch last := len(open) - 1; {
		case pattern[i] == '{':
			open = append(open, 1)
		case last < 0:
		case pattern[i] == ',':
			open[last]++
		case pattern[i] == '}':
			choices *= open[last]
			open = open[:last]
		}
		if choices > maxChoices || len(open) > maxChoices {
			return false
		}
	}
	return doublestar.ValidatePattern(pattern)
}

// Match reports whether a path matches a pattern with *, **, ?, [abc] and {a,b}. A pattern that is not valid matches
// nothing.
func Match(pattern, name string) bool {
	return IsValid(pattern) && doublestar.MatchUnvalidated(pattern, name)
}
