package stack

import (
	"strconv"
	"strings"
)

// support says what the platform does with a property.
type support uint8

const (
	// refused is also what a property is that no table names.
	refused support = iota
	// runs is a property that the platform acts upon.
	runs
	// inert is a property without effect on a laptop: it is accepted and not looked at.
	inert
)

// object reads the properties of a mapping, resolving each when it is asked for.
type object struct {
	r  *resolver
	at place
	n  *node // nil where the object is absent
	// origin is the line of what the object stands in, or should.
	origin int
}

// object checks a mapping's keys against what is supported. What is refused may still stand there if it resolves to AWS::NoValue.
func (r *resolver) object(at place, n *node, known map[string]support) object {
	o := r.anyObject(at, n)
	if o.n == nil {
		return o
	}
	for _, f := range o.n.fields {
		if known[f.key] != refused {
			continue
		}
		if value, ok := r.reduce(at.field(f.key), f.value); ok && value == nil {
			continue
		}
		r.add(at.field(f.key), f.line, unsupported)
	}
	return o
}

// anyObject is object for mappings whose keys are free.
func (r *resolver) anyObject(at place, n *node) object {
	reduced, ok := r.reduce(at, n)
	if !ok || reduced == nil || reduced.kind == null {
		return object{r: r, at: at}
	}
	if reduced.kind != mapping {
		r.add(at, reduced.line, "must be a mapping")
		return object{r: r, at: at}
	}
	return object{r: r, at: at, n: reduced}
}

// line is where a property stands, or where its object does.
func (o object) line(name string) int {
	if o.n == nil {
		return o.origin
	}
	for _, f := range o.n.fields {
		if f.key == name {
			return f.line
		}
	}
	return o.n.line
}

func (o object) problem(name, format string, args ...any) {
	o.r.add(o.at.field(name), o.line(name), format, args...)
}

// value gives a property fully resolved; nil where it is absent or a problem was reported.
func (o object) value(name string) *node {
	n := o.n.get(name)
	if n == nil {
		return nil
	}
	resolved, ok := o.r.eval(o.at.field(name), n)
	if !ok || resolved == nil || resolved.kind == null {
		return nil
	}
	return resolved
}

// has tells whether a property is there under the template's conditions.
func (o object) has(name string) bool {
	n := o.n.get(name)
	if n == nil {
		return false
	}
	reduced, ok := o.r.reduce(o.at.field(name), n)
	return ok && reduced != nil && reduced.kind != null
}

func (o object) text(name, fallback string) string {
	n := o.value(name)
	if n == nil {
		return fallback
	}
	if n.kind != scalar {
		o.problem(name, "must be a string")
		return fallback
	}
	return n.text
}

// required is text that must be there and not empty.
func (o object) required(name string) string {
	if o.n.get(name) == nil {
		o.problem(name, "is missing")
		return ""
	}
	before := o.r.found
	text := o.text(name, "")
	if text == "" && o.r.found == before {
		o.problem(name, "must not be empty")
	}
	return text
}

func (o object) oneOf(name, fallback string, allowed ...string) string {
	text := o.text(name, fallback)
	for _, candidate := range allowed {
		if text == candidate {
			return text
		}
	}
	o.problem(name, "%q is %s, which knows %s", text, unsupported, strings.Join(allowed, ", "))
	return fallback
}

func (o object) integer(name string, fallback, lowest, highest int) int {
	text := o.text(name, strconv.Itoa(fallback))
	number, err := strconv.Atoi(text)
	if err != nil || number < lowest || number > highest {
		o.problem(name, "%q must be a whole number between %d and %d", text, lowest, highest)
		return fallback
	}
	return number
}

// number reads a number where one is given.
func (o object) number(name string) (float64, bool) {
	n := o.value(name)
	if n == nil {
		return 0, false
	}
	number, err := strconv.ParseFloat(n.text, 64)
	if err != nil || n.kind != scalar {
		o.problem(name, "must be a number")
		return 0, false
	}
	return number, true
}

func (o object) boolean(name string, fallback bool) bool {
	switch text := o.text(name, strconv.FormatBool(fallback)); text {
	case "true":
		return true
	case "false":
		return false
	default:
		o.problem(name, "%q must be true or false", text)
		return fallback
	}
}

// items gives a list's elements, each still to be resolved, and where they stand.
func (o object) items(name string) []*node {
	n := o.n.get(name)
	if n == nil {
		return nil
	}
	reduced, ok := o.r.reduce(o.at.field(name), n)
	if !ok || reduced == nil || reduced.kind == null {
		return nil
	}
	if reduced.kind != list {
		o.problem(name, "must be a list")
		return nil
	}
	return reduced.items
}

// texts gives a list of strings; nil where it is absent.
func (o object) texts(name string) []string {
	n := o.value(name)
	if n == nil {
		return nil
	}
	if n.kind != list {
		o.problem(name, "must be a list")
		return nil
	}
	texts := make([]string, 0, len(n.items))
	for i, item := range n.items {
		if item.kind != scalar {
			o.r.add(o.at.field(name).index(i), item.line, "must be a string")
			continue
		}
		texts = append(texts, item.text)
	}
	return texts
}

// textMap gives a mapping of strings with free keys; nil where it is absent.
func (o object) textMap(name string) map[string]string {
	if o.n.get(name) == nil {
		return nil
	}
	inner := o.r.anyObject(o.at.field(name), o.n.get(name))
	if inner.n == nil {
		return nil
	}
	texts := make(map[string]string, len(inner.n.fields))
	for _, f := range inner.n.fields {
		value := inner.value(f.key)
		switch {
		case value == nil:
		case value.kind != scalar:
			inner.problem(f.key, "must be a string")
		default:
			texts[f.key] = value.text
		}
	}
	return texts
}

// object reads a property that is itself a mapping; an absent one has no properties.
func (o object) object(name string, known map[string]support) object {
	inner := o.r.object(o.at.field(name), o.n.get(name), known)
	inner.origin = o.line(name)
	return inner
}
