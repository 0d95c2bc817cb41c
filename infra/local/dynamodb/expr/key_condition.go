package expr

import "devplatform/infra/local/dynamodb/attr"

// KeyCondition is a KeyConditionExpression. It is immutable.
type KeyCondition struct{ root condition }

// KeyTerm is what a key condition says about one attribute: Name Op A, or Name
// BETWEEN A AND B. The attribute is always on the left: 5 < a became a > 5.
type KeyTerm struct {
	Name string
	Op   Operator
	A, B attr.Value
}

// ParseKeyCondition parses and checks a key condition as far as that goes
// without a table. The error is an *Error.
func ParseKeyCondition(src string, scope *Scope) (*KeyCondition, error) {
	root, err := parseCondition("KeyConditionExpression", src, scope)
	if err != nil {
		return nil, err
	}
	return &KeyCondition{root}, nil
}

// terms takes the condition apart: one term for each attribute, in the order
// written. The error is an *Error.
func (k *KeyCondition) terms() ([]KeyTerm, error) {
	var terms []KeyTerm
	if err := keyTerms(k.root, &terms); err != nil {
		return nil, err
	}
	return terms, nil
}

// Resolve finds the value of the partition key and, if there is one, the
// condition on the sort key, whose name is "" where the table or index has
// none. The types of the values are not checked. The error is an *Error.
func (k *KeyCondition) Resolve(hash, sort string) (attr.Value, *KeyTerm, error) {
	terms, err := k.terms()
	if err != nil {
		return attr.Value{}, nil, err
	}
	attributes := 1
	if sort != "" {
		attributes = 2
	}
	if len(terms) > attributes {
		return attr.Value{}, nil, errorf("The number of query conditions (%d) exceeds the number of key attributes defined in the schema (%d)", len(terms), attributes)
	}
	var partition, rest *KeyTerm
	for i := range terms {
		if terms[i].Name == hash {
			partition = &terms[i]
		} else {
			rest = &terms[i]
		}
	}
	switch {
	case partition == nil:
		return attr.Value{}, nil, errorf("Query condition missed key schema element: %s", hash)
	case partition.Op != Equal:
		return attr.Value{}, nil, errorf("Query key condition not supported")
	case rest != nil && rest.Name != sort:
		return attr.Value{}, nil, errorf("Query condition missed key schema element: %s", sort)
	default:
		return partition.A, rest, nil
	}
}

// Match says whether a value meets the term; it serves as a reference for
// ranges of encoded keys.
func (t KeyTerm) Match(v attr.Value) bool {
	switch t.Op {
	case BeginsWith:
		return beginsWith(v, t.A)
	case Between:
		low, ok1 := attr.Compare(v, t.A)
		high, ok2 := attr.Compare(v, t.B)
		return ok1 && ok2 && low >= 0 && high <= 0
	default:
		order, comparable := attr.Compare(v, t.A)
		return comparable && t.Op.accepts(order)
	}
}

const (
	keyOperator = "Invalid operator used in KeyConditionExpression: %s"
	keyOperand  = "Invalid condition in KeyConditionExpression: "
)

// mirrored are the operators that say the same with their operands swapped.
var mirrored = map[Operator]Operator{
	Equal: Equal, Less: Greater, LessEqual: GreaterEqual, Greater: Less, GreaterEqual: LessEqual,
}

func keyTerms(c condition, terms *[]KeyTerm) error {
	switch c := c.(type) {
	case *logical:
		if c.or {
			return errorf(keyOperator, "OR")
		}
		if err := keyTerms(c.a, terms); err != nil {
			return err
		}
		return keyTerms(c.b, terms)
	case *negation:
		return errorf(keyOperator, "NOT")
	case *membership:
		return errorf(keyOperator, "IN")
	case *comparison:
		if c.op == NotEqual {
			return errorf(keyOperator, c.op)
		}
		return addTerm(terms, c.op, c.a, c.b)
	case *between:
		return addTerm(terms, Between, c.a, c.low, c.high)
	case *callOperand:
		if c.name != string(BeginsWith) {
			return errorf(keyOperator, c.name)
		}
		return addTerm(terms, BeginsWith, c.args...)
	default:
		return errorf(keyOperand + "No key attribute specified")
	}
}

func addTerm(terms *[]KeyTerm, op Operator, operands ...operand) error {
	path, values, first, err := keyOperands(op, operands)
	if err != nil {
		return err
	}
	if !first {
		op = mirrored[op]
	}
	for _, t := range *terms {
		if t.Name == path.Root() {
			return errorf("Invalid KeyConditionExpression: KeyConditionExpressions must only contain one condition per key")
		}
	}
	term := KeyTerm{Name: path.Root(), Op: op, A: values[0]}
	if len(values) > 1 {
		term.B = values[1]
	}
	*terms = append(*terms, term)
	return nil
}

// keyOperands parts the one attribute from the values, and says whether the
// attribute comes first.
func keyOperands(op Operator, operands []operand) (path Path, values []attr.Value, first bool, err error) {
	if _, ok := operands[0].(*valueOperand); ok && (op == Between || op == BeginsWith) {
		return nil, nil, false, errorf(keyOperand+"%s operator must have the key attribute as its first operand", op)
	}
	for i, o := range operands {
		switch o := o.(type) {
		case *callOperand:
			return nil, nil, false, errorf("KeyConditionExpressions cannot contain nested operations")
		case *valueOperand:
			values = append(values, o.value)
		case *pathOperand:
			switch {
			case path != nil:
				return nil, nil, false, errorf(keyOperand + "Multiple attribute names used in one condition")
			case o.path.IsNested():
				return nil, nil, false, errorf("KeyConditionExpressions cannot have conditions on nested attributes")
			}
			path, first = o.path, i == 0
		}
	}
	if path == nil {
		return nil, nil, false, errorf(keyOperand + "No key attribute specified")
	}
	return path, values, first, nil
}
