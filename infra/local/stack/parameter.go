package stack

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// parameterType matches types whose values CloudFormation does not look up. CloudFormation compares values of the types
// of AWS resources with the account, which does not exist here. Types of SSM parameters need a value from AWS.
var parameterType = regexp.MustCompile(`^(String|Number|CommaDelimitedList|List<Number>|` +
	`(List<)?AWS::[A-Za-z0-9]+::[A-Za-z0-9]+::(Id|Name|KeyName|GroupName)>?|AWS::EC2::KeyPair::KeyName)$`)

// parameter is a declaration in the section Parameters.
type parameter struct {
	object `ignored:"Description"`

	Type                                     string
	Default                                  *string
	AllowedValues                            []string
	AllowedPattern, ConstraintDescription    string
	NoEcho                                   bool
	MinLength, MaxLength, MinValue, MaxValue *float64
}

func (e *evaluator) loadParameters() {
	for _, f := range e.section("Parameters") {
		at := place{subject: "Parameters", path: f.key}
		if !logicalID.MatchString(f.key) {
			e.add(at, f.line, logicalIDRule)
			continue
		}
		// After a problem the value is empty, so that the rest can be checked.
		e.parameters[f.key] = textNode(f.line, "")
		if value := e.parameterValue(at, f); value != nil {
			e.parameters[f.key] = value
		}
	}
	for _, name := range slices.Sorted(maps.Keys(e.options.Parameters)) {
		if e.parameters[name] == nil {
			e.add(place{subject: "Parameters", path: name}, e.root.line,
				"a value was given, but the template does not have this parameter")
		}
	}
}

// parameterValue returns the value of a parameter, nil if it is not valid.
func (e *evaluator) parameterValue(at place, f field) *node {
	var p parameter
	e.decode(at, f.line, f.value, &p)
	if !parameterType.MatchString(p.Type) {
		e.add(at.field("Type"), f.line, "type %q is %s", p.Type, unsupported)
		return nil
	}
	text, given := e.options.Parameters[f.key]
	if !given {
		text, given = e.options.Defaults[f.key]
	}
	if !given {
		if p.Default == nil {
			e.add(at, f.line, "has no default, and no value was given")
			return nil
		}
		text = *p.Default
	}
	values, isList := []string{text}, p.Type == "CommaDelimitedList" || strings.HasPrefix(p.Type, "List<")
	if isList {
		values = strings.Split(text, ",")
	}
	n := &node{kind: list, line: f.line}
	for _, value := range values {
		if isList {
			value = strings.TrimSpace(value)
		}
		if problem := p.check(value); problem != "" {
			e.add(at, f.line, "%s", p.explain(value, problem))
			return nil
		}
		n.items = append(n.items, textNode(f.line, value))
	}
	if !isList {
		return n.items[0]
	}
	return n
}

// check returns why a value is not valid, "" if it is valid.
func (p parameter) check(value string) string {
	below := func(bound *float64, number float64) bool { return bound != nil && number < *bound }
	above := func(bound *float64, number float64) bool { return bound != nil && number > *bound }
	length := float64(utf8.RuneCountInString(value))
	if p.Type == "Number" || p.Type == "List<Number>" {
		number, err := strconv.ParseFloat(value, 64)
		switch {
		case err != nil:
			return "is not a number"
		case below(p.MinValue, number):
			return "is below MinValue"
		case above(p.MaxValue, number):
			return "is above MaxValue"
		}
	} else if below(p.MinLength, length) {
		return "is shorter than MinLength"
	} else if above(p.MaxLength, length) {
		return "is longer than MaxLength"
	}
	if p.AllowedValues != nil && !slices.Contains(p.AllowedValues, value) {
		return "is not one of AllowedValues (" + strings.Join(p.AllowedValues, ", ") + ")"
	}
	if p.AllowedPattern != "" {
		expression, err := regexp.Compile(`^(?:` + p.AllowedPattern + `)$`)
		if err != nil {
			return "can't be checked: AllowedPattern is not a regular expression of Go"
		}
		if !expression.MatchString(value) {
			return "does not match AllowedPattern " + p.AllowedPattern
		}
	}
	return ""
}

// explain returns the message about a value. It does not contain a NoEcho value.
func (p parameter) explain(value, problem string) string {
	message := "the value " + problem
	if !p.NoEcho {
		message = "the value " + strconv.Quote(value) + " " + problem
	}
	if p.ConstraintDescription != "" {
		message += ": " + p.ConstraintDescription
	}
	return message
}
