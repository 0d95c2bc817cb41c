package stack

import "strings"

// functionsOnAWS are the intrinsic functions of CloudFormation that only matter where a value is used:
// in a resource without local effect they are as good as any other.
var functionsOnAWS = map[string]bool{
	"Fn::ImportValue": true, "Fn::GetAZs": true, "Fn::Cidr": true, "Fn::Transform": true, "Fn::ToJsonString": true, "Fn::Length": true,
}

// checkReferences looks for references to nothing in the whole template: also in the branch of a condition that isn't taken,
// and in resources that have no effect here. On AWS they would fail the deployment.
func (r *resolver) checkReferences() {
	for _, f := range r.section("Resources") {
		at := place{subject: f.key}
		for _, attribute := range f.value.fields {
			switch attribute.key {
			case "Properties":
				r.check(at.field("Properties"), attribute.value)
			case "Condition":
				r.checkCondition(at.field("Condition"), attribute.value)
			case "DependsOn":
				r.checkDependsOn(at.field("DependsOn"), attribute.value)
			}
		}
	}
	for _, f := range r.section("Globals") {
		r.check(place{subject: "Globals", path: f.key}, f.value)
	}
	for _, f := range r.section("Outputs") {
		at := place{subject: "Outputs", path: f.key}
		r.check(at, f.value)
		if condition := f.value.get("Condition"); condition != nil {
			r.checkCondition(at.field("Condition"), condition)
		}
	}
}

func (r *resolver) checkDependsOn(at place, n *node) {
	names := n.items
	if n.kind == scalar {
		names = []*node{n}
	}
	for _, name := range names {
		r.checkName(at, name)
	}
}

func (r *resolver) check(at place, n *node) {
	name, arg, isCall := n.intrinsic()
	if !isCall {
		for i, item := range n.items {
			r.check(at.index(i), item)
		}
		for _, f := range n.fields {
			r.check(at.field(f.key), f.value)
		}
		return
	}
	switch name {
	case "Ref":
		r.checkName(at, arg)
	case "Fn::GetAtt":
		r.checkGetAtt(at, arg)
	case "Fn::Sub":
		r.checkSub(at, arg)
	case "Fn::If":
		if arg.kind == list && len(arg.items) > 0 {
			r.checkCondition(at, arg.items[0])
			r.checkAll(at, arg.items[1:])
		}
	default:
		if r.intrinsics[name] == nil && !functionsOnAWS[name] {
			r.add(at, n.line, "%s is no intrinsic function", name)
			return
		}
		r.check(at, arg)
	}
}

func (r *resolver) checkAll(at place, items []*node) {
	for _, item := range items {
		r.check(at, item)
	}
}

func (r *resolver) checkCondition(at place, n *node) {
	if n.kind == scalar && r.conditions[n.text] == nil {
		r.add(at, n.line, "there is no condition %s", n.text)
	}
}

// checkName holds a name against everything that Ref can find.
func (r *resolver) checkName(at place, n *node) {
	if n.kind != scalar {
		return
	}
	if _, pseudo := r.pseudo(n.text); pseudo || r.parameters[n.text] != nil || r.byID[n.text] != nil || r.generated(n.text) {
		return
	}
	r.add(at, n.line, "there is no parameter or resource %s", n.text)
}

func (r *resolver) checkGetAtt(at place, arg *node) {
	name := arg
	if arg.kind == list && len(arg.items) > 0 {
		name = arg.items[0]
		r.checkAll(at, arg.items[1:])
	}
	if name.kind != scalar {
		return
	}
	id, attribute, _ := strings.Cut(name.text, ".")
	if arg.kind == list && len(arg.items) == 2 {
		attribute = arg.items[1].text
	}
	r.checkStream(at, name.line, id, attribute)
	if r.byID[id] != nil || r.generated(id) {
		return
	}
	r.add(at, name.line, "there is no resource %s", id)
}

// checkStream looks for the stream of a table that has none under any condition.
func (r *resolver) checkStream(at place, line int, id, attribute string) {
	if attribute == streamAttribute && r.isA(id, typeTable) && r.byID[id].properties.get("StreamSpecification") == nil {
		r.noStream(at, line, r.byID[id])
	}
}

func (r *resolver) checkSub(at place, arg *node) {
	text, names := arg, (*node)(nil)
	if arg.kind == list && len(arg.items) == 2 {
		text, names = arg.items[0], arg.items[1]
		r.check(at, names)
	}
	for _, piece := range substitutions(text.text) {
		if piece.name == "" || names.get(piece.name) != nil || r.generated(piece.name) {
			continue
		}
		id, attribute, isAttribute := strings.Cut(piece.name, ".")
		if isAttribute && r.byID[id] != nil {
			r.checkStream(at, text.line, id, attribute)
			continue
		}
		r.checkName(at, textNode(text.line, piece.name))
	}
}
