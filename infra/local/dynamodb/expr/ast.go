package expr

import "devplatform/infra/local/dynamodb/attr"

// operand is what has a value: a path, a placeholder or a function.
type operand interface{ isOperand() }

// pathOperand is a document path. The parser fills raw, resolving fills path.
type pathOperand struct {
	raw  []rawStep
	path Path
}

// rawStep is a step as written: a name, a #placeholder or an index.
type rawStep struct {
	text string
	kind tokenKind
}

// valueOperand is a :placeholder. Resolving fills value.
type valueOperand struct {
	name  string
	value attr.Value
}

// callOperand is a function with its arguments; as a condition, too.
type callOperand struct {
	name string
	args []operand
}

func (*pathOperand) isOperand()  {}
func (*valueOperand) isOperand() {}
func (*callOperand) isOperand()  {}

// condition is what is true or false of an item.
type condition interface{ isCondition() }

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

func (*logical) isCondition()     {}
func (*negation) isCondition()    {}
func (*comparison) isCondition()  {}
func (*between) isCondition()     {}
func (*membership) isCondition()  {}
func (*callOperand) isCondition() {}

// Operator is an operator or a function that compares, as it is written.
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

var comparators = map[tokenKind]Operator{
	'=': Equal, '<': Less, '>': Greater,
	tokenNotEqual: NotEqual, tokenLessEqual: LessEqual, tokenGreaterEqual: GreaterEqual,
}

// section is one of the four parts of an update expression.
type section string

const (
	sectionSet    section = "SET"
	sectionRemove section = "REMOVE"
	sectionAdd    section = "ADD"
	sectionDelete section = "DELETE"
)

// action is one change of an update. For SET a is the value, or a and b are
// the two sides of the arithmetic operator; for ADD and DELETE a is the value.
type action struct {
	section    section
	target     *pathOperand
	arithmetic byte // '+', '-' or 0
	a, b       operand
}

// leaves calls visit for every condition in c that is not made of conditions,
// in the order written, until one returns an error.
func leaves(c condition, visit func(condition) error) error {
	switch c := c.(type) {
	case *logical:
		if err := leaves(c.a, visit); err != nil {
			return err
		}
		return leaves(c.b, visit)
	case *negation:
		return leaves(c.a, visit)
	default:
		return visit(c)
	}
}

// operands are the operands of a condition that is not made of conditions; a
// function counts as its own operand.
func operands(c condition) []operand {
	switch c := c.(type) {
	case *comparison:
		return []operand{c.a, c.b}
	case *between:
		return []operand{c.a, c.low, c.high}
	case *membership:
		return append([]operand{c.a}, c.list...)
	case *callOperand:
		return []operand{c}
	default:
		return nil
	}
}

// walk calls visit for o and then for everything inside it, in the order
// written, until one call returns an error.
func walk(o operand, visit func(operand) error) error {
	if err := visit(o); err != nil {
		return err
	}
	if call, ok := o.(*callOperand); ok {
		for _, arg := range call.args {
			if err := walk(arg, visit); err != nil {
				return err
			}
		}
	}
	return nil
}

// walkUp is walk with what is inside first.
func walkUp(o operand, visit func(operand) error) error {
	if call, ok := o.(*callOperand); ok {
		for _, arg := range call.args {
			if err := walkUp(arg, visit); err != nil {
				return err
			}
		}
	}
	return visit(o)
}
