package project

import (
	"context"
	"errors"
	"math/rand/v2"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

const (
	// maxSlugBase is the largest length of a slug, in characters, without the number that makes it unique.
	maxSlugBase = 60
	// defaultSlug is the slug of a name without letters that can be written in ASCII.
	defaultSlug = "project"
)

// plainLetters are the lower-case Latin letters that Unicode does not decompose into an ASCII letter and a mark.
var plainLetters = map[rune]string{
	'ß': "ss", 'æ': "ae", 'œ': "oe", 'ø': "o", 'đ': "d", 'ð': "d", 'ł': "l", 'þ': "th", 'ı': "i", 'ȷ': "j",
	'ħ': "h", 'ŧ': "t", 'ŋ': "ng", 'ĸ': "k", 'ƒ': "f", 'ə': "e", 'ɛ': "e", 'ɔ': "o", 'ƀ': "b", 'ɓ': "b", 'ɖ': "d",
	'ɗ': "d", 'ǥ': "g", 'ɠ': "g", 'ɨ': "i", 'ƙ': "k", 'ɲ': "n", 'ƥ': "p", 'ʂ': "s", 'ƭ': "t", 'ʉ': "u", 'ʋ': "v",
	'ƴ': "y", 'ƶ': "z",
}

// isApostrophe reports whether a slug leaves r out without a hyphen: "Ada's" becomes "adas".
func isApostrophe(r rune) bool { return r == '\'' || r == '’' || r == 'ʼ' }

// slugOf returns the plain slug of a name: groups of lower-case ASCII letters and digits with one hyphen between them,
// at most maxSlugBase characters.
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
		return defaultSlug
	}
	return b.String()
}

// plainOf returns a lower-case letter or digit in ASCII, or "" for any other character.
func plainOf(r rune) string {
	if (r >= 'a' && r <= 'z') || (r >= '0' && r <= '9') {
		return string(r)
	}
	return plainLetters[r]
}

// slugChooser chooses a slug for a project over the attempts of db.Retry. The first choice is base.
type slugChooser struct {
	store             store
	workspaceID, base string
	slug              string // of the current attempt, "" if it must be chosen
	conflicts         int    // how often another project took the chosen slug first
}

// next returns the slug for an attempt.
func (c *slugChooser) next(ctx context.Context) (string, error) {
	switch {
	case c.slug != "":
	case c.conflicts == 0:
		c.slug = c.base
	default:
		taken, err := c.store.slugsLike(ctx, c.workspaceID, c.base)
		if err != nil {
			return "", err
		}
		c.slug = nextSlug(c.base, taken, c.conflicts)
	}
	return c.slug, nil
}

// note notes the error of an attempt, and returns it.
func (c *slugChooser) note(err error) error {
	if errors.Is(err, errSlugTaken) {
		c.slug, c.conflicts = "", c.conflicts+1
	}
	return err
}

// nextSlug returns a slug for base that is not taken: base itself, or base with the lowest free number from 2 on. After
// several conflicts it chooses at random among the next numbers, so that concurrent requests choose different ones.
func nextSlug(base string, taken map[string]bool, attempt int) string {
	skip := 0
	if attempt > quietAttempts {
		skip = rand.N(attempt) //nolint:gosec // only spreads requests out
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

// quietAttempts is the number of conflicts after which nextSlug chooses at random.
const quietAttempts = 4
