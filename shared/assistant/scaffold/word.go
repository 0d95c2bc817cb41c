package scaffold

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxWords is how many words of a prompt are read. Longer prompts are texts, which templates have no use for.
const maxWords = 2000

// gap is what stands between two words.
type gap uint8

const (
	space gap = iota
	comma
	stop // the end of a sentence
	line // the end of a line
)

// word is one of a prompt, without the punctuation around it.
type word struct {
	text, low string // as written, and in lower case
	before    gap
	quoted    bool
	bullet    bool // the first of a line that is an item of a list
	colon     bool // a colon followed it
	bracket   bool // it stood in brackets
	query     bool // a question mark followed it
	// tech says that it names a framework or a language where it stands; method is the one of HTTP that it is, if it is one.
	tech   bool
	method string
	thing  *thing // what a kind word means
}

// is reports whether it is one of the words, unless it is quoted: quoted words are names.
func (w word) is(set lexicon[string, bool]) bool { return !w.quoted && set.of(w.low) }

// isCamel reports a name in CamelCase, UserCard or useAuth.
func (w word) isCamel() bool {
	lower := false
	for i, r := range w.text {
		switch {
		case unicode.IsUpper(r) && i > 0 && lower:
			return true
		case unicode.IsLower(r):
			lower = true
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			return false
		}
	}
	return false
}

// isCapital reports a name with a capital letter in front: Navbar.
func (w word) isCapital() bool {
	r, _ := utf8.DecodeRuneInString(w.text)
	return unicode.IsUpper(r)
}

// isPath reports what looks like a path or the name of a file.
func (w word) isPath() bool {
	if strings.HasPrefix(w.text, "@") || strings.Contains(w.text, "://") {
		return false
	}
	if strings.HasPrefix(w.text, "/") && len(w.text) > 1 {
		return true
	}
	dot := strings.LastIndexByte(w.text, '.')
	slash := strings.LastIndexByte(w.text, '/')
	if dot > slash && dot < len(w.text)-1 && len(w.text)-dot <= 11 {
		_, known := frameworkWords.look(w.low)
		_, unknown := otherFrameworks.look(w.low)
		return !known && !unknown && isWordy(w.text[dot+1:])
	}
	return slash > 0
}

// isWordy reports that there are letters, and nothing but letters and digits.
func isWordy(s string) bool {
	letters := false
	for _, r := range s {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return false
		}
		letters = letters || unicode.IsLetter(r)
	}
	return letters
}

// wordsOf takes a prompt apart.
func wordsOf(prompt string) []word {
	var out []word
	next := line
	bullet := true // only spaces so far in this line, or its bullet
	for rest := prompt; rest != "" && len(out) < maxWords; {
		r, n := utf8.DecodeRuneInString(rest)
		switch {
		case r == '\n':
			next, bullet, rest = line, true, rest[n:]
			continue
		case unicode.IsSpace(r) || unicode.IsControl(r):
			rest = rest[n:]
			continue
		}
		raw, quoted, size := rawWord(rest)
		rest = rest[size:]
		if !quoted && bullet && isBullet(raw) {
			next = line
			continue
		}
		begun := len(out)
		out, next = takeIn(out, raw, quoted, next)
		if len(out) > begun {
			out[begun].bullet = bullet && begun > 0 && hasBullet(prompt[:len(prompt)-len(rest)-size])
			bullet = false
		}
	}
	return markTerms(out)
}

// markTerms finds the words that name a technology or a method by those around them.
func markTerms(words []word) []word {
	for i := range words {
		words[i].thing = meaningOf(words[i])
	}
	for i := range words {
		words[i].tech = isTechnology(words, i)
		words[i].method = methodAt(words, i)
	}
	return words
}

// isBullet reports what stands in front of an item of a list: -, *, •, 1. and 1).
func isBullet(raw string) bool {
	if raw == "-" || raw == "*" || raw == "•" || raw == "–" || raw == "+" {
		return true
	}
	digits := strings.TrimRight(raw, ".)")
	return digits != raw && digits != "" && strings.Trim(digits, "0123456789") == "" && len(digits) < 3
}

// hasBullet reports whether what stands before a word in its line is a bullet.
func hasBullet(before string) bool {
	return isBullet(strings.TrimSpace(before[strings.LastIndexByte(before, '\n')+1:]))
}

var quotes = map[rune]string{'"': `"`, '\'': "'", '`': "`", '“': "”", '‘': "’", '«': "»"}

// rawWord is the next word: what is quoted, or all up to a space; size is what it takes in bytes. Quotes hold no line ends and are
// short: an apostrophe is none.
func rawWord(s string) (raw string, quoted bool, size int) {
	first, n := utf8.DecodeRuneInString(s)
	if closing, ok := quotes[first]; ok {
		end := strings.Index(s[n:min(n+130, len(s))], closing)
		if end > 0 && !strings.ContainsRune(s[n:n+end], '\n') && endsWord(s[n+end+len(closing):]) {
			return s[n : n+end], true, n + end + len(closing)
		}
		return "", false, n
	}
	end := strings.IndexFunc(s, unicode.IsSpace)
	if end < 0 {
		end = len(s)
	}
	return s[:end], false, end
}

// endsWord reports that no letter goes on behind a closing quote.
func endsWord(rest string) bool {
	r, _ := utf8.DecodeRuneInString(rest)
	return rest == "" || !unicode.IsLetter(r) && !unicode.IsDigit(r)
}

// takeIn adds a raw word, which may be several with commas between them, and says what stands behind it.
func takeIn(out []word, raw string, quoted bool, before gap) ([]word, gap) {
	if quoted {
		return append(out, word{text: raw, low: strings.ToLower(raw), before: before, quoted: true}), space
	}
	for i, part := range strings.FieldsFunc(raw, func(r rune) bool { return r == ',' || r == '،' || r == '，' || r == '、' }) {
		if i > 0 || strings.HasPrefix(raw, ",") {
			before = max(before, comma)
		}
		var behind gap
		w := word{}
		w.text, behind, w.colon = trim(part)
		if w.text == "" {
			before = max(before, behind)
			if w.colon && len(out) > 0 {
				out[len(out)-1].colon = true
			}
			continue
		}
		w.bracket = strings.HasPrefix(part, "(") && !strings.HasPrefix(w.text, "(")
		w.query = strings.HasSuffix(part, "?")
		if w.query && i+1 < strings.Count(raw, ",")+1 {
			behind = comma
		}
		w.low, w.before = strings.ToLower(w.text), before
		out, before = append(out, w), behind
	}
	if strings.HasSuffix(raw, ",") || strings.HasPrefix(raw, ",") {
		before = max(before, comma)
	}
	return out, before
}

// trim takes the punctuation off, but leaves brackets that are a name's own: [id].tsx, (group)/page.tsx.
func trim(s string) (text string, behind gap, colon bool) {
	for s != "" {
		last, n := utf8.DecodeLastRuneInString(s)
		switch {
		case last == '.' || last == '!' || last == '?' || last == ';' || last == '…' || last == '。' || last == '？' || last == '！':
			behind = stop
		case last == ':':
			colon = true
		case last == ')' && !strings.Contains(s, "(") || last == ']' && !strings.Contains(s, "[") || last == '}' && !strings.Contains(s, "{"):
		case strings.ContainsRune("\"'`”’»*_", last) && len(s) > n || s == "\"" || s == "'" || s == "`":
		default:
			return trimFront(s), behind, colon
		}
		s = s[:len(s)-n]
	}
	return "", behind, colon
}

func trimFront(s string) string {
	for s != "" {
		first, n := utf8.DecodeRuneInString(s)
		closing, bracket := map[rune]string{'(': ")", '[': "]", '{': "}"}[first]
		switch {
		case bracket && (!strings.Contains(s, closing) || strings.HasSuffix(s, closing)):
			s = strings.TrimSuffix(s, closing)
		case strings.ContainsRune("\"'`“‘«*¿¡", first):
		default:
			return s
		}
		s = s[n:]
	}
	return ""
}
