package expressions

import "devplatform/infra/local/dynamodb/values"

// KeyCondition is a KeyConditionExpression. It is immutable.
type KeyCondition struct{ terms []KeyTerm }

// KeyTerm is the condition of one attribute: Name Op A, or Name BETWEEN A AND B. The attribute is always on the left:
// 5 < a becomes a > 5.
type KeyTerm struct {
	Name string
	Op   Operator
	A, B values.Value
}

// ParseKeyCondition parses a key condition, and checks everything that does not depend on a table. The error is a
// *[values.Error].
func ParseKeyCondition(src string, scope *Scope) (*KeyCondition, error) {
	c, err := ParseCondition("KeyConditionExpression", src, scope)
	if err != nil {
		return nil, err
	}
	k := &KeyCondition{}
	return k, k.add(c.root)
}

// Resolve returns the value of the partition key and the condition of the sort key, which is nil if there is none. sort
// is empty if the table or index has no sort key. The error is a *[values.Error].
func (k *KeyCondition) Resolve(hash, sort string) (values.Value, *KeyTerm, error) {
	var partition, rest *KeyTerm
	for i := range k.terms {
		switch term := &k.terms[i]; {
		case term.Name == hash:
			partition = term
		case sort == "" || rest != nil:
			return values.Value{}, nil, errorf("The query has conditions on attributes that are not keys")
		default:
			rest = term
		}
	}
	switch {
	case partition == nil:
		return values.Value{}, nil, errorf("Query condition missed key schema element: %s", hash)
	case partition.Op != Equal:
		return values.Value{}, nil, errorf("Query key condition not supported")
	case rest != nil && rest.Name != sort:
		return values.Value{}, nil, errorf("Query condition missed key schema element: %s", sort)
	}
	return partition.A, rest, nil
}

// mirrored are the operators with the same meaning when their operands are swapped.
var mirrored = map[Operator]Operator{
	Equal: Equal, Less: Greater, LessEqual: GreaterEqual, Greater: Less, GreaterEqual: LessEqual,
}

// add adds the terms of a condition.
func (k *KeyCondition) add(c condition) error {
	operator := "NOT"
	switch c := c.(type) {
	case *logical:
		if c.or {
			operator = "OR"
			break
		}
		if err := k.add(c.a); err != nil {
			return err
		}
		return k.add(c.b)
	case *comparison:
		if _, ok := c.b.(Path); ok && c.op != NotEqual {
			return k.addTerm(mirrored[c.op], c.b, c.a)
		}
		if c.op != NotEqual {
			return k.addTerm(c.op, c.a, c.b)
		}
		operator = string(NotEqual)
	case *membership:
		operator = "IN"
	case *between:
		return k.addTerm(Between, c.a, c.low, c.high)
	case *call:
		if c.name == string(BeginsWith) {
			return k.addTerm(BeginsWith, c.args...)
		}
		operator = c.name
	}
	return errorf("Invalid operator used in KeyConditionExpression: %s", operator)
}

func (k *KeyCondition) addTerm(op Operator, operands ...operand) error {
	path, ok := operands[0].(Path)
	if !ok {
		return errorf("Invalid condition in KeyConditionExpression: %s must compare a key attribute", op)
	}
	if path.IsNested() {
		return errorf("KeyConditionExpressions cannot have conditions on nested attributes")
	}
	for _, t := range k.terms {
		if t.Name == path.Root() {
			return errorf("Invalid KeyConditionExpression: KeyConditionExpressions must only contain one condition per key")
		}
	}
	term := KeyTerm{Name: path.Root(), Op: op}
	for i, o := range operands[1:] {
		value, ok := o.(literal)
		if !ok {
			return errorf("Invalid condition in KeyConditionExpression: %s must compare with values", op)
		}
		*[]*values.Value{&term.A, &term.B}[i] = value.value
	}
	k.terms = append(k.terms, term)
	return nil
}
