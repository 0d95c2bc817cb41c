package stack

import "slices"

// condition is an entry of Conditions; it is worked out when it is first asked for.
type condition struct {
	n              *node
	holds, ok      bool
	known, working bool
}

func (r *resolver) loadConditions() {
	for _, f := range r.section("Conditions") {
		r.conditions[f.key] = &condition{n: f.value}
	}
	for _, f := range r.section("Conditions") {
		r.condition(place{subject: "Conditions", path: f.key}, f.key, f.line)
	}
}

// holds answers for a node that names a condition.
func (r *resolver) holds(at place, name *node) (holds, ok bool) {
	if name.kind != scalar {
		r.add(at, name.line, "must be the name of a condition")
		return false, false
	}
	return r.condition(at, name.text, name.line)
}

func (r *resolver) condition(at place, name string, line int) (holds, ok bool) {
	c := r.conditions[name]
	switch {
	case c == nil:
		if at.early() { // elsewhere checkReferences has reported it
			r.add(at, line, "there is no condition %s", name)
		}
		return false, false
	case c.working:
		r.add(at, line, "condition %s depends on itself", name)
		return false, false
	case c.known:
		return c.holds, c.ok
	}
	c.working = true
	c.holds, c.ok = r.decide(place{subject: "Conditions", path: name}, c.n)
	c.working, c.known = false, true
	return c.holds, c.ok
}

// decide works out a condition function.
func (r *resolver) decide(at place, n *node) (holds, ok bool) {
	if n.kind != mapping || len(n.fields) != 1 {
		r.add(at, n.line, "must be a condition function")
		return false, false
	}
	name, arg := n.fields[0].key, n.fields[0].value
	at = at.field(name)
	switch name {
	case "Condition":
		return r.holds(at, arg)
	case "Fn::Equals":
		return r.equals(at, arg)
	case "Fn::Not", "Fn::And", "Fn::Or":
		return r.connect(at, name, arg)
	case "Fn::Contains", "Fn::EachMemberEquals", "Fn::EachMemberIn":
		if at.subject == "Rules" {
			return r.membership(at, name, arg)
		}
	}
	r.add(at, n.line, "%s is %s in a condition", name, unsupported)
	return false, false
}

func (r *resolver) equals(at place, arg *node) (holds, ok bool) {
	if arg.kind != list || len(arg.items) != 2 {
		r.add(at, arg.line, "takes a list of two values")
		return false, false
	}
	a, ok1 := r.eval(at, arg.items[0])
	b, ok2 := r.eval(at, arg.items[1])
	return ok1 && ok2 && same(a, b), ok1 && ok2
}

// connect is Not, And, Or. Every member is looked at, so that each problem in them is found.
func (r *resolver) connect(at place, name string, arg *node) (holds, ok bool) {
	least, most := 2, 10
	if name == "Fn::Not" {
		least, most = 1, 1
	}
	if arg.kind != list || len(arg.items) < least || len(arg.items) > most {
		r.add(at, arg.line, "takes a list of %d to %d conditions", least, most)
		return false, false
	}
	trues, ok := 0, true
	for i, item := range arg.items {
		holds, known := r.decide(at.index(i), item)
		ok = ok && known
		if holds {
			trues++
		}
	}
	switch name {
	case "Fn::Not":
		return trues == 0, ok
	case "Fn::And":
		return trues == len(arg.items), ok
	default:
		return trues > 0, ok
	}
}

// same compares resolved values as CloudFormation does: scalars by their text.
func same(a, b *node) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.kind == b.kind && a.text == b.text && slices.EqualFunc(a.items, b.items, same) &&
		slices.EqualFunc(a.fields, b.fields, func(x, y field) bool { return x.key == y.key && same(x.value, y.value) })
}
