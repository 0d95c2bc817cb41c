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
	// maxSlugBase is the maximum length of a slug, without the number that makes it unique.
	maxSlugBase = 60
	// defaultSlug is the slug of a name without any character that can be written in ASCII.
	defaultSlug = "project"
)

// plainLetters maps lowercase Latin letters to ASCII. It contains only letters that Unicode does not decompose into an
// ASCII letter and a mark.
var plainLetters = map[rune]string{
	'ß': "ss", 'æ': "ae", 'œ': "oe", 'ø': "o", 'đ': "d", 'ð': "d", 'ł': "l", 'þ': "th", 'ı': "i", 'ȷ': "j",
	'ħ': "h", 'ŧ': "t", 'ŋ': "ng", 'ĸ': "k", 'ƒ': "f", 'ə': "e", 'ɛ': "e", 'ɔ': "o", 'ƀ': "b", 'ɓ': "b", 'ɖ': "d",
	'ɗ': "d", 'ǥ': "g", 'ɠ': "g", 'ɨ': "i", 'ƙ': "k", 'ɲ': "n", 'ƥ': "p", 'ʂ': "s", 'ƭ': "t", 'ʉ': "u", 'ʋ': "v",
	'ƴ': "y", 'ƶ': "z",
}

// isApostrophe reports whether r is an apostrophe. A slug omits apostrophes: "Ada's" becomes "adas".
func isApostrophe(r rune) bool { return r == '\'' || r == '’' || r == 'ʼ' }

// slugOf returns the slug of a name, without a number that makes it unique. It has groups of lowercase ASCII letters
// and digits, separated by single hyphens, and at most maxSlugBase characters.
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

// plainOf returns the ASCII form of a lowercase letter or a digit, or "" if r has none.
func plainOf(r rune) string {
	if (r >= 'a' && r <= 'z') || (r >= '0' && r <= '9') {
		return string(r)
	}
	return plainLetters[r]
}

// slugChooser chooses the slug of a project. All attempts of one db.Retry share it.
type slugChooser struct {
	store store
	slug  string // the chosen slug, or "" if it must be chosen
	taken int    // how many of the chosen slugs were taken
}

// try calls write with a slug, which is base if it is free. write returns errSlugTaken if another project has the slug.
// After the first taken slug, try calls write again without a wait, because an older project usually has the slug.
// After later ones, other requests probably want the same slug at the same time, so try returns errSlugTaken, and
// db.Retry waits. Errors: the errors of write.
func (c *slugChooser) try(ctx context.Context, workspaceID, base string, write func(slug string) error) error {
	for {
		if c.slug == "" && c.taken == 0 {
			c.slug = base
		} else if c.slug == "" {
			all, err := c.store.slugsWithPrefix(ctx, workspaceID, base)
			if err != nil {
				return err
			}
			c.slug = nextSlug(base, all, c.taken)
		}
		err := write(c.slug)
		if !errors.Is(err, errSlugTaken) {
			return err
		}
		c.slug, c.taken = "", c.taken+1
		if c.taken > 1 {
			return err
		}
	}
}

// nextSlug returns a slug that is not taken: base itself, or base with the lowest free number, starting at 2. After
// maxLowestFree attempts, it skips up to attempt-1 free numbers, so that concurrent requests choose different slugs.
func nextSlug(base string, taken map[string]bool, attempt int) string {
	skip := 0
	if attempt > maxLowestFree {
		skip = rand.N(attempt) //nolint:gosec // does not need to be secure
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

// maxLowestFree is the number of attempts in which nextSlug chooses the lowest free number.
const maxLowestFree = 4
