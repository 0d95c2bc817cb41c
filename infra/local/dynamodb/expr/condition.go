package expr

import (
	"bytes"
	"strings"

	"devplatform/infra/local/dynamodb/attr"
)

// Condition is a ConditionExpression or a FilterExpression. It is immutable.
type Condition struct {
	root  condition
	paths []Path
}

// ParseCondition parses and checks a condition; kind is the name of the
// request's parameter, for AWS's error texts. The error is an *Error.
func ParseCondition(kind, src string, scope *Scope) (*Condition, error) {
	root, err := parseCondition(kind, src, scope)
	if err != nil {
		return nil, err
	}
	c := &Condition{root: root}
	_ = leaves(root, func(leaf condition) error {
		for _, o := range operands(leaf) {
			c.paths = appendPaths(c.paths, o)
		}
		return nil
	})
	return c, nil
}

func parseCondition(kind, src string, scope *Scope) (condition, error) {
	p, err := newParser(kind, src, conditionKeywords)
	if err != nil {
		return nil, err
	}
	root, err := p.condition()
	if err != nil {
		return nil, err
	}
	return root, checker{kind, scope}.conditions(root)
}

func appendPaths(paths []Path, o operand) []Path {
	_ = walk(o, func(o operand) error {
		if p, ok := o.(*pathOperand); ok {
			paths = append(paths, p.path)
		}
		return nil
	})
	return paths
}

// Paths are the document paths that the condition reads, in the order written.
func (c *Condition) Paths() []Path { return c.paths }

// Match evaluates the condition. An attribute that the item lacks compares as
// false with everything; only <> is then true. A nil item has no attributes.
func (c *Condition) Match(item attr.Item) bool { return matches(c.root, item) }

func matches(c condition, item attr.Item) bool {
	switch c := c.(type) {
	case *logical:
		if matches(c.a, item) == c.or {
			return c.or
		}
		return matches(c.b, item)
	case *negation:
		return !matches(c.a, item)
	case *comparison:
		return compare(c.op, c.a, c.b, item)
	case *between:
		return compare(GreaterEqual, c.a, c.low, item) && compare(LessEqual, c.a, c.high, item)
	case *membership:
		for _, o := range c.list {
			if compare(Equal, c.a, o, item) {
				return true
			}
		}
		return false
	case *callOperand:
		return holds(c, item)
	default:
		return false
	}
}

func compare(op Operator, x, y operand, item attr.Item) bool {
	a, ok1 := evaluate(x, item)
	b, ok2 := evaluate(y, item)
	if !ok1 || !ok2 {
		return op == NotEqual
	}
	switch op {
	case Equal:
		return a.Equal(b)
	case NotEqual:
		return !a.Equal(b)
	}
	order, comparable := attr.Compare(a, b)
	return comparable && op.accepts(order)
}

// accepts says whether an operator of order takes the result of a comparison.
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

// holds evaluates a function that is a condition.
func holds(call *callOperand, item attr.Item) bool {
	a, exists := evaluate(call.args[0], item)
	switch call.name {
	case "attribute_exists":
		return exists
	case "attribute_not_exists":
		return !exists
	}
	b, ok := evaluate(call.args[1], item)
	if !exists || !ok {
		return false
	}
	switch call.name {
	case "attribute_type":
		return a.Kind.String() == b.S
	case "begins_with":
		return beginsWith(a, b)
	default:
		return a.Contains(b)
	}
}

func beginsWith(a, b attr.Value) bool {
	switch {
	case a.Kind != b.Kind:
		return false
	case a.Kind == attr.B:
		return bytes.HasPrefix(a.B, b.B)
	default:
		return a.Kind == attr.S && strings.HasPrefix(a.S, b.S)
	}
}

// evaluate gives the value of an operand, false if it has none. Functions that
// are not operands of conditions have none; the parser lets none through.
func evaluate(o operand, item attr.Item) (attr.Value, bool) {
	switch o := o.(type) {
	case *valueOperand:
		return o.value, true
	case *pathOperand:
		return o.path.Get(item)
	case *callOperand:
		v, ok := evaluate(o.args[0], item)
		if !ok {
			return attr.Value{}, false
		}
		length, ok := v.Len()
		return attr.FromInt(int64(length)), ok
	default:
		return attr.Value{}, false
	}
}
