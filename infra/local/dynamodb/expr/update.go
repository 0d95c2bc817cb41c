package expr

import (
	"devplatform/infra/local/dynamodb/attr"
)

const updateKind = "UpdateExpression"

// Update is an UpdateExpression. It is immutable.
type Update struct {
	actions []*action
	targets []Path
	reads   []Path
}

// ParseUpdate parses and checks an update. The error is an *Error.
func ParseUpdate(src string, scope *Scope) (*Update, error) {
	p, err := newParser(updateKind, src, updateKeywords)
	if err != nil {
		return nil, err
	}
	actions, repeated, err := p.update()
	if err != nil {
		return nil, err
	}
	check := checker{updateKind, scope}
	if err := check.update(actions, repeated); err != nil {
		return nil, err
	}
	u := &Update{actions: actions, targets: make([]Path, len(actions))}
	for i, a := range actions {
		u.targets[i] = a.target.path
		for _, o := range a.values() {
			u.reads = appendPaths(u.reads, o)
		}
	}
	return u, nil
}

// Paths are the document paths that the update changes, in the order written.
func (u *Update) Paths() []Path { return u.targets }

// Reads are the document paths whose values the update uses, in the order
// written.
func (u *Update) Reads() []Path { return u.reads }

// values are the operands on the right-hand side.
func (a *action) values() []operand {
	switch {
	case a.a == nil:
		return nil
	case a.b == nil:
		return []operand{a.a}
	default:
		return []operand{a.a, a.b}
	}
}

// update checks all actions, kind of mistake by kind of mistake, as AWS does.
func (c checker) update(actions []*action, repeated section) error {
	passes := []func(*action) error{c.actionWords, c.actionNames, c.actionValues}
	for i, pass := range passes {
		for _, a := range actions {
			if err := pass(a); err != nil {
				return err
			}
		}
		if i == 0 && repeated != "" {
			return c.errorf("The \"%s\" section can only be used once in an update expression;", repeated)
		}
	}
	targets := make([]Path, len(actions))
	for i, a := range actions {
		targets[i] = a.target.path
	}
	if err := checkOverlaps(c.kind, targets); err != nil {
		return err
	}
	for _, pass := range []func(*action) error{c.setOperand, c.actionFunctions} {
		for _, a := range actions {
			if err := pass(a); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c checker) actionWords(a *action) error {
	if err := c.pathWords(a.target); err != nil {
		return err
	}
	at := asSetValue
	if a.arithmetic != 0 {
		at = asValue
	}
	return each(a.values(), func(o operand) error { return c.words(o, at) })
}

func (c checker) actionNames(a *action) error {
	if err := c.names(a.target); err != nil {
		return err
	}
	return each(a.values(), func(o operand) error { return walk(o, c.names) })
}

func (c checker) actionValues(a *action) error {
	return each(a.values(), func(o operand) error { return walk(o, c.values) })
}

// longNames are the types' names in the error texts of ADD and DELETE.
var longNames = map[attr.Kind]string{
	attr.S: "STRING", attr.N: "NUMBER", attr.B: "BINARY", attr.BOOL: "BOOLEAN",
	attr.NULL: "NULL", attr.M: "MAP", attr.L: "LIST",
}

// setOperand checks the value of ADD and DELETE.
func (c checker) setOperand(a *action) error {
	if a.section != sectionAdd && a.section != sectionDelete {
		return nil
	}
	kind := staticKind(a.a)
	if kind.IsSet() || kind == attr.N && a.section == sectionAdd {
		return nil
	}
	return c.errorf("Incorrect operand type for operator or function; operator: %s, operand type: %s, typeSet: ALLOWED_FOR_%s_OPERAND",
		a.section, longNames[kind], a.section)
}

func (c checker) actionFunctions(a *action) error {
	for _, o := range a.values() {
		if err := walkUp(o, c.operandCount); err != nil {
			return err
		}
		if err := walkUp(o, c.functionTypes); err != nil {
			return err
		}
	}
	if a.arithmetic != 0 {
		return c.types(string(a.arithmetic), isNumber, a.a, a.b)
	}
	return nil
}
