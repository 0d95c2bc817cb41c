package blueprint

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// name is what a thing is called. Its words are lower case and hold letters, digits and marks of any script, nothing else, so that
// they can stand in text, comments and strings of every language as they are. For code there are the casings, which are ASCII:
// accents fall away, a word of another script is left out, and where the first word is none, or begins with a digit, the noun helps.
type name struct {
	words []string
	noun  string
}

// nameOf makes a name of a prompt's words. The noun is one lower-case ASCII word for the kind of thing: page, component, field.
func nameOf(words []string, noun string) name {
	var clean []string
	for _, word := range words {
		word = strings.NewReplacer("e-mail", "email", "'", "", "’", "").Replace(strings.ToLower(norm.NFC.String(strings.ToValidUTF8(word, " "))))
		clean = append(clean, strings.FieldsFunc(word, func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
		})...)
	}
	if len(clean) == 0 {
		clean = []string{noun}
	}
	return name{words: clean, noun: noun}
}

// without is the name less a last word that says the kind once more: a "contact form" that becomes a form is "contact".
// A name of nothing else keeps it.
func (n name) without(kinds ...string) name {
	words := n.words
	for len(words) > 1 && isOneOf(words[len(words)-1], kinds) {
		words = words[:len(words)-1]
	}
	return name{words: words, noun: n.noun}
}

// with is the name with a last word that says the kind, once.
func (n name) with(kind string) name {
	n = n.without(kind)
	if n.words[len(n.words)-1] == kind {
		return n
	}
	return name{words: append(append([]string(nil), n.words...), kind), noun: n.noun}
}

// numbered is the name with a number from 2 on behind it, for a thing whose like exists; "" leaves it as it is.
func (n name) numbered(suffix string) name {
	if suffix == "" {
		return n
	}
	return name{words: append(append([]string(nil), n.words...), suffix), noun: n.noun}
}

// singular and plural change the last word.
func (n name) singular() name { return n.last(singularOf) }
func (n name) plural() name   { return n.last(pluralOf) }

func (n name) last(change func(string) string) name {
	words := append([]string(nil), n.words...)
	words[len(words)-1] = change(words[len(words)-1])
	return name{words: words, noun: n.noun}
}

// isPlural reports whether the last word is a plural.
func (n name) isPlural() bool {
	last := n.words[len(n.words)-1]
	return pluralOf(last) == last && singularOf(last) != last
}

// lower is the name within a sentence: user profile, FAQ.
func (n name) lower() string { return strings.Join(n.spoken(), " ") }

// sentence is the name at a sentence's start: User profile.
func (n name) sentence() string {
	words := n.spoken()
	words[0] = capital(words[0])
	return strings.Join(words, " ")
}

// title is the name as a heading: User Profile.
func (n name) title() string {
	words := n.spoken()
	for i := range words {
		words[i] = capital(words[i])
	}
	return strings.Join(words, " ")
}

// spoken are the words, abbreviations in capitals.
func (n name) spoken() []string {
	words := make([]string, len(n.words))
	for i, word := range n.words {
		words[i] = word
		if isOneOf(word, abbreviations()) {
			words[i] = strings.ToUpper(word)
		}
	}
	return words
}

func abbreviations() []string {
	return []string{"ai", "api", "cms", "cpu", "css", "csv", "cv", "dns", "faq", "faqs", "gpu", "html", "http", "https", "id", "ip", "iso", "json", "pdf", "qr", "rss", "seo", "sku", "sms", "sql", "ui", "uri", "url", "us", "usd", "uuid", "vat", "xml"}
}

// code are the words in ASCII, at least one, the first beginning with a letter.
func (n name) code() []string {
	var words []string
	for _, word := range n.words {
		if plain := plainWord(word); plain != "" {
			words = append(words, plain)
		}
	}
	if len(words) == 0 || isDigit(words[0][0]) || plainWord(n.words[0]) == "" && words[0] != n.noun {
		if last := len(words) - 1; last > 0 && words[last] == n.noun {
			words = words[:last]
		}
		words = append([]string{n.noun}, words...)
	}
	return words
}

// pascal is UserProfile; Page404 of the page "404".
func (n name) pascal() string {
	var b strings.Builder
	for _, word := range n.code() {
		if b.Len() > 0 && isDigit(word[0]) && isDigit(b.String()[b.Len()-1]) {
			b.WriteByte('_') // 1 2 is not 12
		}
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}

// camel is userProfile.
func (n name) camel() string {
	pascal := n.pascal()
	return strings.ToLower(pascal[:1]) + pascal[1:]
}

// kebab is user-profile, for files and addresses.
func (n name) kebab() string { return strings.Join(n.code(), "-") }

// joined is userprofile.
func (n name) joined() string { return strings.Join(n.code(), "") }

// path is what an address or a folder calls it: kebab, but a number may come first, since no grammar forbids it: 404.
func (n name) path() string {
	kebab := n.kebab()
	if rest, ok := strings.CutPrefix(kebab, n.noun+"-"); ok && isDigit(rest[0]) && n.words[0] != n.noun {
		return rest
	}
	return kebab
}

// plainWord is what is left of a lower-case word in ASCII.
func plainWord(word string) string {
	var b strings.Builder
	for _, r := range norm.NFKD.String(word) {
		r = unicode.ToLower(r)
		switch {
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9':
			b.WriteRune(r)
		default:
			b.WriteString(plainLetter(r))
		}
	}
	return b.String()
}

// plainLetter is the usual spelling of a Latin letter that Unicode does not decompose.
func plainLetter(r rune) string {
	switch r {
	case 'ß':
		return "ss"
	case 'æ':
		return "ae"
	case 'œ':
		return "oe"
	case 'ø':
		return "o"
	case 'đ', 'ð':
		return "d"
	case 'ł':
		return "l"
	case 'þ':
		return "th"
	case 'ı':
		return "i"
	}
	return ""
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }

func capital(word string) string {
	first, size := utf8.DecodeRuneInString(word)
	return string(unicode.ToUpper(first)) + word[size:]
}

func isOneOf(word string, of []string) bool {
	for _, candidate := range of {
		if word == candidate {
			return true
		}
	}
	return false
}

// distinct gives every text that occurred before a number from 2 on, so that fields whose names come to the same differ.
func distinct(texts []string) []string {
	seen := make(map[string]bool, len(texts))
	out := make([]string, len(texts))
	for i, text := range texts {
		out[i] = text
		for n := 2; seen[out[i]]; n++ {
			out[i] = text + strconv.Itoa(n)
		}
		seen[out[i]] = true
	}
	return out
}
