package project

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

const (
	// maxSlugBase is the longest slug, in characters, without the number that makes it unique.
	maxSlugBase = 60
	// slugOfNothing is the slug of a name that leaves nothing.
	slugOfNothing = "project"
)

// plainLetters are the Latin letters that Unicode does not decompose into an ASCII letter and a mark, in lower case.
var plainLetters = map[rune]string{
	'ß': "ss", 'æ': "ae", 'œ': "oe", 'ø': "o", 'đ': "d", 'ð': "d", 'ł': "l", 'þ': "th", 'ı': "i", 'ȷ': "j",
	'ħ': "h", 'ŧ': "t", 'ŋ': "ng", 'ĸ': "k", 'ƒ': "f", 'ə': "e", 'ɛ': "e", 'ɔ': "o", 'ƀ': "b", 'ɓ': "b", 'ɖ': "d",
	'ɗ': "d", 'ǥ': "g", 'ɠ': "g", 'ɨ': "i", 'ƙ': "k", 'ɲ': "n", 'ƥ': "p", 'ʂ': "s", 'ƭ': "t", 'ʉ': "u", 'ʋ': "v",
	'ƴ': "y", 'ƶ': "z",
}

// isApostrophe reports the characters that stand inside of words: Ada's is adas.
func isApostrophe(r rune) bool { return r == '\'' || r == '’' || r == 'ʼ' }

// slugOf is the plain slug of a name (API.md §4): lower-case ASCII letters and digits in groups with one hyphen between
// them, at most maxSlugBase characters.
func slugOf(name string) string {
	var b strings.Builder
	gap := false
	for _, r := range norm.NFKD.String(name) {
		plain := plainOf(unicode.ToLower(r))
		switch {
		case plain == "" && (unicode.IsMark(r) || isApostrophe(r)):
			continue
		case plain == "":
			gap = b.Len() > 0
			continue
		case gap:
			plain = "-" + plain
		}
		if b.Len()+len(plain) > maxSlugBase {
			break
		}
		gap = false
		b.WriteString(plain)
	}
	if b.Len() == 0 {
		return slugOfNothing
	}
	return b.String()
}

// plainOf is a lower-case letter or digit in ASCII; "" if it is something else.
func plainOf(r rune) string {
	if (r >= 'a' && r <= 'z') || (r >= '0' && r <= '9') {
		return string(r)
	}
	return plainLetters[r]
}

// nextSlug is a slug for base that is not taken: the plain one, or the one with the lowest free number from 2 on. Writers who
// meet again and again choose among the next few, so that they come apart.
func nextSlug(base string, taken map[string]bool, attempt int) string {
	skip := 0
	if attempt > quietAttempts {
		skip = rand.N(attempt) //nolint:gosec // spreads writers out, guards nothing
	}
	if !taken[base] && skip == 0 {
		return base
	}
	for n := 2; ; n++ {
		slug := base + "-" + strconv.Itoa(n)
		if taken[slug] {
			continue
		}
		if skip == 0 {
			return slug
		}
		skip--
	}
}

// quietAttempts is how often a writer takes the lowest free number and loses it before it looks further.
const quietAttempts = 4
