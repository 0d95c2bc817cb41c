package stack

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

var parameterAttributes = map[string]support{
	"Type": runs, "Default": runs, "AllowedValues": runs, "AllowedPattern": runs, "ConstraintDescription": runs, "NoEcho": runs,
	"MinLength": runs, "MaxLength": runs, "MinValue": runs, "MaxValue": runs, "Description": inert,
}

// parameterType matches the types whose values CloudFormation takes as they are given; those of AWS resources are
// checked against the account only, which there is none of here. SSM parameter types need a value from AWS.
var parameterType = regexp.MustCompile(`^(String|Number|CommaDelimitedList|List<Number>|(List<)?AWS::[A-Za-z0-9]+::[A-Za-z0-9]+::(Id|Name|KeyName|GroupName)>?|AWS::EC2::KeyPair::KeyName)$`)

func (r *resolver) loadParameters() {
	declared := map[string]bool{}
	for _, f := range r.section("Parameters") {
		declared[f.key] = true
		at := place{subject: "Parameters", path: f.key}
		if !logicalID.MatchString(f.key) {
			r.add(at, f.line, "a logical id has letters and digits only, 255 at most")
			continue
		}
		r.parameters[f.key] = r.parameter(at, f)
	}
	for _, name := range slices.Sorted(maps.Keys(r.options.Parameters)) {
		if !declared[name] {
			r.add(place{subject: "Parameters", path: name}, r.root.line, "a value was given, but the template has no such parameter")
		}
	}
}

// parameter gives the value of one parameter. After a problem it gives an empty one, so that the rest can be looked at.
func (r *resolver) parameter(at place, f field) *node {
	declaration := r.object(at, f.value, parameterAttributes)
	typ := declaration.text("Type", "")
	empty := textNode(f.line, "")
	if !parameterType.MatchString(typ) {
		r.add(at.field("Type"), f.line, "type %q is %s", typ, unsupported)
		return empty
	}
	text, given := r.options.Parameters[f.key]
	if !given {
		text, given = r.options.Defaults[f.key]
	}
	if !given {
		value := declaration.value("Default")
		if value == nil || value.kind != scalar {
			r.add(at, f.line, "has no default, and no value was given")
			return empty
		}
		text = value.text
	}
	values := []string{text}
	isList := typ == "CommaDelimitedList" || strings.HasPrefix(typ, "List<")
	if isList {
		values = strings.Split(text, ",")
	}
	for i := range values {
		if isList {
			values[i] = strings.TrimSpace(values[i])
		}
		if complaint := declaration.refuses(typ, values[i]); complaint != "" {
			r.add(at, f.line, "%s", declaration.explain(values[i], complaint))
			return empty
		}
	}
	if !isList {
		return textNode(f.line, text)
	}
	n := &node{kind: list, line: f.line}
	for _, value := range values {
		n.items = append(n.items, textNode(f.line, value))
	}
	return n
}

// refuses says what a parameter's declaration has against a value; nothing is "".
func (o object) refuses(typ, value string) string {
	if typ == "Number" || typ == "List<Number>" {
		number, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return "is not a number"
		}
		if lowest, ok := o.number("MinValue"); ok && number < lowest {
			return "is below MinValue"
		}
		if highest, ok := o.number("MaxValue"); ok && number > highest {
			return "is above MaxValue"
		}
	} else {
		length := float64(utf8.RuneCountInString(value))
		if least, ok := o.number("MinLength"); ok && length < least {
			return "is shorter than MinLength"
		}
		if most, ok := o.number("MaxLength"); ok && length > most {
			return "is longer than MaxLength"
		}
	}
	if allowed := o.texts("AllowedValues"); allowed != nil && !slices.Contains(allowed, value) {
		return "is none of AllowedValues (" + strings.Join(allowed, ", ") + ")"
	}
	if pattern := o.text("AllowedPattern", ""); pattern != "" {
		expression, err := regexp.Compile(`^(?:` + pattern + `)$`)
		if err != nil {
			return "can't be checked: AllowedPattern uses what Go's regular expressions can't do"
		}
		if !expression.MatchString(value) {
			return "doesn't match AllowedPattern " + pattern
		}
	}
	return ""
}

// explain builds the message; a NoEcho value doesn't stand in it.
func (o object) explain(value, complaint string) string {
	message := "the value " + complaint
	if !o.boolean("NoEcho", false) {
		message = "the value " + strconv.Quote(value) + " " + complaint
	}
	if description := o.text("ConstraintDescription", ""); description != "" {
		message += ": " + description
	}
	return message
}
