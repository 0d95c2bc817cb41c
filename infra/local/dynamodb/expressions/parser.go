// Package expressions is DynamoDB's expression language: conditions, filters, key conditions, updates and projections.
// An expression is parsed and checked once for each request, then evaluated on any number of items. Requests, tables
// and storage do not belong here. Only [KeyCondition.Resolve] depends on a table's key schema.
package expressions

import (
	"fmt"
	"strconv"

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

// parser is a recursive-descent parser of one expression. It also checks the expression and replaces placeholders.
type parser struct {
	kind      string // the request's parameter, for error messages
	tokens    []token
	operators int
	scope     *Scope
	paths     []Path // all document paths, in order
}

func newParser(kind, src string, scope *Scope, keywords []string) (*parser, error) {
	p := &parser{kind: kind, scope: scope}
	switch {
	case src == "":
		return nil, p.errorf("The expression can not be empty;")
	case len(src) > maxExpressionBytes:
		return nil, p.errorf("Expression size has exceeded the maximum allowed size; expression size: %d", len(src))
	}
	p.tokens = lex(src, keywords)
	return p, nil
}

func (p *parser) errorf(format string, args ...any) error {
	return errorf("Invalid "+p.kind+": "+format, args...)
}

// unexpected returns the error for the current token.
func (p *parser) unexpected() error { return p.errorf("Syntax error; token: %q", p.tokens[0].text) }

func (p *parser) redundantParentheses() error {
	return p.errorf("The expression has redundant parentheses;")
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

func (p *parser) expect(text string) error {
	if !p.skip(text) {
		return p.unexpected()
	}
	return nil
}

// end requires the end of the expression, and checks the number of operators.
func (p *parser) end() error {
	switch {
	case p.tokens[0].kind != endToken:
		return p.unexpected()
	case p.operators > maxOperators:
		return p.errorf("The expression contains too many operators; operator count: %d", p.operators)
	}
	return nil
}

// path parses name, #name, path.name, path.#name or path[index].
func (p *parser) path() (Path, error) {
	step, err := p.pathName()
	if err != nil {
		return nil, err
	}
	path := append(make(Path, 0, 2), step)
	for {
		switch {
		case p.skip("."):
			step, err = p.pathName()
		case p.skip("["):
			step, err = p.pathIndex()
		case len(path) > maxPathSteps:
			return nil, p.errorf("The document path has too many nesting levels; nesting levels: %d", len(path))
		default:
			p.paths = append(p.paths, path)
			return path, nil
		}
		if err != nil {
			return nil, err
		}
		path = append(path, step)
	}
}

func (p *parser) pathName() (Step, error) {
	switch p.tokens[0].kind {
	case nameToken:
		placeholder := p.take()
		name, ok := p.scope.name(placeholder)
		if !ok {
			return Step{}, p.errorf("An expression attribute name used in the document path is not defined; "+
				"attribute name: %s", placeholder)
		}
		return Step{Name: name}, nil
	case identifier:
		name := p.take()
		if !p.is("(") && isReserved(name) {
			return Step{}, p.errorf("Attribute name is a reserved keyword; reserved keyword: %s", name)
		}
		return Step{Name: name}, nil
	default:
		return Step{}, p.unexpected()
	}
}

func (p *parser) pathIndex() (Step, error) {
	if p.tokens[0].kind != integer {
		return Step{}, p.unexpected()
	}
	text := p.take()
	index, err := strconv.Atoi(text)
	if err != nil || index > maxListIndex {
		return Step{}, p.errorf("List index is not within the allowable range; index: [%s]", text)
	}
	return Step{Index: index, IsIndex: true}, p.expect("]")
}

// operand parses a path, a :value, a function or one of them in parentheses. It reports whether there were parentheses.
func (p *parser) operand(at place) (_ operand, parenthesized bool, err error) {
	switch {
	case p.tokens[0].kind == valueToken:
		value, err := p.value()
		return value, false, err
	case p.tokens[0].kind == identifier && p.tokens[1] == token{symbol, "("}:
		call, err := p.call(at)
		return call, false, err
	case !p.is("("):
		path, err := p.path()
		return path, false, err
	}
	p.take()
	inner, nested, err := p.operand(at)
	if err != nil {
		return nil, false, err
	}
	if err := p.expect(")"); err != nil {
		return nil, false, err
	}
	if nested {
		return nil, false, p.redundantParentheses()
	}
	return inner, true, nil
}

func (p *parser) value() (literal, error) {
	if p.tokens[0].kind != valueToken {
		return literal{}, p.unexpected()
	}
	placeholder := p.take()
	value, ok := p.scope.value(placeholder)
	if !ok {
		return literal{}, p.errorf("An expression attribute value used in expression is not defined; "+
			"attribute value: %s", placeholder)
	}
	return literal{value}, nil
}

// list parses ( operand, … ).
func (p *parser) list(at place) ([]operand, error) {
	if err := p.expect("("); err != nil {
		return nil, err
	}
	var list []operand
	for more := true; more; more = p.skip(",") {
		o, _, err := p.operand(at)
		if err != nil {
			return nil, err
		}
		list = append(list, o)
	}
	return list, p.expect(")")
}

// distinct rejects a path that is compared with itself.
func (p *parser) distinct(operator string, first operand, rest ...operand) error {
	path, ok := first.(Path)
	if !ok {
		return nil
	}
	for _, o := range rest {
		if other, ok := o.(Path); ok && path.equal(other) {
			return p.errorf("The first operand must be distinct from the remaining operands for this operator or function; "+
				"operator: %s, first operand: %s", operator, path)
		}
	}
	return nil
}

// types rejects operands of a type that the operator does not accept. The types of paths are not known yet.
func (p *parser) types(operator string, accepts func(values.Kind) bool, operands ...operand) error {
	for _, o := range operands {
		if kind := kindOf(o); kind != values.KindInvalid && !accepts(kind) {
			return p.errorf("Incorrect operand type for operator or function; "+
				"operator or function: %s, operand type: %s", operator, kind)
		}
	}
	return nil
}
