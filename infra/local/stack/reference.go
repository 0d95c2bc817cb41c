package stack

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"math/big"
	"strings"
)

// pseudo returns the value of a pseudo parameter.
func (e *evaluator) pseudo(name string) (value *node, known bool) {
	switch name {
	case "AWS::NoValue":
		return nil, true
	case "AWS::NotificationARNs":
		return &node{kind: list}, true
	}
	pattern, known := map[string]string{
		"AWS::Region": "{region}", "AWS::AccountId": "{account}", "AWS::StackName": "{stack}",
		"AWS::Partition": "{partition}", "AWS::URLSuffix": "{suffix}",
		"AWS::StackId": "arn:{partition}:cloudformation:{region}:{account}:stack/{stack}/local",
	}[name]
	return textNode(0, e.expand(pattern)), known
}

// ref is Ref: the value of a parameter or pseudo parameter, or the identifier of a resource.
func (e *evaluator) ref(at place, arg *node) (*node, bool) {
	if arg.kind != scalar {
		return e.fail(at, arg.line, "Ref takes a name")
	}
	if value, known := e.pseudo(arg.text); known {
		return value, true
	}
	if value := e.parameters[arg.text]; value != nil {
		return value, true
	}
	if value := e.generated[arg.text]; value != nil && e.byID[arg.text] == nil {
		return textNode(arg.line, value()), true
	}
	res := e.find(at, arg.line, arg.text)
	if res == nil {
		return nil, false
	}
	pattern := resourceTypes[res.typ].ref
	if pattern == "" {
		return e.fail(at, arg.line, "Ref to %s (%s) is %s", res.id, res.typ, unsupported)
	}
	return textNode(arg.line, e.expandFor(res, pattern)), true
}

// getAtt is Fn::GetAtt.
func (e *evaluator) getAtt(at place, arg *node) (*node, bool) {
	const usage = "Fn::GetAtt takes a logical id and an attribute"
	if arg.kind == scalar { // the long form may have a dot, too
		id, attribute, _ := strings.Cut(arg.text, ".")
		return e.attribute(at, arg.line, id, attribute)
	}
	args, ok := e.args(at, arg, usage, scalar, scalar)
	if !ok {
		return nil, false
	}
	return e.attribute(at, arg.line, args[0].text, args[1].text)
}

func (e *evaluator) attribute(at place, line int, id, attribute string) (*node, bool) {
	if value := e.generated[id+"."+attribute]; value != nil && e.byID[id] == nil {
		return textNode(line, value()), true
	}
	res := e.find(at, line, id)
	if res == nil {
		return nil, false
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
	return textNode(line, e.expandFor(res, pattern)), true
}

// find returns the resource that something refers to. If there is none, it reports a problem and returns nil.
func (e *evaluator) find(at place, line int, id string) *resource {
	res := e.byID[id]
	switch {
	case at.subject == sectionConditions || at.subject == sectionRules:
		e.add(at, line, "there is no parameter %s, and conditions can only refer to parameters", id)
	case res == nil:
		e.add(at, line, "there is no parameter or resource %s", id)
	case !e.active(res):
		e.add(at, line, "refers to %s, whose condition is false", id)
	default:
		return res
	}
	return nil
}

// generateReferences finds the resources that SAM creates for functions, their events and APIs.
func (e *evaluator) generateReferences() {
	if e.hasImplicitAPI() {
		e.generateAPI(implicitAPI, implicitStage)
	}
	for _, res := range e.resources {
		switch {
		case !e.active(res):
		case res.typ == typeAPI:
			e.generateAPI(res.id, e.quiet(res.properties.get("StageName"), implicitStage))
		case res.typ == typeFunction:
			e.generateFunction(res)
		}
	}
}

func (e *evaluator) generateAPI(id, stage string) {
	value := func() string { return stage }
	e.generated[id+"Stage"], e.generated[id+stage+"Stage"], e.generated[id+".Stage"] = value, value, value
	if e.byID[id] == nil {
		e.generated[id] = func() string { return restAPIID(e.options.StackName, id) }
	}
}

func (e *evaluator) generateFunction(res *resource) {
	name := func(pattern string) func() string { return func() string { return e.expandFor(res, pattern) } }
	arn := resourceTypes[typeFunction].attributes["Arn"]
	e.generated[res.id+"Role"] = name("{stack}-{id}Role")
	e.generated[res.id+"Role.Arn"] = name("arn:{partition}:iam::{account}:role/{stack}-{id}Role")
	e.generated[res.id+".Version"] = name(arn + ":1")
	if alias := e.quiet(res.properties.get("AutoPublishAlias"), ""); alias != "" {
		e.generated[res.id+".Alias"], e.generated[res.id+"Alias"+alias] = name(arn+":"+alias), name(arn+":"+alias)
	}
	if events := res.properties.get("Events"); events != nil {
		for _, f := range events.fields {
			if typ := f.value.get("Type"); typ != nil && typ.text == eventSchedule {
				id := res.id + f.key
				given := e.quiet(f.value.get("Properties").get("Name"), "")
				e.generated[id] = func() string { return cmp.Or(given, id) }
			}
		}
	}
}

// quiet resolves a text without reporting problems: building the resource reports them.
func (e *evaluator) quiet(n *node, fallback string) string {
	if n == nil {
		return fallback
	}
	e.muted++
	defer func() { e.muted-- }()
	if text, ok := e.evalText(place{}, n); ok {
		return text
	}
	return fallback
}

// nameOf returns the physical name of a resource: the name in the template, or one that begins with the stack's name.
func (e *evaluator) nameOf(res *resource) string {
	typ := resourceTypes[res.typ]
	if res.name != "" || typ.nameProperty == "" {
		return res.name
	}
	fallback := shorten(e.options.StackName+"-"+res.id, typ.maxName)
	if typ.fallback != nil {
		fallback = typ.fallback(fallback, res.id)
	}
	n := res.properties.get(typ.nameProperty)
	at := res.at().field("Properties").field(typ.nameProperty)
	switch {
	case n == nil:
	case res.naming:
		e.add(at, n.line, "the name depends on itself")
	default:
		res.naming = true
		if value, ok := e.eval(at, n); ok && value != nil {
			if fallback = value.text; value.kind != scalar || value.text == "" {
				e.add(at, n.line, "must be a name")
			}
		}
		res.naming = false
		res.name = fallback
	}
	return fallback
}

// shorten replaces the end of a name that is too long with a digest, as CloudFormation does. 0 is no limit.
func shorten(name string, most int) string {
	if most == 0 || len(name) <= most {
		return name
	}
	const suffix = 6
	return name[:most-suffix-1] + "-" + digest(suffix, name)
}

// expand replaces {region}, {account}, {stack}, {partition} and {suffix} in a pattern.
func (e *evaluator) expand(pattern string) string {
	o := e.options
	suffix := "amazonaws.com"
	if partition(o.Region) == "aws-cn" {
		suffix = "amazonaws.com.cn"
	}
	return strings.NewReplacer("{region}", o.Region, "{account}", o.Account, "{stack}", o.StackName,
		"{partition}", partition(o.Region), "{suffix}", suffix).Replace(pattern)
}

// expandFor replaces {id}, {name}, {api}, {secret} and {queues} in a pattern, and what expand does.
func (e *evaluator) expandFor(res *resource, pattern string) string {
	name, o := e.nameOf(res), e.options
	queues := cmp.Or(strings.TrimSuffix(o.QueueEndpoint, "/"), e.expand("https://sqs.{region}.{suffix}"))
	return strings.NewReplacer("{id}", res.id, "{name}", name, "{api}", restAPIID(o.StackName, res.id),
		"{secret}", SecretARN(o.Region, o.Account, name), "{queues}", queues).Replace(e.expand(pattern))
}

// partition returns the first part of an ARN after "arn".
func partition(region string) string {
	switch {
	case strings.HasPrefix(region, "cn-"):
		return "aws-cn"
	case strings.HasPrefix(region, "us-gov-"):
		return "aws-us-gov"
	default:
		return "aws"
	}
}

// SecretARN returns the ARN of a secret. On AWS it ends with six random characters. Here they depend on the name, so
// that a template resolves to the same ARN before the secret exists, and after its data was deleted.
func SecretARN(region, account, name string) string {
	return "arn:" + partition(region) + ":secretsmanager:" + region + ":" + account + ":secret:" + name + "-" +
		digest(6, region, account, name)
}

// restAPIID returns the ten-character id of a REST API.
func restAPIID(stackName, logicalID string) string {
	return digest(10, "restapi", stackName, logicalID)
}

// digest returns n lower-case letters and digits that depend on the parts only.
func digest(n int, parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	number, _ := new(big.Int).SetString(hex.EncodeToString(sum[:]), 16)
	text := number.Text(36)
	return text[len(text)-n:]
}
