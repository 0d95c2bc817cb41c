package expr

import (
	"encoding/base64"

	"devplatform/infra/local/dynamodb/attr"
)

// conditions checks a whole condition: first the words in it, then, condition
// by condition, placeholders, numbers of operands, repetitions and types.
func (c checker) conditions(root condition) error {
	err := leaves(root, func(leaf condition) error {
		at := asOperand
		if _, ok := leaf.(*callOperand); ok {
			at = asCondition
		}
		return each(operands(leaf), func(o operand) error { return c.words(o, at) })
	})
	if err != nil {
		return err
	}
	return leaves(root, c.leaf)
}

func each(list []operand, visit func(operand) error) error {
	for _, o := range list {
		if err := visit(o); err != nil {
			return err
		}
	}
	return nil
}

func (c checker) leaf(leaf condition) error {
	list := operands(leaf)
	passes := []func() error{
		func() error { return each(list, func(o operand) error { return walk(o, c.placeholders) }) },
		func() error { return each(list, func(o operand) error { return walkUp(o, c.operandCount) }) },
		func() error { return c.leafDistinct(leaf) },
		func() error { return each(list, func(o operand) error { return walkUp(o, c.functionTypes) }) },
		func() error { return c.leafTypes(leaf) },
	}
	for _, pass := range passes {
		if err := pass(); err != nil {
			return err
		}
	}
	return nil
}

func (c checker) leafDistinct(leaf condition) error {
	switch leaf := leaf.(type) {
	case *comparison:
		return c.distinct(string(leaf.op), leaf.a, []operand{leaf.b})
	case *between:
		return c.distinct("BETWEEN", leaf.a, []operand{leaf.low, leaf.high})
	case *membership:
		if n := len(leaf.list); n > maxInOperands {
			return c.errorf("The IN operator is provided with too many operands; number of operands: %d", n)
		}
		return c.distinct("IN", leaf.a, leaf.list)
	case *callOperand:
		return c.distinct(leaf.name, leaf.args[0], leaf.args[1:])
	default:
		return nil
	}
}

func (c checker) leafTypes(leaf condition) error {
	switch leaf := leaf.(type) {
	case *comparison:
		if leaf.op == Equal || leaf.op == NotEqual {
			return nil
		}
		return c.types(string(leaf.op), attr.Kind.IsKey, leaf.a, leaf.b)
	case *between:
		if err := c.types("BETWEEN", attr.Kind.IsKey, leaf.a, leaf.low, leaf.high); err != nil {
			return err
		}
		return c.bounds(leaf)
	default:
		return nil
	}
}

// bounds checks the limits of BETWEEN when both are given by the request.
func (c checker) bounds(b *between) error {
	low, ok1 := b.low.(*valueOperand)
	high, ok2 := b.high.(*valueOperand)
	if !ok1 || !ok2 {
		return nil
	}
	const both = "lower bound operand: AttributeValue: %s, upper bound operand: AttributeValue: %s"
	order, comparable := attr.Compare(low.value, high.value)
	switch {
	case !comparable:
		return c.errorf("The BETWEEN operator requires same data type for lower and upper bounds; "+both, show(low.value), show(high.value))
	case order > 0:
		return c.errorf("The BETWEEN operator requires upper bound to be greater than or equal to lower bound; "+both, show(low.value), show(high.value))
	default:
		return nil
	}
}

// show writes a key value as AWS does in error texts: {S:text}.
func show(v attr.Value) string {
	text := v.S
	switch v.Kind {
	case attr.N:
		text = v.N.String()
	case attr.B:
		text = base64.StdEncoding.EncodeToString(v.B)
	}
	return "{" + v.Kind.String() + ":" + text + "}"
}
