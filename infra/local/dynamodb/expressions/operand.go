package expressions

import (
	"slices"

	"devplatform/infra/local/dynamodb/values"
)

// operand is a part of an expression that has a value: a [Path], a literal, a call or a sum.
type operand interface {
	// eval returns the operand's value for an item. The error is errMissing if the item does not have the attribute.
	eval(item values.Item) (values.Value, error)
}

// Errors of evaluation.
var (
	errOperandType = errorf("An operand in the update expression has an incorrect data type")
	errMissing     = errorf("The provided expression refers to an attribute that does not exist in the item")
	errPath        = errorf("The document path provided in the update expression is invalid for update")
)

// literal is the value of a :placeholder.
type literal struct{ value values.Value }

func (l literal) eval(values.Item) (values.Value, error) { return l.value, nil }

// sum is a + b, or a - b.
type sum struct {
	operator string
	a, b     operand
}

func (s *sum) eval(item values.Item) (values.Value, error) {
	a, err := s.a.eval(item)
	if err != nil {
		return a, err
	}
	b, err := s.b.eval(item)
	if err != nil {
		return b, err
	}
	if a.Kind != values.N || b.Kind != values.N {
		return a, errOperandType
	}
	if s.operator == "-" {
		b.N = b.N.Neg()
	}
	result, err := a.N.Add(b.N)
	return values.FromNumber(result), err
}

type call struct {
	name string
	args []operand
}

// place is a place of an expression where a function can be used.
type place uint8

const (
	inCondition place = iota // a condition, or an operand of one
	asCondition              // a condition
	asOperand                // an operand of a condition
	asValue                  // an operand in an update
	asSetValue               // the whole value of a SET
)

type function struct {
	place    place
	operands int
	wantPath bool // the first operand must be a document path
	accepts  func(values.Kind) bool
}

var functions = map[string]function{
	"attribute_exists":     {place: asCondition, operands: 1, wantPath: true},
	"attribute_not_exists": {place: asCondition, operands: 1, wantPath: true},
	"attribute_type":       {place: asCondition, operands: 2},
	"begins_with":          {place: asCondition, operands: 2, accepts: isText},
	"contains":             {place: asCondition, operands: 2},
	"size":                 {place: asOperand, operands: 1, accepts: hasLength},
	"if_not_exists":        {place: asValue, operands: 2, wantPath: true},
	"list_append":          {place: asSetValue, operands: 2, accepts: isList},
}

func isText(k values.Kind) bool    { return k == values.S || k == values.B }
func isList(k values.Kind) bool    { return k == values.L }
func isNumber(k values.Kind) bool  { return k == values.N }
func hasLength(k values.Kind) bool { return k != values.N && k != values.BOOL && k != values.NULL }

// allowedAt reports whether a function can be used in a place.
func (f function) allowedAt(at place) bool {
	switch at {
	case inCondition:
		return f.place == asCondition || f.place == asOperand
	case asSetValue:
		return f.place == asValue || f.place == asSetValue
	}
	return f.place == at
}

// kindOf returns the type of an operand, or KindInvalid if it depends on the item.
func kindOf(o operand) values.Kind {
	switch o := o.(type) {
	case literal:
		return o.value.Kind
	case *call:
		if o.name == "size" {
			return values.N
		}
	}
	return values.KindInvalid
}

func (p *parser) call(at place) *call {
	p.operators++
	c := &call{name: p.take()}
	f, ok := functions[c.name]
	if !ok {
		p.fail("Invalid function name; function: %s", c.name)
	}
	if !f.allowedAt(at) {
		p.failMisused(c.name)
	}
	inside := asOperand
	if at >= asValue {
		inside = asValue
	}
	c.args = p.list(inside)
	p.checkCall(c, f)
	return c
}

func (p *parser) failMisused(function string) {
	p.fail("The function is not allowed to be used this way in an expression; function: %s", function)
}

func (p *parser) checkCall(c *call, f function) {
	_, isPath := c.args[0].(Path)
	switch {
	case len(c.args) != f.operands:
		p.fail("Incorrect number of operands for operator or function; "+
			"operator or function: %s, number of operands: %d", c.name, len(c.args))
	case f.wantPath && !isPath:
		p.fail("Operator or function requires a document path; operator or function: %s", c.name)
	case f.accepts != nil:
		p.checkTypes(c.name, f.accepts, c.args...)
	case c.name == "attribute_type":
		if name, ok := c.args[1].(literal); !ok || !isKindName(name.value) {
			p.fail("The second operand of attribute_type must be a value with the name of a type")
		}
	}
	if f.place == asCondition {
		p.checkDistinct(c.name, c.args[0], c.args[1:]...)
	}
}

func isKindName(v values.Value) bool {
	_, ok := values.ParseKind(v.S)
	return v.Kind == values.S && ok
}

// eval evaluates the functions that are operands.
func (c *call) eval(item values.Item) (values.Value, error) {
	first, err := c.args[0].eval(item)
	switch c.name {
	case "size":
		length, ok := first.Len()
		if err != nil || !ok {
			return values.Value{}, errMissing
		}
		return values.FromInt(int64(length)), nil
	case "if_not_exists":
		if err != nil {
			return c.args[1].eval(item)
		}
		return first, nil
	default: // list_append
		second, errSecond := c.args[1].eval(item)
		switch {
		case err == nil && first.Kind != values.L, errSecond == nil && second.Kind != values.L:
			return values.Value{}, errOperandType
		case err != nil:
			return values.Value{}, err
		case errSecond != nil:
			return values.Value{}, errSecond
		}
		return values.FromList(slices.Concat(first.L, second.L)), nil
	}
}
