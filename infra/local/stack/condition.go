package stack

import "slices"

const (
	sectionConditions = "Conditions"
	sectionRules      = "Rules"
)

// condition is an entry of Conditions. It is evaluated when it is first used.
type condition struct {
	n                        *node
	holds, known, evaluating bool
}

func (e *evaluator) loadConditions() {
	for _, f := range e.section(sectionConditions) {
		e.conditions[f.key] = &condition{n: f.value}
	}
	for _, f := range e.section(sectionConditions) {
		e.holds(place{subject: sectionConditions, path: f.key}, textNode(f.line, f.key))
	}
}

// isActive reports whether a resource exists under the template's conditions.
func (e *evaluator) isActive(res *resource) bool {
	return res.condition == nil || e.holds(res.at().field("Condition"), res.condition)
}

// holds reports whether the condition that a node names is true. After a problem it is false.
func (e *evaluator) holds(at place, name *node) bool {
	c := e.conditions[name.text]
	switch {
	case name.kind != scalar:
		e.add(at, name.line, "must be the name of a condition")
		return false
	case c == nil:
		e.add(at, name.line, "there is no condition %s", name.text)
		return false
	case c.evaluating:
		e.add(at, name.line, "condition %s depends on itself", name.text)
		return false
	case !c.known:
		c.evaluating = true
		c.holds = e.decide(place{subject: sectionConditions, path: name.text}, c.n)
		c.evaluating, c.known = false, true
	}
	return c.holds
}

// decide evaluates a condition function. After a problem it returns false.
func (e *evaluator) decide(at place, n *node) bool {
	if n.kind != mapping || len(n.fields) != 1 {
		e.add(at, n.line, "must be a condition function")
		return false
	}
	name, arg := n.fields[0].key, n.fields[0].value
	at = at.field(name)
	switch name {
	case "Condition":
		return e.holds(at, arg)
	case "Fn::Equals":
		if arg.kind != list || len(arg.items) != 2 {
			e.add(at, arg.line, "takes a list of two values")
			return false
		}
		return same(e.eval(at, arg.items[0]), e.eval(at, arg.items[1]))
	case "Fn::Not":
		count, _ := e.count(at, arg, 1, 1)
		return count == 0
	case "Fn::And":
		count, total := e.count(at, arg, 2, 10)
		return count == total
	case "Fn::Or":
		count, _ := e.count(at, arg, 2, 10)
		return count > 0
	}
	e.add(at, n.line, "%s is %s in a condition", name, unsupported)
	return false
}

// count returns how many of the conditions in a list are true. It evaluates all, so that it finds all problems.
func (e *evaluator) count(at place, arg *node, least, most int) (count, total int) {
	if arg.kind != list || len(arg.items) < least || len(arg.items) > most {
		e.add(at, arg.line, "takes a list of %d to %d conditions", least, most)
	}
	for i, item := range arg.items {
		if e.decide(at.index(i), item) {
			count++
		}
	}
	return count, len(arg.items)
}

// same compares resolved values as CloudFormation does: scalars by their text.
func same(a, b *node) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.kind == b.kind && a.text == b.text && slices.EqualFunc(a.items, b.items, same) &&
		slices.EqualFunc(a.fields, b.fields, func(x, y field) bool { return x.key == y.key && same(x.value, y.value) })
}

// checkRules checks the parameters against the Rules section, as CloudFormation does before it creates resources. With
// Options.Defaults, an assertion may fail, because assertions are about deployments.
func (e *evaluator) checkRules() {
	for _, f := range e.section(sectionRules) {
		at := place{subject: sectionRules, path: f.key}
		condition, assertions := f.value.get("RuleCondition"), f.value.get("Assertions")
		if assertions == nil || assertions.kind != list {
			e.add(at.field("Assertions"), f.line, "must be a list")
			continue
		}
		if condition != nil && !e.decide(at.field("RuleCondition"), condition) {
			continue
		}
		for i, assertion := range assertions.items {
			at, assert := at.field("Assertions").index(i), assertion.get("Assert")
			if assert == nil {
				e.add(at.field("Assert"), assertion.line, "is missing")
			} else if !e.decide(at.field("Assert"), assert) && len(e.options.Defaults) == 0 {
				description := e.tryText(assertion.get("AssertDescription"), "it has no description")
				e.add(at, assertion.line, "the assertion fails: %s", description)
			}
		}
	}
}
