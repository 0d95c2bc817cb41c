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

// Check returns the rule that a name or a path breaks if it contains an invisible or direction-changing character.
// Otherwise it returns "".
func Check(text string) string {
	if strings.ContainsFunc(text, isInvisible) {
		return "must not contain invisible or direction-changing characters"
	}
	return ""
}

// isInvisible reports whether r is a line or paragraph separator (Zl, Zp), a format character (Cf), or another
// character without a visible form, such as a Hangul filler. The joiners are allowed, and so are format characters with
// a visible form, such as the Arabic number sign.
func isInvisible(r rune) bool {
	if r == zeroWidthNonJoiner || r == zeroWidthJoiner || unicode.Is(unicode.Prepended_Concatenation_Mark, r) {
		return false
	}
	return unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point)
}
