package expressions

import (
	"bytes"
	"strings"

	"devplatform/infra/local/dynamodb/values"
)

// maxInOperands is the maximum number of values of IN.
const maxInOperands = 100

// Operator is a comparison operator, or a function that compares.
type Operator string

// The operators of conditions and key conditions.
const (
	Equal        Operator = "="
	NotEqual     Operator = "<>"
	Less         Operator = "<"
	LessEqual    Operator = "<="
	Greater      Operator = ">"
	GreaterEqual Operator = ">="
	Between      Operator = "BETWEEN"
	BeginsWith   Operator = "begins_with"
)

// Condition is a ConditionExpression or a FilterExpression. It is immutable.
type Condition struct {
	root  condition
	paths []Path
}

// ParseCondition parses and checks a condition. kind is the name of the request's parameter. The error is a
// *[values.Error].
func ParseCondition(kind, src string, scope *Scope) (*Condition, error) {
	p, err := newParser(kind, src, scope, conditionKeywords)
	if err != nil {
		return nil, err
	}
	c, err := p.disjunction()
	if err != nil {
		return nil, err
	}
	if c.condition == nil {
		return nil, p.unexpected()
	}
	return &Condition{root: c.condition, paths: p.paths}, p.end()
}

// Paths returns the document paths that the condition reads, in the order of the expression.
func (c *Condition) Paths() []Path { return c.paths }

// Match evaluates the condition. A comparison with an attribute that the item does not have is false, except <>, which
// is true. A nil item has no attributes.
func (c *Condition) Match(item values.Item) bool { return c.root.match(item) }

// condition is a part of an expression that is true or false for an item.
type condition interface {
	match(item values.Item) bool
}

type (
	// logical is a AND b, or a OR b.
	logical struct {
		or   bool
		a, b condition
	}
	// negation is NOT a.
	negation struct{ a condition }
	// comparison is a op b.
	comparison struct {
		op   Operator
		a, b operand
	}
	// between is a BETWEEN low AND high.
	between struct{ a, low, high operand }
	// membership is a IN (list).
	membership struct {
		a    operand
		list []operand
	}
)

func (c *logical) match(item values.Item) bool {
	if c.a.match(item) == c.or {
		return c.or
	}
	return c.b.match(item)
}

func (c *negation) match(item values.Item) bool { return !c.a.match(item) }

func (c *comparison) match(item values.Item) bool {
	a, errA := c.a.eval(item)
	b, errB := c.b.eval(item)
	if errA != nil || errB != nil {
		return c.op == NotEqual
	}
	switch c.op {
	case Equal:
		return a.Equal(b)
	case NotEqual:
		return !a.Equal(b)
	}
	order, comparable := values.Compare(a, b)
	return comparable && c.op.accepts(order)
}

func (c *between) match(item values.Item) bool {
	low, high := comparison{GreaterEqual, c.a, c.low}, comparison{LessEqual, c.a, c.high}
	return low.match(item) && high.match(item)
}

func (c *membership) match(item values.Item) bool {
	for _, o := range c.list {
		if equal := (comparison{Equal, c.a, o}); equal.match(item) {
			return true
		}
	}
	return false
}

// accepts reports whether the result of a comparison satisfies the operator.
func (op Operator) accepts(order int) bool {
	switch op {
	case Less:
		return order < 0
	case LessEqual:
		return order <= 0
	case Greater:
		return order > 0
	case GreaterEqual:
		return order >= 0
	default:
		return order == 0
	}
}

// match evaluates the functions that are conditions.
func (c *call) match(item values.Item) bool {
	a, err := c.args[0].eval(item)
	switch c.name {
	case "attribute_exists":
		return err == nil
	case "attribute_not_exists":
		return err != nil
	}
	b, errB := c.args[1].eval(item)
	if err != nil || errB != nil {
		return false
	}
	switch c.name {
	case "attribute_type":
		return a.Kind.String() == b.S
	case string(BeginsWith):
		return beginsWith(a, b)
	default:
		return a.Contains(b)
	}
}

func beginsWith(a, b values.Value) bool {
	switch {
	case a.Kind != b.Kind:
		return false
	case a.Kind == values.B:
		return bytes.HasPrefix(a.B, b.B)
	default:
		return a.Kind == values.S && strings.HasPrefix(a.S, b.S)
	}
}

// parsed is a condition, an operand, or a function, which can be both until the next token decides. One grammar for
// both avoids parsing "((((a" twice at each parenthesis.
type parsed struct {
	condition     condition
	operand       operand
	parenthesized bool
}

func (p *parser) disjunction() (parsed, error) { return p.binary("OR", p.conjunction) }
func (p *parser) conjunction() (parsed, error) { return p.binary("AND", p.negation) }

// binary parses next OP next OP next …, from left to right.
func (p *parser) binary(operator string, next func() (parsed, error)) (parsed, error) {
	left, err := next()
	if err != nil {
		return parsed{}, err
	}
	for p.is(operator) {
		if left.condition == nil {
			return parsed{}, p.unexpected()
		}
		p.take()
		p.operators++
		right, err := next()
		if err != nil {
			return parsed{}, err
		}
		if right.condition == nil {
			return parsed{}, p.unexpected()
		}
		left = parsed{condition: &logical{or: operator == "OR", a: left.condition, b: right.condition}}
	}
	return left, nil
}

func (p *parser) negation() (parsed, error) {
	if !p.skip("NOT") {
		return p.primary()
	}
	p.operators++
	inner, err := p.negation()
	if err != nil {
		return parsed{}, err
	}
	if inner.condition == nil {
		return parsed{}, p.unexpected()
	}
	return parsed{condition: &negation{inner.condition}}, nil
}

func (p *parser) primary() (parsed, error) {
	if !p.skip("(") {
		o, _, err := p.operand(inCondition)
		if err != nil {
			return parsed{}, err
		}
		return p.comparisonOf(o, false)
	}
	inner, err := p.disjunction()
	if err != nil {
		return parsed{}, err
	}
	if err := p.expect(")"); err != nil {
		return parsed{}, err
	}
	if inner.parenthesized {
		return parsed{}, p.redundantParentheses()
	}
	if inner.operand != nil {
		return p.comparisonOf(inner.operand, true)
	}
	return parsed{condition: inner.condition, parenthesized: true}, nil
}

// comparisonOf parses the rest of a comparison whose first operand is a. Without a comparison, a function can be a
// condition, and other operands are only valid in parentheses.
func (p *parser) comparisonOf(a operand, parenthesized bool) (parsed, error) {
	function, isCall := a.(*call)
	isCondition := isCall && functions[function.name].place == asCondition
	var parse func(operand) (condition, error)
	switch next := p.tokens[0]; {
	case next.kind != symbol:
	case next.text == "IN":
		parse = p.membership
	case next.text == "BETWEEN":
		parse = p.between
	case strings.IndexByte("<>=", next.text[0]) >= 0:
		parse = p.comparison
	}
	if parse == nil {
		result := parsed{operand: a, parenthesized: parenthesized}
		switch {
		case isCondition:
			result.condition = function
		case isCall && !p.is(")"):
			return parsed{}, p.misused(function.name)
		}
		return result, nil
	}
	if isCondition {
		return parsed{}, p.misused(function.name)
	}
	p.operators++
	c, err := parse(a)
	return parsed{condition: c}, err
}

func (p *parser) comparison(a operand) (condition, error) {
	op := Operator(p.take())
	b, _, err := p.operand(asOperand)
	if err != nil {
		return nil, err
	}
	if err := p.distinct(string(op), a, b); err != nil {
		return nil, err
	}
	if op != Equal && op != NotEqual {
		err = p.types(string(op), values.Kind.IsKey, a, b)
	}
	return &comparison{op: op, a: a, b: b}, err
}

func (p *parser) between(a operand) (condition, error) {
	p.take()
	low, _, err := p.operand(asOperand)
	if err != nil {
		return nil, err
	}
	if err := p.expect("AND"); err != nil {
		return nil, err
	}
	high, _, err := p.operand(asOperand)
	if err != nil {
		return nil, err
	}
	if err := p.distinct("BETWEEN", a, low, high); err != nil {
		return nil, err
	}
	if err := p.types("BETWEEN", values.Kind.IsKey, a, low, high); err != nil {
		return nil, err
	}
	first, isValue := low.(literal)
	if last, both := high.(literal); isValue && both {
		switch order, comparable := values.Compare(first.value, last.value); {
		case !comparable:
			return nil, p.errorf("The BETWEEN operator requires same data type for lower and upper bounds")
		case order > 0:
			return nil, p.errorf("The BETWEEN operator requires upper bound to be greater than or equal to lower bound")
		}
	}
	return &between{a: a, low: low, high: high}, nil
}

func (p *parser) membership(a operand) (condition, error) {
	p.take()
	list, err := p.list(asOperand)
	switch {
	case err != nil:
		return nil, err
	case len(list) > maxInOperands:
		return nil, p.errorf("The IN operator is provided with too many operands; number of operands: %d", len(list))
	}
	return &membership{a: a, list: list}, p.distinct("IN", a, list...)
}
