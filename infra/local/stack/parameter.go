package stack

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// parameter is a declaration in the section Parameters.
type parameter struct {
	object `ignored:"Description"`

	Type               string `cfn:",required,oneof=String|Number"`
	Default            *string
	AllowedValues      []string
	AllowedPattern     string
	MinValue, MaxValue *int `cfn:",min=-2147483648,max=2147483647"`
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
	text, given := e.options.Parameters[f.key]
	if !given {
		text, given = e.options.Defaults[f.key]
	}
	switch {
	case given:
	case p.Default == nil:
		e.add(at, f.line, "has no default, and no value was given")
		return nil
	default:
		text = *p.Default
	}
	if problem := p.check(text); problem != "" {
		e.add(at, f.line, "the value %q %s", text, problem)
		return nil
	}
	return textNode(f.line, text)
}

// check returns why a value is not valid, "" if it is valid.
func (p parameter) check(value string) string {
	if p.Type == "Number" {
		number, err := strconv.Atoi(value)
		switch {
		case err != nil:
			return "is not a whole number"
		case p.MinValue != nil && number < *p.MinValue:
			return "is below MinValue"
		case p.MaxValue != nil && number > *p.MaxValue:
			return "is above MaxValue"
		}
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
