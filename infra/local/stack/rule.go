package stack

import "slices"

var (
	ruleAttributes      = map[string]support{"RuleCondition": runs, "Assertions": runs}
	assertionAttributes = map[string]support{"Assert": runs, "AssertDescription": runs}
)

// checkRules holds the parameters against the template's Rules, as CloudFormation does before it touches anything.
func (r *resolver) checkRules() {
	for _, f := range r.section("Rules") {
		at := place{subject: "Rules", path: f.key}
		rule := r.object(at, f.value, ruleAttributes)
		if when := rule.n.get("RuleCondition"); when != nil {
			if holds, ok := r.decide(at.field("RuleCondition"), when); !ok || !holds {
				continue
			}
		}
		for i, item := range rule.items("Assertions") {
			inside := at.field("Assertions").index(i)
			assertion := r.object(inside, item, assertionAttributes)
			assert := assertion.n.get("Assert")
			if assert == nil {
				r.add(inside, item.line, "has no Assert")
				continue
			}
			if holds, ok := r.decide(inside.field("Assert"), assert); ok && !holds {
				r.add(inside, item.line, "the assertion fails: %s", assertion.text("AssertDescription", "it has no description"))
			}
		}
	}
}

// membership is the three functions on lists that only rules have.
func (r *resolver) membership(at place, name string, arg *node) (holds, ok bool) {
	if arg.kind != list || len(arg.items) != 2 {
		r.add(at, arg.line, "takes a list of two values")
		return false, false
	}
	members, ok := r.eval(at.index(0), arg.items[0])
	if !ok || members == nil || members.kind != list {
		if ok {
			r.add(at.index(0), arg.line, "must be a list")
		}
		return false, false
	}
	other, ok := r.eval(at.index(1), arg.items[1])
	if !ok || other == nil {
		return false, false
	}
	equalsOther := func(member *node) bool { return same(member, other) }
	switch {
	case name == "Fn::Contains":
		return slices.ContainsFunc(members.items, equalsOther), true
	case name == "Fn::EachMemberEquals":
		return !slices.ContainsFunc(members.items, func(m *node) bool { return !equalsOther(m) }), true
	case other.kind != list:
		r.add(at.index(1), arg.line, "must be a list")
		return false, false
	}
	return !slices.ContainsFunc(members.items, func(m *node) bool {
		return !slices.ContainsFunc(other.items, func(o *node) bool { return same(m, o) })
	}), true
}
