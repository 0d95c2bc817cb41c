package expressions

import (
	"strings"

	"devplatform/infra/local/dynamodb/values"
)

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

// Condition is a ConditionExpression or a FilterExpression. It is immutable. A nil Condition is always true.
type Condition struct {
	root  condition
	paths []Path
}

// ParseCondition parses and checks a condition. kind is the name of the request's parameter. The error is a
// *[values.Error].
func ParseCondition(kind, src string, scope *Scope) (*Condition, error) {
	c := &Condition{}
	err := parse(kind, src, scope, conditionKeywords, func(p *parser) {
		c.root = p.disjunction().mustBeCondition(p)
		c.paths = p.paths()
	})
	return c, err
}

// Paths returns the document paths that the condition reads, in the order of the expression.
func (c *Condition) Paths() []Path {
	if c == nil {
		return nil
	}
	return c.paths
}

// Match evaluates the condition. A comparison with an attribute that the item does not have is false, except <>, which
// is true. A nil item has no attributes.
func (c *Condition) Match(item values.Item) bool { return c == nil || c.root.match(item) }

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
	return a.Kind == b.Kind && isText(a.Kind) && strings.HasPrefix(a.S, b.S)
}

// parsed is a condition, an operand, or a function, which can be both until the next token decides. One grammar for
// both avoids parsing "((((a" twice at each parenthesis.
type parsed struct {
	condition     condition
	operand       operand
	parenthesized bool
}

// mustBeCondition returns the condition. It fails if the parsed part is only an operand.
func (c parsed) mustBeCondition(p *parser) condition {
	if c.condition == nil {
		p.failUnexpected()
	}
	return c.condition
}

func (p *parser) disjunction() parsed { return p.binary("OR", p.conjunction) }
func (p *parser) conjunction() parsed { return p.binary("AND", p.negation) }

// binary parses next OP next OP next …, from left to right.
func (p *parser) binary(operator string, next func() parsed) parsed {
	left := next()
	for p.is(operator) {
		c := &logical{or: operator == "OR", a: left.mustBeCondition(p)}
		p.take()
		p.operators++
		c.b = next().mustBeCondition(p)
		left = parsed{condition: c}
	}
	return left
}

func (p *parser) negation() parsed {
	if !p.skip("NOT") {
		return p.primary()
	}
	p.operators++
	return parsed{condition: &negation{p.negation().mustBeCondition(p)}}
}

func (p *parser) primary() parsed {
	if !p.skip("(") {
		o, _ := p.operand(inCondition)
		return p.comparisonOf(o, false)
	}
	inner := p.disjunction()
	p.closeParenthesis(inner.parenthesized)
	if inner.operand != nil {
		return p.comparisonOf(inner.operand, true)
	}
	return parsed{condition: inner.condition, parenthesized: true}
}

// comparisonOf parses the rest of a comparison whose first operand is a. Without a comparison, a function can be a
// condition, and other operands are only valid in parentheses.
func (p *parser) comparisonOf(a operand, parenthesized bool) parsed {
	function, isCall := a.(*call)
	isCondition := isCall && functions[function.name].place == asCondition
	var parse func(operand) condition
	switch next := p.tokens[0]; {
	case next.kind != symbol:
	case next.text == "IN":
		parse = p.membership
	case next.text == "BETWEEN":
		parse = p.between
	case strings.IndexByte("<>=", next.text[0]) >= 0:
		parse = p.comparison
	}
	switch {
	case isCondition && parse != nil, isCall && !isCondition && parse == nil && !p.is(")"):
		p.failMisused(function.name)
	case parse != nil:
		p.operators++
		return parsed{condition: parse(a)}
	case isCondition:
		return parsed{condition: function, operand: a, parenthesized: parenthesized}
	}
	return parsed{operand: a, parenthesized: parenthesized}
}

func (p *parser) comparison(a operand) condition {
	op := Operator(p.take())
	b, _ := p.operand(asOperand)
	p.checkDistinct(string(op), a, b)
	if op != Equal && op != NotEqual {
		p.checkTypes(string(op), values.Kind.IsKey, a, b)
	}
	return &comparison{op: op, a: a, b: b}
}

func (p *parser) between(a operand) condition {
	p.take()
	low, _ := p.operand(asOperand)
	p.expect("AND")
	high, _ := p.operand(asOperand)
	p.checkDistinct("BETWEEN", a, low, high)
	p.checkTypes("BETWEEN", values.Kind.IsKey, a, low, high)
	first, isValue := low.(literal)
	if last, both := high.(literal); isValue && both {
		switch order, comparable := values.Compare(first.value, last.value); {
		case !comparable:
			p.fail("The BETWEEN operator requires same data type for lower and upper bounds")
		case order > 0:
			p.fail("The BETWEEN operator requires upper bound to be greater than or equal to lower bound")
		}
	}
	return &between{a: a, low: low, high: high}
}

func (p *parser) membership(a operand) condition {
	p.take()
	list := p.list(asOperand)
	if len(list) > maxInOperands {
		p.fail("The IN operator is provided with too many operands; number of operands: %d", len(list))
	}
	p.checkDistinct("IN", a, list...)
	return &membership{a: a, list: list}
}
