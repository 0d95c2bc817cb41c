package prompt

import (
	"index/suffixarray"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// url matches URLs. The path of a URL is not a path of the project.
var url = regexp.MustCompile(`\S+://\S*`)

// maxOccurrences is the maximum number of occurrences of a file name that are checked in a message.
const maxOccurrences = 100

// maxWork limits the comparisons of a call of Mentioned. A comparison costs the bytes of the path and checkCost. A
// usual message needs a small part of maxWork. If a message needs more, it does not name the remaining files.
const (
	maxWork   = 2 << 20
	checkCost = 128
)

// The characters in joining belong to a word only if they are between its other characters. maxJoining is the maximum
// number of them before and after a name that are searched for the rest of its word.
const (
	joining    = "._-"
	maxJoining = 64
)

// mention is a part of a message that may name a file.
type mention struct{ start, end int }

// Mentioned returns the paths that the message names, in the order in which they occur. A file can be named by its
// path, with or without the first slash. It can also be named by the end of its path, such as the file name, if no
// other path has the same end. A name is a whole word: any white space, quotation mark, bracket or punctuation delimits
// it.
func Mentioned(message string, paths []string) []string {
	text := url.ReplaceAllString(norm.NFC.String(message), " ")
	index := suffixarray.New([]byte(text))
	byFileName, costs, names := map[string][]string{}, map[string]int{}, []string{}
	for _, p := range paths {
		name := p[strings.LastIndexByte(p, '/')+1:]
		if byFileName[name] == nil {
			names = append(names, name)
		}
		byFileName[name] = append(byFileName[name], p)
		costs[name] += len(p) + checkCost
	}
	named := map[mention]string{} // empty if the mention is ambiguous
	work := 0
	for _, name := range names {
		for _, at := range index.Lookup([]byte(name), maxOccurrences) {
			end := at + len(name)
			if !isWordEnd(text, end) {
				continue
			}
			if work += costs[name]; work > maxWork {
				return outermost(named)
			}
			for _, p := range byFileName[name] {
				m, isMention := mentionOf(p, text, end)
				other, exists := named[m]
				switch {
				case !isMention:
				case !exists || isWhole(p, m):
					named[m] = p
				case other != p && !isWhole(other, m):
					named[m] = ""
				}
			}
		}
	}
	return outermost(named)
}

// isWordEnd reports whether a word ends at a position in the text.
func isWordEnd(text string, end int) bool {
	after := text[end:min(end+maxJoining, len(text))]
	next, _ := utf8.DecodeRuneInString(strings.TrimLeft(after, joining))
	return !isWordRune(next)
}

// mentionOf returns the part of the text that names the path. end is the position after the path's file name in the
// text, where a word ends.
func mentionOf(p, text string, end int) (m mention, ok bool) {
	n := commonSuffix(p, text[:end])
	name := p[len(p)-n:]
	if n < len(p) && p[len(p)-n-1] != '/' { // only the end of this folder's name is equal
		_, name, _ = strings.Cut(name, "/")
	}
	m = mention{end - len(name), end}
	before, after := strings.TrimSuffix(text[:m.start], "./"), text[end:]
	previous, _ := utf8.DecodeLastRuneInString(before)
	next, _ := utf8.DecodeRuneInString(after)
	// A name without a dot, a slash or a capital letter may be an ordinary word, so it must be quoted. Makefile has a
	// capital letter, so it need not be quoted.
	mustBeQuoted := strings.Contains(name, " ") || !strings.ContainsAny(name, "./") && strings.ToLower(name) == name
	if mustBeQuoted && (!isQuote(previous) || !isQuote(next)) {
		return m, false
	}
	previous, _ = utf8.DecodeLastRuneInString(strings.TrimRight(before[max(0, len(before)-maxJoining):], joining))
	return m, !isWordRune(previous)
}

// isWhole reports whether the mention is the whole path, with or without its first slash.
func isWhole(p string, m mention) bool { return m.end-m.start >= len(p)-1 }

// outermost returns the paths in the order of their mentions, without repetitions and without mentions inside of
// longer ones.
func outermost(named map[mention]string) []string {
	var found []string
	end := 0
	for _, m := range slices.SortedFunc(maps.Keys(named), func(a, b mention) int {
		if a.start != b.start {
			return a.start - b.start
		}
		return b.end - a.end
	}) {
		if m.end <= end {
			continue
		}
		end = m.end
		if p := named[m]; p != "" && !slices.Contains(found, p) {
			found = append(found, p)
		}
	}
	return found
}

// commonSuffix returns the number of bytes at the ends of a and b that are equal.
func commonSuffix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[len(a)-n-1] == b[len(b)-n-1] {
		n++
	}
	return n
}

// isQuote reports whether a rune is a quotation mark or a bracket of any script.
func isQuote(r rune) bool {
	return strings.ContainsRune("`\"'", r) || unicode.In(r, unicode.Pi, unicode.Pf, unicode.Ps, unicode.Pe)
}

// isWordRune reports whether a rune continues a name. Letters of scripts without upper and lower case do not continue a
// name. In Chinese or Korean, for example, there is no space between a file name and the text around it.
func isWordRune(r rune) bool {
	return r == '/' || unicode.IsNumber(r) || unicode.IsLetter(r) && !unicode.Is(unicode.Lo, r)
}
