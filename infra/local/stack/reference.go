package stack

import "strings"

// pseudo gives the value of a pseudo parameter.
func (r *resolver) pseudo(name string) (value *node, known bool) {
	o := r.options
	switch name {
	case "AWS::NoValue":
		return nil, true
	case "AWS::NotificationARNs":
		return &node{kind: list}, true
	case "AWS::StackId":
		return textNode(0, r.arn("cloudformation", "stack/"+o.StackName+"/"+digest(12, o.Region, o.Account, o.StackName))), true
	}
	texts := map[string]string{
		"AWS::Region": o.Region, "AWS::AccountId": o.Account, "AWS::StackName": o.StackName,
		"AWS::Partition": partition(o.Region), "AWS::URLSuffix": urlSuffix(o.Region),
	}
	text, known := texts[name]
	return textNode(0, text), known
}

// ref is Ref: a parameter's value, a pseudo parameter's, or what a resource is known by.
func (r *resolver) ref(at place, arg *node) (*node, bool) {
	if arg.kind != scalar {
		r.add(at, arg.line, "Ref takes a name")
		return nil, false
	}
	if value, known := r.pseudo(arg.text); known {
		return value, true
	}
	if value := r.parameters[arg.text]; value != nil {
		return value, true
	}
	if text, known := r.generatedRef(arg.text); known {
		return textNode(arg.line, text), true
	}
	res, ok := r.target(at, arg.line, arg.text)
	if !ok {
		return nil, false
	}
	class := r.classes[res.typ]
	if class.ref == nil {
		r.add(at, arg.line, "Ref to %s (%s) is %s", res.id, res.typ, unsupported)
		return nil, false
	}
	return textNode(arg.line, class.ref(r, res)), true
}

// getAtt is Fn::GetAtt.
func (r *resolver) getAtt(at place, arg *node) (*node, bool) {
	if arg.kind == scalar { // the long form may be written with a dot, too
		id, attribute, _ := strings.Cut(arg.text, ".")
		return r.attribute(at, arg.line, id, attribute)
	}
	if arg.kind != list || len(arg.items) != 2 || arg.items[0].kind != scalar {
		r.add(at, arg.line, "Fn::GetAtt takes a logical id and an attribute")
		return nil, false
	}
	name, ok := r.eval(at, arg.items[1])
	if !ok {
		return nil, false
	}
	if name == nil || name.kind != scalar {
		r.add(at, arg.line, "Fn::GetAtt takes a logical id and an attribute")
		return nil, false
	}
	return r.attribute(at, arg.line, arg.items[0].text, name.text)
}

func (r *resolver) attribute(at place, line int, id, attribute string) (*node, bool) {
	if function := strings.TrimSuffix(id, "Role"); attribute == "Arn" && function != id && r.byID[id] == nil && r.isA(function, typeFunction) {
		return textNode(line, r.globalARN("iam", "role/"+r.options.StackName+"-"+id)), true
	}
	res, ok := r.target(at, line, id)
	if !ok {
		return nil, false
	}
	if attribute == streamAttribute && res.typ == typeTable {
		return r.stream(at, line, res)
	}
	get := r.classes[res.typ].attributes[attribute]
	if get == nil {
		r.add(at, line, "attribute %s of %s (%s) is %s", attribute, id, res.typ, unsupported)
		return nil, false
	}
	return textNode(line, get(r, res)), true
}

// target finds the resource that is referred to. One that the template's conditions leave out can't be.
func (r *resolver) target(at place, line int, id string) (*resource, bool) {
	if at.early() {
		r.add(at, line, "there is no parameter %s, and conditions can't refer to anything else", id)
		return nil, false
	}
	res := r.byID[id]
	if res == nil { // checkReferences has reported it
		return nil, false
	}
	if !r.active(res) {
		r.add(at, line, "refers to %s, which its condition leaves out", id)
		return nil, false
	}
	return res, true
}

func (r *resolver) isA(id, typ string) bool {
	res := r.byID[id]
	return res != nil && res.typ == typ
}

// generated tells whether a name is one of those that SAM's transform adds to the template.
func (r *resolver) generated(name string) bool {
	_, known := r.generatedRef(name)
	return known
}

// generatedRef gives what Ref yields for the resources that SAM makes of others: a function's role, version and alias,
// an API's stage and deployment, and the implicit API.
func (r *resolver) generatedRef(name string) (string, bool) {
	if r.byID[name] != nil {
		return "", false
	}
	if name == implicitAPI && r.hasImplicitAPI() {
		return restAPIID(r.options.StackName, implicitAPI), true
	}
	if function := strings.TrimSuffix(name, "Role"); function != name && r.isA(function, typeFunction) {
		return r.options.StackName + "-" + name, true
	}
	if schedule, found := r.scheduleOfEvent(name); found {
		return schedule, true
	}
	if id, property, dotted := strings.Cut(name, "."); dotted {
		switch {
		case property == "Version" && r.isA(id, typeFunction):
			return functionARN(r, r.byID[id]) + ":1", true
		case property == "Alias" && r.isA(id, typeFunction):
			return functionARN(r, r.byID[id]) + ":" + r.aliasOf(id), true
		case property == "Stage" && (r.isA(id, typeAPI) || id == implicitAPI):
			return r.stageOf(id), true
		case property == "Deployment" && r.isA(id, typeAPI):
			return digest(6, r.options.StackName, name), true
		}
		return "", false
	}
	return r.generatedByPrefix(name)
}

// generatedByPrefix knows <Function>Alias<alias> and <Api><stage>Stage.
func (r *resolver) generatedByPrefix(name string) (string, bool) {
	if id, alias, found := strings.Cut(name, "Alias"); found && r.isA(id, typeFunction) && alias == r.aliasOf(id) {
		return functionARN(r, r.byID[id]) + ":" + alias, true
	}
	if strings.HasSuffix(name, "Stage") {
		if strings.HasPrefix(name, implicitAPI) && name == implicitAPI+r.stageOf(implicitAPI)+"Stage" && r.hasImplicitAPI() {
			return r.stageOf(implicitAPI), true
		}
		for _, res := range r.resources {
			if res.typ == typeAPI && (name == res.id+"Stage" || name == res.id+r.stageOf(res.id)+"Stage") {
				return r.stageOf(res.id), true
			}
		}
	}
	return "", false
}

func (r *resolver) aliasOf(id string) string {
	return r.quiet(r.byID[id], "AutoPublishAlias", "")
}

func (r *resolver) stageOf(id string) string {
	if r.byID[id] == nil {
		return implicitStage
	}
	return r.quiet(r.byID[id], "StageName", implicitStage)
}

// quiet reads a text property without reporting anything: building the resource itself does.
func (r *resolver) quiet(res *resource, name, fallback string) string {
	n := res.properties.get(name)
	if n == nil {
		return fallback
	}
	r.muted++
	defer func() { r.muted-- }()
	value, ok := r.eval(res.at(), n)
	if !ok || value == nil || value.kind != scalar {
		return fallback
	}
	return value.text
}

// physicalName is the name a resource has: the one its template gives it, or the fallback.
func (r *resolver) physicalName(res *resource, property, fallback string) string {
	if res.name != "" {
		return res.name
	}
	n := res.properties.get(property)
	if n == nil {
		res.name = fallback
		return fallback
	}
	at := res.at().field("Properties").field(property)
	if res.naming {
		r.add(at, n.line, "the name depends on itself")
		return fallback
	}
	res.naming = true
	defer func() { res.naming = false }()
	value, ok := r.eval(at, n)
	res.name = fallback
	if ok && value != nil {
		if res.name = value.text; value.kind != scalar || value.text == "" {
			r.add(at, n.line, "must be a name")
			res.name = fallback
		}
	}
	return res.name
}
