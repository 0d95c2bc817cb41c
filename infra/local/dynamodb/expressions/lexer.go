package expressions

import (
	"slices"
	"strings"
)

// tokenKind is a class of tokens.
type tokenKind uint8

const (
	endToken     tokenKind = iota
	identifier             // a name
	nameToken              // #placeholder
	valueToken             // :placeholder
	integer                // a list index
	symbol                 // an operator, a separator or a keyword
	unknownToken           // not part of the language
)

// token is a part of an expression. Keywords are in upper case.
type token struct {
	kind tokenKind
	text string
}

// Keywords are reserved only in the kind of expression that has them.
var (
	conditionKeywords = []string{"AND", "OR", "NOT", "BETWEEN", "IN"}
	updateKeywords    = []string{"SET", "REMOVE", "ADD", "DELETE"}
)

// longestKeyword avoids a search for longer words.
const longestKeyword = len("BETWEEN")

// lex splits an expression into tokens. The last one is an endToken.
func lex(src string, keywords []string) []token {
	tokens := make([]token, 0, len(src)/3+2)
	for {
		src = strings.TrimLeft(src, " \t\r\n")
		if src == "" {
			return append(tokens, token{kind: endToken, text: "<EOF>"})
		}
		kind, width := next(src)
		text := src[:width]
		if kind == identifier && width <= longestKeyword {
			if i := slices.IndexFunc(keywords, func(k string) bool { return strings.EqualFold(k, text) }); i >= 0 {
				kind, text = symbol, keywords[i]
			}
		}
		tokens = append(tokens, token{kind, text})
		src = src[width:]
	}
}

// next returns the kind and length of the first token of src.
func next(src string) (tokenKind, int) {
	c := src[0]
	switch {
	case isLetter(c):
		return identifier, wordLength(src)
	case c == '#' && wordLength(src) > 1:
		return nameToken, wordLength(src)
	case c == ':' && wordLength(src) > 1:
		return valueToken, wordLength(src)
	case c == '0': // an index has no leading zeros
		return integer, 1
	case isDigit(c):
		return integer, len(src) - len(strings.TrimLeft(src, "0123456789"))
	case strings.HasPrefix(src, "<>"), strings.HasPrefix(src, "<="), strings.HasPrefix(src, ">="):
		return symbol, 2
	case strings.IndexByte("=<>()[],.+-", c) >= 0:
		return symbol, 1
	}
	for i := range src { // the error message shows a whole character
		if i > 0 {
			return unknownToken, i
		}
	}
	return unknownToken, len(src)
}

// wordLength returns the length of a word that follows any first byte.
func wordLength(src string) int {
	n := 1
	for n < len(src) && isWordByte(src[n]) {
		n++
	}
	return n
}

func isDigit(c byte) bool    { return '0' <= c && c <= '9' }
func isLetter(c byte) bool   { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }
func isWordByte(c byte) bool { return isLetter(c) || isDigit(c) || c == '_' }
