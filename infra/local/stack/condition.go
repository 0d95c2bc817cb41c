package stack

import "slices"

const (
	sectionConditions = "Conditions"
	sectionRules      = "Rules"
)

// condition is an entry of Conditions. It is evaluated when it is first used.
type condition struct {
	n                 *node
	holds, ok         bool
	known, evaluating bool
}

func (e *evaluator) loadConditions() {
	for _, f := range e.section(sectionConditions) {
		e.conditions[f.key] = &condition{n: f.value}
	}
	for _, f := range e.section(sectionConditions) {
		e.condition(place{subject: sectionConditions, path: f.key}, f.key, f.line)
	}
}

// holds reports whether the condition that a node names is true. ok is false if it has reported a problem.
func (e *evaluator) holds(at place, name *node) (holds, ok bool) {
	if name.kind != scalar {
		e.add(at, name.line, "must be the name of a condition")
		return false, false
	}
	return e.condition(at, name.text, name.line)
}

// active reports whether a resource exists under the template's conditions.
func (e *evaluator) active(res *resource) bool {
	if res.condition == nil {
		return true
	}
	holds, _ := e.holds(res.at().field("Condition"), res.condition)
	return holds
}

func (e *evaluator) condition(at place, name string, line int) (holds, ok bool) {
	c := e.conditions[name]
	switch {
	case c == nil:
		e.add(at, line, "there is no condition %s", name)
		return false, false
	case c.evaluating:
		e.add(at, line, "condition %s depends on itself", name)
		return false, false
	case c.known:
		return c.holds, c.ok
	}
	c.evaluating = true
	c.holds, c.ok = e.decide(place{subject: sectionConditions, path: name}, c.n)
	c.evaluating, c.known = false, true
	return c.holds, c.ok
}

// decide evaluates a condition function.
func (e *evaluator) decide(at place, n *node) (holds, ok bool) {
	if n.kind != mapping || len(n.fields) != 1 {
		e.add(at, n.line, "must be a condition function")
		return false, false
	}
	name, arg := n.fields[0].key, n.fields[0].value
	at = at.field(name)
	switch name {
	case "Condition":
		return e.holds(at, arg)
	case "Fn::Equals":
		return e.equals(at, arg)
	case "Fn::Not":
		return e.connect(at, name, arg, 1, 1)
	case "Fn::And", "Fn::Or":
		return e.connect(at, name, arg, 2, 10)
	}
	e.add(at, n.line, "%s is %s in a condition", name, unsupported)
	return false, false
}

func (e *evaluator) equals(at place, arg *node) (holds, ok bool) {
	if arg.kind != list || len(arg.items) != 2 {
		e.add(at, arg.line, "takes a list of two values")
		return false, false
	}
	a, ok1 := e.eval(at, arg.items[0])
	b, ok2 := e.eval(at, arg.items[1])
	return ok1 && ok2 && same(a, b), ok1 && ok2
}

// connect is Not, And and Or. It evaluates all members, so that it finds all problems.
func (e *evaluator) connect(at place, name string, arg *node, least, most int) (holds, ok bool) {
	if arg.kind != list || len(arg.items) < least || len(arg.items) > most {
		e.add(at, arg.line, "takes a list of %d to %d conditions", least, most)
		return false, false
	}
	count, ok := 0, true
	for i, item := range arg.items {
		holds, sound := e.decide(at.index(i), item)
		if ok = ok && sound; holds {
			count++
		}
	}
	switch name {
	case "Fn::Not":
		return ok && count == 0, ok
	case "Fn::And":
		return ok && count == len(arg.items), ok
	}
	return ok && count > 0, ok
}

// same compares resolved values as CloudFormation does: scalars by their text.
func same(a, b *node) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.kind == b.kind && a.text == b.text && slices.EqualFunc(a.items, b.items, same) &&
		slices.EqualFunc(a.fields, b.fields, func(x, y field) bool { return x.key == y.key && same(x.value, y.value) })
}

type (
	rule struct {
		RuleCondition *node
		Assertions    []assertion
	}
	assertion struct {
		object

		Assert      *node  `cfn:",required"`
		Description string `cfn:"AssertDescription,default=it has no description"`
	}
)

// checkRules checks the parameters against the Rules section, as CloudFormation does before it creates resources.
func (e *evaluator) checkRules() {
	for _, f := range e.section(sectionRules) {
		at := place{subject: sectionRules, path: f.key}
		var r rule
		e.decode(at, f.line, f.value, &r)
		if r.RuleCondition != nil {
			if holds, _ := e.decide(at.field("RuleCondition"), r.RuleCondition); !holds {
				continue
			}
		}
		for _, a := range r.Assertions {
			if a.Assert == nil {
				continue
			}
			if holds, ok := e.decide(a.at.field("Assert"), a.Assert); ok && !holds {
				e.add(a.at, a.n.line, "the assertion fails: %s", a.Description)
			}
		}
	}
}
