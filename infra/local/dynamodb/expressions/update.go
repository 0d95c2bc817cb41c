package expressions

import (
	"cmp"
	"errors"
	"slices"

	"devplatform/infra/local/dynamodb/values"
)

// Update is an UpdateExpression. It is immutable. A nil Update has no paths.
type Update struct {
	actions []action
	targets []Path
}

// action is one change of an update. section is SET, REMOVE, ADD or DELETE. A REMOVE has no value.
type action struct {
	section string
	target  Path
	value   operand
}

// ParseUpdate parses and checks an update. The error is a *[values.Error].
func ParseUpdate(src string, scope *Scope) (*Update, error) {
	u := &Update{}
	err := parse("UpdateExpression", src, scope, updateKeywords, func(p *parser) {
		var seen []string
		for more := true; more; more = p.tokens[0].kind != endToken {
			section := p.tokens[0].text
			switch {
			case p.tokens[0].kind != symbol || !slices.Contains(updateKeywords, section):
				p.failUnexpected()
			case slices.Contains(seen, section):
				p.fail("The %q section can only be used once in an update expression;", section)
			}
			seen = append(seen, p.take())
			for more := true; more; more = p.skip(",") {
				a := p.action(section)
				u.actions = append(u.actions, a)
				u.targets = append(u.targets, a.target)
			}
		}
		p.checkOverlaps(u.targets)
	})
	return u, err
}

func (p *parser) action(section string) action {
	a := action{section: section, target: p.path()}
	switch section {
	case "SET":
		p.expect("=")
		a.value, _ = p.setValue()
	case "ADD", "DELETE":
		v := p.value()
		a.value = v
		if kind := v.value.Kind; !kind.IsSet() && (section == "DELETE" || kind != values.N) {
			p.fail("Incorrect operand type for operator or function; operator: %s, operand type: %s", section, kind)
		}
	}
	return a
}

// setValue parses operand, operand + operand, operand - operand, or one of them in parentheses. It reports whether
// there were parentheses.
func (p *parser) setValue() (a operand, parenthesized bool) {
	if p.skip("(") {
		var nested bool
		a, nested = p.setValue()
		p.closeParenthesis(nested)
		parenthesized = true
	} else {
		a, _ = p.operand(asSetValue)
	}
	if _, isSum := a.(*sum); isSum || !p.is("+") && !p.is("-") {
		return a, parenthesized
	}
	s := &sum{a: a, operator: p.take()}
	p.operators++
	if first, ok := a.(*call); ok && functions[first.name].place != asValue {
		p.failMisused(first.name)
	}
	s.b, _ = p.operand(asValue)
	p.checkTypes(s.operator, isNumber, s.a, s.b)
	return s, false
}

// Paths returns the document paths that the update changes, in the order of the expression.
func (u *Update) Paths() []Path {
	if u == nil {
		return nil
	}
	return u.targets
}

// Apply returns an existing item after the update, and the paths that have changed. old does not change. All values are
// computed from the old item. The error is a *[values.Error].
func (u *Update) Apply(old values.Item) (values.Item, []Path, error) { return u.apply(old, true) }

// Create is like Apply for an item that does not exist yet and has only a key. Removing a part of a missing attribute
// is not an error then. An update that only removes creates no item: the result is nil.
func (u *Update) Create(key values.Item) (values.Item, []Path, error) {
	item, touched, err := u.apply(key, false)
	if len(touched) == 0 {
		return nil, nil, err
	}
	return item, touched, err
}

func (u *Update) apply(old values.Item, exists bool) (values.Item, []Path, error) {
	changes := make([]change, 0, len(u.actions))
	for i := range u.actions {
		c, err := u.actions[i].run(old, exists)
		if err != nil {
			return nil, nil, err
		}
		if c.path != nil {
			changes = append(changes, c)
		}
	}
	item := append(values.Item{}, old...)
	slices.SortStableFunc(changes, change.compare)
	touched := make([]Path, len(changes))
	for i, c := range changes {
		touched[i] = c.path
		item = c.applyTo(item)
	}
	return item, touched, nil
}

// run returns the change of an action, with a nil path if it changes nothing.
func (a *action) run(old values.Item, exists bool) (change, error) {
	writable := a.target.isWritable(old)
	var current, value values.Value
	present := false
	if writable {
		v, err := a.target.eval(old)
		current, present = v, err == nil
	}
	var err error
	switch a.section {
	case "SET":
		value, err = a.value.eval(old)
	case "ADD":
		value, err = added(current, present, a.value.(literal).value)
	case "DELETE":
		value, err = deleted(current, present, a.value.(literal).value)
	case "REMOVE":
		if !exists && !writable {
			return change{}, nil
		}
	}
	switch {
	case err != nil && (writable || !errors.Is(err, errMissing)):
		return change{}, err
	case !writable:
		return change{}, errPath
	case len(a.target)-1+value.Depth() > values.MaxDepth:
		return change{}, values.ErrNesting
	case value.Kind != values.KindInvalid:
		phase := replacing
		if !present && a.target[len(a.target)-1].IsIndex {
			phase = appending
		}
		return change{path: a.target, value: value, phase: phase}, nil
	case present:
		return change{path: a.target, phase: removing}, nil
	}
	return change{}, nil
}

// added is the result of ADD: a sum or a union.
func added(current values.Value, present bool, v values.Value) (values.Value, error) {
	switch {
	case !present:
		return v, nil
	case current.Kind == values.N && v.Kind == values.N:
		result, err := current.N.Add(v.N)
		return values.FromNumber(result), err
	}
	union, ok := current.Union(v)
	if !ok {
		return values.Value{}, errOperandType
	}
	return union, nil
}

// deleted is the result of DELETE. It is the zero value if the set is empty then.
func deleted(current values.Value, present bool, v values.Value) (values.Value, error) {
	if !present {
		return values.Value{}, nil
	}
	rest, ok := current.Difference(v)
	if !ok {
		return values.Value{}, errOperandType
	}
	if length, _ := rest.Len(); length == 0 {
		return values.Value{}, nil
	}
	return rest, nil
}

type change struct {
	path  Path
	value values.Value
	phase int
}

// The order of changes lets all indexes mean positions in the old item: first elements are replaced, then elements are
// appended by ascending index, then elements are removed by descending index.
const (
	replacing = iota
	appending // the path is behind the end of a list
	removing
)

func (c change) compare(d change) int {
	switch {
	case c.phase != d.phase:
		return cmp.Compare(c.phase, d.phase)
	case c.phase == appending:
		return slices.CompareFunc(c.path, d.path, Step.compare)
	case c.phase == removing:
		return slices.CompareFunc(d.path, c.path, Step.compare)
	}
	return 0
}

// applyTo makes the change in an item that the caller owns, and returns the item. Maps and lists inside it belong to
// the old item, and are copied.
func (c change) applyTo(item values.Item) values.Item {
	name := c.path.Root()
	switch {
	case c.path.IsNested():
		c.path = c.path[1:]
		value, _ := item.Get(name)
		return item.Set(name, c.inside(value))
	case c.phase == removing:
		return item.Remove(name)
	default:
		return item.Set(name, c.value)
	}
}

// inside returns a copy of a map or list with the change.
func (c change) inside(v values.Value) values.Value {
	if !c.path[0].IsIndex {
		v.M = c.applyTo(append(values.Item{}, v.M...))
		return v
	}
	i := c.path[0].Index
	if c.phase == appending && len(c.path) == 1 {
		v.L = append(slices.Clip(v.L), c.value)
		return v
	}
	v.L = slices.Clone(v.L)
	switch {
	case len(c.path) > 1:
		c.path = c.path[1:]
		v.L[i] = c.inside(v.L[i])
	case c.phase == removing:
		v.L = slices.Delete(v.L, i, i+1)
	default:
		v.L[i] = c.value
	}
	return v
}
