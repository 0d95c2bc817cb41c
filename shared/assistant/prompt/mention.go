package prompt

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"devplatform/shared/project/path"
)

// maxPaths is how many paths PathsIn finds.
const maxPaths = 20

// Mentioned are the files that a message names, in its order: by their path, with the slash in front or without, or by the end of
// it, such as the file's name alone, if no other file's ends so. Only whole words are names, or what stands in quotes.
func Mentioned(message string, paths []string) []string {
	known, seen := newPathIndex(paths), map[string]bool{}
	var found []string
	for _, w := range wordsOf(message, func(text string, quoted bool) bool { return known.find(text, quoted) != "" }) {
		for _, text := range w.names {
			if p := known.find(text, w.quoted); p != "" {
				if !seen[p] {
					seen[p] = true
					found = append(found, p)
				}
				if w.isWhole(text) {
					break
				}
			}
		}
	}
	return found
}

// PathsIn is whatever in a message looks like a path, as a path, in its order; at most 20.
func PathsIn(message string) []string {
	var found []string
	for _, w := range wordsOf(message, func(text string, quoted bool) bool { return quoted && looksLikePath(text) }) {
		likely := []string{w.bare}
		if w.bare == "" || strings.ContainsAny(w.bare, separating) || strings.ContainsFunc(w.bare, isUnspaced) {
			likely = append(likely, w.names[w.whole:]...)
		}
		for _, text := range likely {
			if p := withSlash(norm.NFC.String(text)); looksLikePath(text) && !slices.Contains(found, p) && len(found) < maxPaths {
				found = append(found, p)
			}
		}
	}
	return found
}

// withSlash is what somebody calls a path, as a path.
func withSlash(text string) string {
	return "/" + strings.TrimPrefix(strings.TrimPrefix(text, "./"), "/")
}

// fileName is a name with an extension.
var fileName = regexp.MustCompile(`^[\p{L}\p{M}\p{N}_.@+ \[\]-]*\.[A-Za-z][A-Za-z0-9]{0,9}$`)

func looksLikePath(text string) bool {
	text = strings.TrimPrefix(norm.NFC.String(text), "./")
	return (strings.Contains(text, "/") || fileName.MatchString(text)) && path.Check(withSlash(text)) == ""
}

// pathIndex finds paths by what people call them.
type pathIndex struct {
	all    map[string]bool
	byBase map[string][]string
}

func newPathIndex(paths []string) pathIndex {
	x := pathIndex{all: make(map[string]bool, len(paths)), byBase: make(map[string][]string, len(paths))}
	for _, p := range paths {
		if !x.all[p] {
			x.all[p] = true
			x.byBase[baseOf(p)] = append(x.byBase[baseOf(p)], p)
		}
	}
	return x
}

func baseOf(p string) string { return p[strings.LastIndexByte(p, '/')+1:] }

// find is the path that a text calls, "" if it calls none, or more than one. A plain word, without a dot or a slash, calls a file only in
// quotes or with a capital, as Makefile: else every file "test" would be meant all the time.
func (x pathIndex) find(text string, quoted bool) string {
	text = strings.TrimPrefix(norm.NFC.String(text), "./")
	switch {
	case text == "" || strings.HasSuffix(text, "/"):
		return ""
	case x.all[text]:
		return text
	case text[0] == '/':
		return ""
	case !quoted && !strings.ContainsAny(text, "./") && strings.ToLower(text) == text:
		return ""
	case x.all["/"+text]:
		return "/" + text
	}
	only := ""
	for _, p := range x.byBase[baseOf(text)] {
		if !strings.HasSuffix(p, "/"+text) {
			continue
		}
		if only != "" {
			return ""
		}
		only = p
	}
	return only
}

// word is a part of a message that may call a file.
type word struct {
	at, end int
	quoted  bool
	// names are what it may say, the most likely first: first whole of them stand for all of it, the others for parts of it.
	names []string
	whole int
	// bare is what it says if it is a path.
	bare string
}

// isWhole reports whether a name stands for all of the word, so that the others are not looked at.
func (w word) isWhole(text string) bool { return slices.Contains(w.names[:w.whole], text) }

// wordsOf are the words of a message in its order. What stands in quotes is one word if it is accepted as a name.
func wordsOf(message string, accept func(text string, quoted bool) bool) []word {
	quotes := quotesIn(message, accept)
	words := slices.Clone(quotes)
	next := 0
	for at, text := range fieldsIn(message) {
		for next < len(quotes) && at >= quotes[next].end {
			next++
		}
		if next < len(quotes) && at+len(text) > quotes[next].at {
			continue
		}
		if !strings.Contains(text, "://") {
			words = append(words, newWord(at, text))
		}
	}
	slices.SortStableFunc(words, func(a, b word) int { return a.at - b.at })
	return words
}

// fieldsIn are the words between white space, with where they begin.
func fieldsIn(message string) func(yield func(int, string) bool) {
	return func(yield func(int, string) bool) {
		start := -1
		for at, r := range message {
			if !unicode.IsSpace(r) {
				if start < 0 {
					start = at
				}
				continue
			}
			if start >= 0 && !yield(start, message[start:at]) {
				return
			}
			start = -1
		}
		if start >= 0 {
			yield(start, message[start:])
		}
	}
}

const (
	// opening and closing are what may stand around a name, separating what may stand between names.
	opening    = "([{<\"'`“„‘«‹「『《（【*_~@#"
	closing    = ".,;:!?)]}>\"'`”“’»›」』》）】*_~…。，、；：！？"
	separating = "()[]{}<>|,;=!?\"'`“”„‘’«»‹›*「」『』《》（）【】。，、；：！？"
)

// lineNumber is what tools put behind a path.
var lineNumber = regexp.MustCompile(`(:[0-9]+){1,2}$|#L[0-9]+(-L?[0-9]+)?$`)

func newWord(at int, text string) word {
	w := word{at: at, end: at + len(text), bare: bareOf(text)}
	trimmed := strings.TrimRight(text, closing)
	both := strings.TrimLeft(trimmed, opening)
	w.add(text, trimmed, both, lineNumber.ReplaceAllString(both, ""))
	w.whole = len(w.names)
	for _, piece := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(separating, r) }) {
		piece = strings.Trim(piece, ":*_~@#")
		piece = lineNumber.ReplaceAllString(strings.TrimRight(piece, ".:"), "")
		w.add(piece)
		w.add(strings.FieldsFunc(piece, isUnspaced)...)
	}
	return w
}

// maxLayers is how many layers of brackets and quotes are taken off a word.
const maxLayers = 8

// bareOf is a word without what stands around it, but with the brackets that are its own: [id].tsx, (group)/page.tsx.
func bareOf(text string) string {
	if len(text) > 2*path.MaxBytes {
		return "" // no path, and long to look at
	}
	const before, after = "\"'`“„‘«‹「『《*~@#", ".,;:!?\"'`”“’»›」』》*~…。，、；：！？"
	for range maxLayers {
		shorter := strings.TrimLeft(strings.TrimRight(text, after), before)
		for _, pair := range []string{"()", "[]", "{}", "<>", "（）", "【】"} {
			opens, closes := string([]rune(pair)[:1]), string([]rune(pair)[1:])
			isOpen, isClosed := strings.HasPrefix(shorter, opens), strings.HasSuffix(shorter, closes)
			if isOpen && (isClosed || !strings.Contains(shorter, closes)) {
				shorter = strings.TrimPrefix(shorter, opens)
			}
			if isClosed && (isOpen || !strings.Contains(shorter, opens)) {
				shorter = strings.TrimSuffix(shorter, closes)
			}
		}
		if shorter == text {
			break
		}
		text = shorter
	}
	return lineNumber.ReplaceAllString(text, "")
}

func (w *word) add(names ...string) {
	for _, text := range names {
		if text != "" && len(text) <= path.MaxBytes && (len(w.names) == 0 || w.names[len(w.names)-1] != text) {
			w.names = append(w.names, text)
		}
	}
}

// isUnspaced reports whether a letter is of a script that puts no white space, or more than a word, between the words: there a name in
// Latin letters ends where these begin.
func isUnspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}
