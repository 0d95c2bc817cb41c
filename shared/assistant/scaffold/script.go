package scaffold

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// tokenKind is what a token of a script is.
type tokenKind uint8

const (
	tokenName tokenKind = iota
	tokenString
	tokenOther // a number, a template, a regular expression
	tokenMark  // punctuation, one character
)

// scriptToken is one of JavaScript's or TypeScript's, comments apart. Templates and regular expressions are one token each, so that
// their braces and quotes mislead nobody; of a string text is the value.
type scriptToken struct {
	kind tokenKind
	text string
	at   int // its place in the source
	// first says that it begins its line without any indentation.
	first bool
}

// scanScript takes a script apart. It never fails: what it does not understand are marks. An apostrophe in JSX text begins no string,
// because strings end in their line.
func scanScript(src string) []scriptToken {
	s := &scriptScanner{src: src, noEnd: map[byte]int{}}
	for s.pos < len(s.src) {
		s.next()
	}
	return s.tokens
}

type scriptScanner struct {
	src    string
	pos    int
	tokens []scriptToken
	// noEnd is up to where a quote, or the slash of a regular expression, was seen to have no counterpart: looking again and again
	// would take forever in a long line.
	noEnd map[byte]int
}

func (s *scriptScanner) next() {
	rest := s.src[s.pos:]
	r, n := utf8.DecodeRuneInString(rest)
	switch {
	case unicode.IsSpace(r):
		s.pos += n
	case strings.HasPrefix(rest, "//"):
		s.pos += indexOr(rest, "\n", len(rest))
	case strings.HasPrefix(rest, "/*"):
		s.pos += min(indexOr(rest[2:], "*/", len(rest))+4, len(rest))
	case r == '"' || r == '\'':
		s.quoted(byte(r))
	case r == '`':
		s.put(tokenOther, s.pos, endOfTemplate(s.src, s.pos))
	case r == '/' && s.mayBeRegexp():
		s.regexp(rest)
	case isNameRune(r):
		end := s.pos
		for end < len(s.src) {
			r, n := utf8.DecodeRuneInString(s.src[end:])
			if !isNameRune(r) {
				break
			}
			end += n
		}
		kind := tokenName
		if unicode.IsDigit(r) {
			kind = tokenOther
		}
		s.put(kind, s.pos, end)
	default:
		s.put(tokenMark, s.pos, s.pos+n)
	}
}

func (s *scriptScanner) put(kind tokenKind, from, to int) {
	first := from == 0 || s.src[from-1] == '\n'
	s.tokens = append(s.tokens, scriptToken{kind: kind, text: s.src[from:to], at: from, first: first})
	s.pos = to
}

// regexp reads a regular expression, or a slash.
func (s *scriptScanner) regexp(rest string) {
	n := 0
	if s.pos >= s.noEnd['/'] {
		n = endOfRegexp(rest)
	}
	if n > 0 {
		s.put(tokenOther, s.pos, s.pos+n)
		return
	}
	s.noEnd['/'] = s.pos + indexOr(rest, "\n", len(rest))
	s.put(tokenMark, s.pos, s.pos+1)
}

// quoted reads a string, or an apostrophe.
func (s *scriptScanner) quoted(quote byte) {
	i := s.pos + 1
	for ; s.pos >= s.noEnd[quote] && i < len(s.src) && s.src[i] != '\n'; i++ {
		switch s.src[i] {
		case '\\':
			i++
		case quote:
			from := s.pos
			s.put(tokenString, from, i+1)
			s.tokens[len(s.tokens)-1].text = s.src[from+1 : i]
			return
		}
	}
	s.noEnd[quote] = max(s.noEnd[quote], i)
	s.put(tokenMark, s.pos, s.pos+1)
}

// mayBeRegexp reports that a slash here divides nothing and closes no tag.
func (s *scriptScanner) mayBeRegexp() bool {
	if len(s.tokens) == 0 {
		return true
	}
	last := s.tokens[len(s.tokens)-1]
	switch last.kind {
	case tokenName:
		return last.text == "return" || last.text == "typeof" || last.text == "case"
	case tokenMark:
		if last.text == ">" {
			return len(s.tokens) > 1 && s.tokens[len(s.tokens)-2].text == "="
		}
		return strings.Contains("(,=:[!&|?;{", last.text)
	}
	return false
}

// endOfRegexp is where a regular expression at the start of s ends; 0 if there is none.
func endOfRegexp(s string) int {
	class := false
	for i := 1; i < len(s) && s[i] != '\n'; i++ {
		switch {
		case s[i] == '\\':
			i++
		case s[i] == '[':
			class = true
		case s[i] == ']':
			class = false
		case s[i] == '/' && !class && i > 1:
			return i + 1
		}
	}
	return 0
}

// endOfTemplate is where the template that begins at from ends, those inside of its ${} included.
func endOfTemplate(s string, from int) int {
	var depths []int // of braces, for each template that is open
	depths = append(depths, 0)
	for i := from + 1; i < len(s); i++ {
		inText := depths[len(depths)-1] == 0
		switch {
		case s[i] == '\\':
			i++
		case s[i] == '`' && inText:
			depths = depths[:len(depths)-1]
			if len(depths) == 0 {
				return i + 1
			}
		case s[i] == '`':
			depths = append(depths, 0)
		case inText && s[i] == '$' && i+1 < len(s) && s[i+1] == '{':
			depths[len(depths)-1] = 1
			i++
		case !inText && s[i] == '{':
			depths[len(depths)-1]++
		case !inText && s[i] == '}':
			depths[len(depths)-1]--
		}
	}
	return len(s)
}

func isNameRune(r rune) bool {
	return r == '_' || r == '$' || unicode.IsLetter(r) || unicode.IsDigit(r)
}

// indexOr is where sub is in s, or otherwise.
func indexOr(s, sub string, otherwise int) int {
	if i := strings.Index(s, sub); i >= 0 {
		return i
	}
	return otherwise
}
