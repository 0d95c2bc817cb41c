package expr

import "strings"

// tokenKind is a class of tokens; single characters stand for themselves.
type tokenKind uint8

const (
	tokenEnd        tokenKind = iota
	tokenIdentifier           // a name
	tokenName                 // #placeholder
	tokenValue                // :placeholder
	tokenInteger              // a list index
	tokenUnknown              // what is no token of the language
	tokenAnd                  // keywords of conditions …
	tokenOr
	tokenNot
	tokenBetween
	tokenIn
	tokenSet // … and of updates
	tokenRemove
	tokenAdd
	tokenDelete
	tokenNotEqual     // <>
	tokenLessEqual    // <=
	tokenGreaterEqual // >=
)

// token is a part of the source.
type token struct {
	kind       tokenKind
	start, end int
}

// Keywords are keywords only where the language has a use for them.
var (
	conditionKeywords = map[string]tokenKind{
		"AND": tokenAnd, "OR": tokenOr, "NOT": tokenNot, "BETWEEN": tokenBetween, "IN": tokenIn,
	}
	updateKeywords = map[string]tokenKind{
		"SET": tokenSet, "REMOVE": tokenRemove, "ADD": tokenAdd, "DELETE": tokenDelete,
	}
)

// longestKeyword spares longer words the look-up.
const longestKeyword = len("BETWEEN")

// lex splits an expression into tokens, ended by tokenEnd. It never fails: the
// parser refuses tokenUnknown where it stands.
func lex(src string, keywords map[string]tokenKind) []token {
	tokens := make([]token, 0, len(src)/3+2)
	for i := 0; i < len(src); {
		if isSpace(src[i]) {
			i++
			continue
		}
		kind, width := next(src[i:])
		if kind == tokenIdentifier && width <= longestKeyword {
			var upper [longestKeyword]byte
			if keyword, ok := keywords[string(appendUpper(upper[:0], src[i:i+width]))]; ok {
				kind = keyword
			}
		}
		tokens = append(tokens, token{kind: kind, start: i, end: i + width})
		i += width
	}
	return append(tokens, token{kind: tokenEnd, start: len(src), end: len(src)})
}

// next classifies the token that src starts with and measures it.
func next(src string) (tokenKind, int) {
	c := src[0]
	switch {
	case isLetter(c):
		return tokenIdentifier, wordLength(src, 1)
	case c == '#' || c == ':':
		width := wordLength(src, 1)
		switch {
		case width == 1:
			return tokenUnknown, 1
		case c == '#':
			return tokenName, width
		default:
			return tokenValue, width
		}
	case isDigit(c):
		return tokenInteger, digitsLength(src)
	}
	if kind, ok := longOperator(src); ok {
		return kind, 2
	}
	if strings.IndexByte("=<>()[],.+-", c) >= 0 {
		return tokenKind(c), 1
	}
	return tokenUnknown, runeLength(src)
}

func longOperator(src string) (tokenKind, bool) {
	switch {
	case strings.HasPrefix(src, "<>"):
		return tokenNotEqual, true
	case strings.HasPrefix(src, "<="):
		return tokenLessEqual, true
	case strings.HasPrefix(src, ">="):
		return tokenGreaterEqual, true
	default:
		return tokenEnd, false
	}
}

// appendUpper folds ASCII letters to upper case.
func appendUpper(dst []byte, word string) []byte {
	for i := range len(word) {
		c := word[i]
		if 'a' <= c && c <= 'z' {
			c -= 'a' - 'A'
		}
		dst = append(dst, c)
	}
	return dst
}

func wordLength(src string, from int) int {
	for from < len(src) && isWordByte(src[from]) {
		from++
	}
	return from
}

// digitsLength ends after a leading zero: no index is written 01.
func digitsLength(src string) int {
	n := 1
	for src[0] != '0' && n < len(src) && isDigit(src[n]) {
		n++
	}
	return n
}

// runeLength keeps a character of several bytes together in error texts.
func runeLength(src string) int {
	for i := range src {
		if i > 0 {
			return i
		}
	}
	return len(src)
}

func isSpace(c byte) bool    { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
func isDigit(c byte) bool    { return '0' <= c && c <= '9' }
func isLetter(c byte) bool   { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }
func isWordByte(c byte) bool { return isLetter(c) || isDigit(c) || c == '_' }
