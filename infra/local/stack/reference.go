package stack

import (
	"cmp"
	"strings"

	"devplatform/infra/local/resources"
)

// pseudo returns the value of a pseudo parameter.
func (e *evaluator) pseudo(name string) (value *node, known bool) {
	if name == "AWS::NoValue" {
		return nil, true
	}
	pattern, known := map[string]string{
		"AWS::Region": "{region}", "AWS::AccountId": "{account}", "AWS::StackName": "{stack}",
		"AWS::Partition": "aws", "AWS::URLSuffix": "amazonaws.com",
		"AWS::StackId": "arn:aws:cloudformation:{region}:{account}:stack/{stack}/local",
	}[name]
	return textNode(0, e.expand(pattern)), known
}

// ref is Ref: the value of a parameter or pseudo parameter, or the identifier of a resource.
func (e *evaluator) ref(at place, arg *node) *node {
	if arg.kind != scalar {
		return e.fail(at, arg.line, "Ref takes a name")
	}
	if value, known := e.pseudo(arg.text); known {
		return value
	}
	if value := e.parameters[arg.text]; value != nil {
		return value
	}
	if value := e.generated(at, arg.text); value != nil {
		return value
	}
	res := e.find(at, arg.line, arg.text)
	if res == nil {
		return invalidNode
	}
	pattern := resourceTypes[res.typ].ref
	if pattern == "" {
		return e.fail(at, arg.line, "Ref to %s (%s) is %s", res.id, res.typ, unsupported)
	}
	return textNode(arg.line, e.expandFor(res, pattern))
}

// getAtt is Fn::GetAtt.
func (e *evaluator) getAtt(at place, arg *node) *node {
	if arg.kind == scalar { // the long form may have a dot, too
		id, attribute, _ := strings.Cut(arg.text, ".")
		return e.attribute(at, arg.line, id, attribute)
	}
	args := e.args(at, arg, "Fn::GetAtt takes a logical id and an attribute", scalar, scalar)
	if args == nil {
		return invalidNode
	}
	return e.attribute(at, arg.line, args[0].text, args[1].text)
}

func (e *evaluator) attribute(at place, line int, id, attribute string) *node {
	res := e.find(at, line, id)
	if res == nil {
		return invalidNode
	}
	pattern := resourceTypes[res.typ].attributes[attribute]
	switch {
	case pattern == "":
		return e.fail(at, line, "attribute %s of %s (%s) is %s", attribute, id, res.typ, unsupported)
	case attribute == streamAttribute && !e.hasStream(res):
		return e.fail(at, line, "%s has no %s: the table has no StreamSpecification", id, streamAttribute)
	case attribute == streamAttribute && !strings.HasSuffix(at.path, ".Properties.Stream"):
		return e.fail(at, line, "attribute %s of %s (%s) is %s, except as an event source: "+
			"it ends with the time at which the stream began", attribute, id, res.typ, unsupported)
	}
	return textNode(line, e.expandFor(res, pattern))
}

// find returns the resource that something refers to. If there is none, it reports a problem and returns nil.
func (e *evaluator) find(at place, line int, id string) *resource {
	res := e.byID[id]
	switch {
	case at.subject == sectionConditions || at.subject == sectionRules:
		e.add(at, line, "there is no parameter %s, and conditions can only refer to parameters", id)
	case res == nil:
		e.add(at, line, "there is no parameter or resource %s", id)
	case !e.isActive(res):
		e.add(at, line, "refers to %s, whose condition is false", id)
	default:
		return res
	}
	return nil
}

// generated returns the value of a reference to what SAM creates: the stage of an API, such as "Api.Stage", or the
// version of a function, such as "Function.Version". It returns nil for other names.
func (e *evaluator) generated(at place, name string) *node {
	id, attribute, _ := strings.Cut(name, ".")
	res := e.byID[id]
	switch {
	case res == nil:
	case res.typ == typeAPI && attribute == "Stage" && res.properties.get("StageName") != nil:
		return e.eval(at, res.properties.get("StageName"))
	case res.typ == typeFunction && attribute == "Version":
		return textNode(res.line, e.expandFor(res, resourceTypes[typeFunction].attributes["Arn"]+":1"))
	}
	return nil
}

// nameOf returns the physical name of a resource: the stack's name and the logical id.
func (e *evaluator) nameOf(res *resource) string {
	name := e.options.StackName + "-" + res.id
	if res.typ == typeBucket {
		return strings.ToLower(name)
	}
	return name
}

// arn returns the ARN of a resource.
func (e *evaluator) arn(res *resource) string {
	return e.expandFor(res, resourceTypes[res.typ].attributes["Arn"])
}

// expandFor replaces {id}, {name}, {api}, {secret}, {domain} and {queues} in a pattern, and the placeholders of expand.
func (e *evaluator) expandFor(res *resource, pattern string) string {
	name, o := e.nameOf(res), e.options
	queues := cmp.Or(strings.TrimSuffix(o.QueueEndpoint, "/"), "https://sqs."+o.Region+".amazonaws.com")
	return e.expand(pattern, "{id}", res.id, "{name}", name, "{api}", resources.RestAPIID(o.StackName, res.id),
		"{secret}", resources.SecretARN(o.Region, o.Account, name), "{queues}", queues,
		"{domain}", e.tryText(res.properties.get("DomainName"), ""))
}

// expand replaces {region}, {account} and {stack} in a pattern, and further placeholders, with their values.
func (e *evaluator) expand(pattern string, further ...string) string {
	o := e.options
	pairs := append(further, "{region}", o.Region, "{account}", o.Account, "{stack}", o.StackName)
	return strings.NewReplacer(pairs...).Replace(pattern)
}
