// Package expressions is DynamoDB's expression language: conditions, filters, key conditions, updates and projections.
// An expression is parsed and checked once for each request, then evaluated on any number of items. Requests, tables
// and storage do not belong here. Only [KeyCondition.Resolve] depends on a table's key schema.
package expressions

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"devplatform/infra/local/dynamodb/values"
)

// Limits of an expression.
const (
	maxExpressionBytes = 4096
	maxOperators       = 300
	maxPathSteps       = 32
	maxListIndex       = 1<<31 - 1
)

func errorf(format string, args ...any) error {
	return &values.Error{Message: fmt.Sprintf(format, args...)}
}

// parser is a recursive-descent parser of one expression. It also checks the expression and replaces placeholders. Like
// Go's text/template/parse, it panics with its error, and parse recovers.
type parser struct {
	kind      string // the request's parameter, for error messages
	tokens    []token
	operators int
	scope     *Scope
	earlier   int // number of document paths of earlier expressions in the scope
}

// parse calls body with a parser of an expression, and returns the error with which the parser fails.
func parse(kind, src string, scope *Scope, keywords []string, body func(p *parser)) (err error) {
	defer func() {
		if failure := recover(); failure != nil {
			failed, ok := failure.(*values.Error)
			if !ok {
				panic(failure)
			}
			err = failed
		}
	}()
	p := &parser{kind: kind, scope: scope, earlier: len(scope.paths)}
	switch {
	case src == "":
		p.fail("The expression can not be empty;")
	case len(src) > maxExpressionBytes:
		p.fail("Expression size has exceeded the maximum allowed size; expression size: %d", len(src))
	}
	p.tokens = lex(src, keywords)
	body(p)
	switch {
	case p.tokens[0].kind != endToken:
		p.failUnexpected()
	case p.operators > maxOperators:
		p.fail("The expression contains too many operators; operator count: %d", p.operators)
	}
	return nil
}

func (p *parser) fail(format string, args ...any) {
	panic(errorf("Invalid "+p.kind+": "+format, args...))
}

func (p *parser) failUnexpected() { p.fail("Syntax error; token: %q", p.tokens[0].text) }

// closeParenthesis ends a part in parentheses. nested means that the whole part is in parentheses itself.
func (p *parser) closeParenthesis(nested bool) {
	p.expect(")")
	if nested {
		p.fail("The expression has redundant parentheses;")
	}
}

func (p *parser) is(text string) bool { return p.tokens[0].kind == symbol && p.tokens[0].text == text }

// take returns the text of the current token and advances to the next one.
func (p *parser) take() string {
	text := p.tokens[0].text
	p.tokens = p.tokens[1:]
	return text
}

// skip advances to the next token if the current one is the symbol.
func (p *parser) skip(text string) bool {
	if !p.is(text) {
		return false
	}
	p.take()
	return true
}

func (p *parser) expect(text string) {
	if !p.skip(text) {
		p.failUnexpected()
	}
}

// paths returns the document paths that were parsed, in order.
func (p *parser) paths() []Path { return p.scope.paths[p.earlier:] }

// path parses name, #name, path.name, path.#name or path[index].
func (p *parser) path() Path {
	path := append(make(Path, 0, 2), p.pathName())
	for {
		switch {
		case p.skip("."):
			path = append(path, p.pathName())
		case p.skip("["):
			path = append(path, p.pathIndex())
		case len(path) > maxPathSteps:
			p.fail("The document path has too many nesting levels; nesting levels: %d", len(path))
		default:
			p.scope.paths = append(p.scope.paths, path)
			return path
		}
	}
}

func (p *parser) pathName() Step {
	kind := p.tokens[0].kind
	if kind != nameToken && kind != identifier {
		p.failUnexpected()
	}
	text := p.take()
	if kind == identifier {
		if !p.is("(") && isReserved(text) {
			p.fail("Attribute name is a reserved keyword; reserved keyword: %s", text)
		}
		return Step{Name: text}
	}
	name, ok := p.scope.name(text)
	if !ok {
		p.fail("An expression attribute name used in the document path is not defined; attribute name: %s", text)
	}
	return Step{Name: name}
}

func (p *parser) pathIndex() Step {
	if p.tokens[0].kind != integer {
		p.failUnexpected()
	}
	text := p.take()
	index, err := strconv.Atoi(text)
	if err != nil || index > maxListIndex {
		p.fail("List index is not within the allowable range; index: [%s]", text)
	}
	p.expect("]")
	return Step{Index: index, IsIndex: true}
}

// operand parses a path, a :value, a function or one of them in parentheses. It reports whether there were parentheses.
func (p *parser) operand(at place) (_ operand, parenthesized bool) {
	switch {
	case p.tokens[0].kind == valueToken:
		return p.value(), false
	case p.tokens[0].kind == identifier && p.tokens[1] == token{symbol, "("}:
		return p.call(at), false
	case !p.skip("("):
		return p.path(), false
	}
	inner, nested := p.operand(at)
	p.closeParenthesis(nested)
	return inner, true
}

func (p *parser) value() literal {
	if p.tokens[0].kind != valueToken {
		p.failUnexpected()
	}
	placeholder := p.take()
	value, ok := p.scope.value(placeholder)
	if !ok {
		p.fail("An expression attribute value used in expression is not defined; attribute value: %s", placeholder)
	}
	return literal{value}
}

// list parses ( operand, … ).
func (p *parser) list(at place) (list []operand) {
	p.expect("(")
	for more := true; more; more = p.skip(",") {
		o, _ := p.operand(at)
		list = append(list, o)
	}
	p.expect(")")
	return list
}

// checkDistinct rejects a path that is compared with itself.
func (p *parser) checkDistinct(operator string, first operand, rest ...operand) {
	path, ok := first.(Path)
	for _, o := range rest {
		if other, both := o.(Path); ok && both && slices.Equal(path, other) {
			p.fail("The first operand must be distinct from the remaining operands for this operator or function; "+
				"operator: %s, first operand: %s", operator, path)
		}
	}
}

// checkTypes rejects operands of a type that the operator does not accept. The types of paths are not known yet.
func (p *parser) checkTypes(operator string, accepts func(values.Kind) bool, operands ...operand) {
	for _, o := range operands {
		if kind := kindOf(o); kind != values.KindInvalid && !accepts(kind) {
			p.fail("Incorrect operand type for operator or function; "+
				"operator or function: %s, operand type: %s", operator, kind)
		}
	}
}

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

// reservedWords are the "Reserved words in DynamoDB" of AWS's developer guide, with its misspellings.
//
//go:embed reserved.txt
var reservedWords string

// longestReserved is the length of the longest reserved word.
const longestReserved = len("LOCALTIMESTAMP")

var reserved = func() map[string]bool {
	words := map[string]bool{}
	for word := range strings.FieldsSeq(reservedWords) {
		words[word] = true
	}
	return words
}()

// isReserved reports whether an attribute name, in upper or lower case, must be written as a placeholder.
func isReserved(name string) bool {
	return len(name) <= longestReserved && reserved[strings.ToUpper(name)]
}
