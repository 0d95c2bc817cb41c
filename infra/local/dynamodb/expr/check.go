package expr

import (
	"strconv"

	"devplatform/infra/local/dynamodb/attr"
)

// maxListIndex is the largest index a path may name.
const maxListIndex = 1<<31 - 1

// maxInOperands is how many values IN takes.
const maxInOperands = 100

// place is where a function may stand.
type place uint8

const (
	asCondition place = iota // a condition by itself
	asOperand                // an operand in a condition
	asValue                  // an operand in an update
	asSetValue               // the whole value of a SET
)

type function struct {
	place    place
	operands int
	wantPath bool // the first operand must be a document path
	accepts  func(attr.Kind) bool
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

func isText(k attr.Kind) bool    { return k == attr.S || k == attr.B }
func isList(k attr.Kind) bool    { return k == attr.L }
func isNumber(k attr.Kind) bool  { return k == attr.N }
func hasLength(k attr.Kind) bool { return k != attr.N && k != attr.BOOL && k != attr.NULL }

// checker holds what all checks of one expression need. Its methods return
// AWS's error or nil.
type checker struct {
	kind  string
	scope *Scope
}

func (c checker) errorf(format string, args ...any) error {
	return errorf("Invalid "+c.kind+": "+format, args...)
}

// words checks what an operand and everything inside it is called: reserved
// words, list indexes, and functions with the place they stand at.
func (c checker) words(o operand, at place) error {
	switch o := o.(type) {
	case *pathOperand:
		return c.pathWords(o)
	case *callOperand:
		if err := c.functionPlace(o.name, at); err != nil {
			return err
		}
		for _, arg := range o.args {
			if err := c.words(arg, inside(at)); err != nil {
				return err
			}
		}
	}
	return nil
}

// inside is the place that the arguments of a function stand at.
func inside(at place) place {
	if at == asCondition || at == asOperand {
		return asOperand
	}
	return asValue
}

func (c checker) functionPlace(name string, at place) error {
	f, ok := functions[name]
	inUpdate, forUpdate := at >= asValue, f.place >= asValue
	switch {
	case !ok:
		return c.errorf("Invalid function name; function: %s", name)
	case inUpdate && !forUpdate:
		return c.errorf("The function is not allowed in an update expression; function: %s", name)
	case !inUpdate && forUpdate:
		return c.errorf("The function is not allowed in a condition expression; function: %s", name)
	case f.place == at || f.place == asValue:
		return nil
	default:
		return c.errorf("The function is not allowed to be used this way in an expression; function: %s", name)
	}
}

func (c checker) pathWords(p *pathOperand) error {
	for _, step := range p.raw {
		switch {
		case step.kind == tokenIdentifier && isReserved(step.text):
			return c.errorf("Attribute name is a reserved keyword; reserved keyword: %s", step.text)
		case step.kind != tokenInteger:
		default:
			if i, err := strconv.Atoi(step.text); err != nil || i > maxListIndex {
				return c.errorf("List index is not within the allowable range; index: [%s]", step.text)
			}
		}
	}
	return nil
}

// names replaces the #placeholders of an operand that is a path.
func (c checker) names(o operand) error {
	p, ok := o.(*pathOperand)
	if !ok {
		return nil
	}
	p.path = make(Path, len(p.raw))
	for i, step := range p.raw {
		switch step.kind {
		case tokenInteger:
			index, _ := strconv.Atoi(step.text) // checked by pathWords
			p.path[i] = Step{Index: index, IsIndex: true}
		case tokenName:
			name, ok := c.scope.name(step.text)
			if !ok {
				return c.errorf("An expression attribute name used in the document path is not defined; attribute name: %s", step.text)
			}
			p.path[i] = Step{Name: name}
		default:
			p.path[i] = Step{Name: step.text}
		}
	}
	if len(p.path) > maxPathSteps {
		return c.errorf("The document path has too many nesting levels; nesting levels: %d", len(p.path))
	}
	return nil
}

// values replaces an operand that is a :placeholder.
func (c checker) values(o operand) error {
	v, ok := o.(*valueOperand)
	if !ok {
		return nil
	}
	if v.value, ok = c.scope.value(v.name); !ok {
		return c.errorf("An expression attribute value used in expression is not defined; attribute value: %s", v.name)
	}
	return nil
}

// placeholders is names and values in one go.
func (c checker) placeholders(o operand) error {
	if err := c.names(o); err != nil {
		return err
	}
	return c.values(o)
}

// operandCount checks how many operands a function has.
func (c checker) operandCount(o operand) error {
	call, ok := o.(*callOperand)
	if !ok || len(call.args) == functions[call.name].operands {
		return nil
	}
	return c.errorf("Incorrect number of operands for operator or function; operator or function: %s, number of operands: %d", call.name, len(call.args))
}

// distinct refuses a path that is compared with itself.
func (c checker) distinct(operator string, first operand, rest []operand) error {
	p, ok := first.(*pathOperand)
	if !ok {
		return nil
	}
	for _, o := range rest {
		if q, ok := o.(*pathOperand); ok && p.path.equal(q.path) {
			return c.errorf("The first operand must be distinct from the remaining operands for this operator or function; operator: %s, first operand: %s", operator, p.path)
		}
	}
	return nil
}

// types refuses operands whose type is known before there is an item, and is
// not one that the operator accepts.
func (c checker) types(operator string, accepts func(attr.Kind) bool, operands ...operand) error {
	for _, o := range operands {
		if kind := staticKind(o); kind != attr.KindInvalid && !accepts(kind) {
			return c.operandType(operator, kind.String())
		}
	}
	return nil
}

func (c checker) operandType(operator, kind string) error {
	return c.errorf("Incorrect operand type for operator or function; operator or function: %s, operand type: %s", operator, kind)
}

// staticKind is the type of an operand, KindInvalid if only an item tells.
func staticKind(o operand) attr.Kind {
	switch o := o.(type) {
	case *valueOperand:
		return o.value.Kind
	case *callOperand:
		if o.name == "size" {
			return attr.N
		}
	}
	return attr.KindInvalid
}

// functionTypes checks the operands of a function.
func (c checker) functionTypes(o operand) error {
	call, ok := o.(*callOperand)
	if !ok {
		return nil
	}
	f := functions[call.name]
	if _, isPath := call.args[0].(*pathOperand); f.wantPath && !isPath {
		return c.errorf("Operator or function requires a document path; operator or function: %s", call.name)
	}
	if f.accepts != nil {
		return c.types(call.name, f.accepts, call.args...)
	}
	if call.name == "attribute_type" {
		return c.typeName(call.args[1])
	}
	return nil
}

// typeName checks the second operand of attribute_type, which must be a
// :placeholder for the name of a type.
func (c checker) typeName(o operand) error {
	value, ok := o.(*valueOperand)
	switch kind := staticKind(o); {
	case !ok && kind == attr.KindInvalid:
		return c.operandType("attribute_type", "{NS,SS,L,BS,N,M,B,BOOL,NULL,S}")
	case kind != attr.S:
		return c.operandType("attribute_type", kind.String())
	}
	if _, ok := attr.ParseKind(value.value.S); !ok {
		return c.errorf("Invalid attribute type name found; type: %s, valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}", value.value.S)
	}
	return nil
}
