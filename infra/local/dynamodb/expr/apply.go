package expr

import (
	"errors"
	"maps"
	"slices"

	"devplatform/infra/local/dynamodb/attr"
)

// Apply updates an existing item and returns the new one; the old one stays as
// it is. Every value is computed from the old item. The paths are what was
// changed, as written: AWS returns what is there before and after, even if
// elements of a list have moved. The error is an *Error or an *attr.Error with
// AWS's text.
func (u *Update) Apply(old attr.Item) (attr.Item, []Path, error) { return u.apply(old, true) }

// Create is Apply for an item that does not exist yet and of which only the
// key is given. Removing from inside of a missing attribute is then no error,
// and an update that would only remove creates nothing: the item is nil.
func (u *Update) Create(key attr.Item) (attr.Item, []Path, error) {
	item, touched, err := u.apply(key, false)
	if len(touched) == 0 {
		return nil, nil, err
	}
	return item, touched, err
}

func (u *Update) apply(old attr.Item, exists bool) (attr.Item, []Path, error) {
	changes, err := u.changes(old, exists)
	if err != nil {
		return nil, nil, err
	}
	item := maps.Clone(old)
	if item == nil {
		item = attr.Item{}
	}
	touched := make([]Path, len(changes))
	inOrder(changes)
	for i, change := range changes {
		touched[i] = change.path
		setAt(item, change)
	}
	return item, touched, nil
}

// change is what happens at one path.
type change struct {
	path   Path
	value  attr.Value
	remove bool
	append bool // the path ends beyond the end of a list
}

// changes computes what an update does to an item. Of several mistakes a wrong
// type comes first, then a wrong path, then a missing attribute.
func (u *Update) changes(old attr.Item, exists bool) ([]change, error) {
	changes := make([]change, 0, len(u.actions))
	var first error
	rank := len(severity)
	for _, a := range u.actions {
		change, found, err := a.run(old, exists)
		if err != nil {
			r := slices.IndexFunc(severity, func(known error) bool { return errors.Is(err, known) })
			if r < rank {
				first, rank = err, r
			}
			continue
		}
		if found {
			changes = append(changes, change)
		}
	}
	return changes, first
}

// severity orders mistakes; what is not listed, a number out of range, has
// index -1 and so is reported where it comes first.
var severity = []error{errOperandType, errPath, errMissing}

// run computes the change of one action, false if there is none.
func (a *action) run(old attr.Item, exists bool) (change, bool, error) {
	path := a.target.path
	writable := path.writable(old)
	current, present := attr.Value{}, false
	if writable {
		current, present = path.Get(old)
	}
	var value attr.Value
	var err error
	switch a.section {
	case sectionSet:
		value, err = a.setValue(old)
	case sectionAdd:
		value, err = added(current, present, a.a.(*valueOperand).value)
	case sectionDelete:
		value, err = deleted(current, present, a.a.(*valueOperand).value)
	case sectionRemove:
		if !exists && !writable {
			return change{}, false, nil
		}
	}
	switch {
	case err != nil && (writable || !errors.Is(err, errMissing)):
		return change{}, false, err
	case !writable:
		return change{}, false, errPath
	case len(path)-1+value.Depth() > attr.MaxDepth:
		return change{}, false, attr.ErrNesting
	case value.Kind == attr.KindInvalid:
		return change{path: path, remove: true}, present, nil
	}
	return change{path: path, value: value, append: !present && path[len(path)-1].IsIndex}, true, nil
}

// writable says whether the place a path names may exist: what it goes through
// does, and is a map or list as the path needs.
func (p Path) writable(item attr.Item) bool {
	if len(p) == 1 {
		return true
	}
	last := p[len(p)-1]
	parent, ok := p[:len(p)-1].Get(item)
	if last.IsIndex {
		return ok && parent.Kind == attr.L
	}
	return ok && parent.Kind == attr.M
}

func (a *action) setValue(old attr.Item) (attr.Value, error) {
	left, err := valueOf(a.a, old)
	if err != nil || a.arithmetic == 0 {
		return left, err
	}
	right, err := valueOf(a.b, old)
	if err != nil {
		return attr.Value{}, err
	}
	if left.Kind != attr.N || right.Kind != attr.N {
		return attr.Value{}, errOperandType
	}
	operation := attr.Number.Add
	if a.arithmetic == '-' {
		operation = attr.Number.Sub
	}
	result, err := operation(left.N, right.N)
	return attr.FromNumber(result), err
}

// valueOf is the value of an operand of SET.
func valueOf(o operand, old attr.Item) (attr.Value, error) {
	switch o := o.(type) {
	case *valueOperand:
		return o.value, nil
	case *pathOperand:
		if v, ok := o.path.Get(old); ok {
			return v, nil
		}
		return attr.Value{}, errMissing
	case *callOperand:
		first, err := valueOf(o.args[0], old)
		if o.name == "if_not_exists" {
			if err == nil {
				return first, nil
			}
			return valueOf(o.args[1], old)
		}
		second, err2 := valueOf(o.args[1], old)
		return appended(first, err, second, err2)
	default:
		return attr.Value{}, errMissing
	}
}

// appended is list_append. An operand of another type is a graver mistake than
// one that does not exist.
func appended(a attr.Value, errA error, b attr.Value, errB error) (attr.Value, error) {
	if errA == nil && a.Kind != attr.L || errB == nil && b.Kind != attr.L {
		return attr.Value{}, errOperandType
	}
	if errA != nil {
		return attr.Value{}, errA
	}
	if errB != nil {
		return attr.Value{}, errB
	}
	return attr.FromList(slices.Concat(a.L, b.L)), nil
}

// added is the result of ADD: a sum or a union.
func added(current attr.Value, present bool, v attr.Value) (attr.Value, error) {
	switch {
	case !present:
		return v, nil
	case current.Kind == attr.N && v.Kind == attr.N:
		sum, err := current.N.Add(v.N)
		return attr.FromNumber(sum), err
	}
	if union, ok := current.Union(v); ok {
		return union, nil
	}
	return attr.Value{}, errOperandType
}

// deleted is the result of DELETE; a set of which nothing is left is removed.
func deleted(current attr.Value, present bool, v attr.Value) (attr.Value, error) {
	if !present {
		return attr.Value{}, nil
	}
	rest, ok := current.Difference(v)
	if !ok {
		return attr.Value{}, errOperandType
	}
	if length, _ := rest.Len(); length == 0 {
		return attr.Value{}, nil
	}
	return rest, nil
}
