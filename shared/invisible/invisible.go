// Package invisible finds characters that make a text look like another text: characters without a visible form, and
// characters that change the direction of the text around them. It imports no other package of the project.
package invisible

import (
	"strings"
	"unicode"
)

// The joiners are invisible, but some scripts and emoji need them.
const (
	zeroWidthNonJoiner = '\u200c'
	zeroWidthJoiner    = '\u200d'
)

// Check returns the rule that a name or a path breaks if it contains a format character (Unicode category Cf), except
// the joiners, or a line or paragraph separator (Zl, Zp). Otherwise it returns "".
func Check(text string) string {
	if strings.ContainsFunc(text, isInvisible) {
		return "must not contain invisible or direction-changing characters"
	}
	return ""
}

func isInvisible(r rune) bool {
	return r != zeroWidthNonJoiner && r != zeroWidthJoiner && unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)
}
