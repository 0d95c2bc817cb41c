package stack

import (
	"strconv"
	"strings"
)

// evaluator resolves intrinsic functions.
type evaluator struct {
	*problems
	options Options
	root    *node

	parameters map[string]*node // resolved values
	conditions map[string]*condition
	resources  []*resource
	byID       map[string]*resource
	globals    *node // for functions
}

// resource is an entry of Resources, with Globals merged in.
type resource struct {
	id         string
	line       int
	typ        string
	properties *node
	condition  *node
}

func (r *resource) at() place { return place{subject: r.id} }

func newEvaluator(file string, root *node, options Options) *evaluator {
	return &evaluator{
		problems: &problems{file: file}, options: options, root: root,
		parameters: map[string]*node{}, conditions: map[string]*condition{}, byID: map[string]*resource{},
	}
}

// intrinsic resolves the call of an intrinsic function with an argument.
type intrinsic func(e *evaluator, at place, arg *node) *node

// intrinsicOf returns the implementation of an intrinsic function, nil if it is not supported.
func intrinsicOf(name string) intrinsic {
	return map[string]intrinsic{
		"Ref": (*evaluator).ref, "Fn::GetAtt": (*evaluator).getAtt, "Fn::Sub": (*evaluator).sub,
		"Fn::If": (*evaluator).ifElse, "Fn::Join": (*evaluator).join, "Fn::Select": (*evaluator).pick,
		"Fn::Split": (*evaluator).split,
	}[name]
}

// eval resolves a value completely. It returns nil for AWS::NoValue. After a problem, the value or a part of it is an
// invalid node.
func (e *evaluator) eval(at place, n *node) *node {
	if name, arg, ok := n.intrinsic(); ok {
		function := intrinsicOf(name)
		if function == nil {
			return e.fail(at, n.line, "%s is %s", name, unsupported)
		}
		value := function(e, at, arg)
		if value == nil {
			return nil
		}
		resolved := *value
		resolved.line = n.line
		return &resolved
	}
	if strings.Contains(n.text, "{{resolve:") {
		return e.fail(at, n.line, "dynamic references are %s", unsupported)
	}
	resolved := &node{kind: n.kind, line: n.line, text: n.text}
	for i, item := range n.items {
		if value := e.eval(at.index(i), item); value != nil {
			resolved.items = append(resolved.items, value)
		}
	}
	for _, f := range n.fields {
		if value := e.eval(at.field(f.key), f.value); value != nil {
			resolved.fields = append(resolved.fields, field{f.key, f.line, value})
		}
	}
	return resolved
}

// fail reports a problem and returns an invalid node.
func (e *evaluator) fail(at place, line int, format string, args ...any) *node {
	e.add(at, line, format, args...)
	return &node{kind: invalid, line: line}
}

// try resolves a value without reporting problems. Building the resource reports them.
func (e *evaluator) try(n *node) *node {
	defer func(muted bool) { e.muted = muted }(e.muted)
	e.muted = true
	return e.eval(place{}, n)
}

// tryText resolves a text without reporting problems. It returns the fallback if there is no text.
func (e *evaluator) tryText(n *node, fallback string) string {
	if n != nil {
		if value := e.try(n); value != nil && value.kind == scalar {
			return value.text
		}
	}
	return fallback
}

func (e *evaluator) ifElse(at place, arg *node) *node {
	if arg.kind != list || len(arg.items) != 3 {
		return e.fail(at, arg.line, "Fn::If takes a condition and two values")
	}
	if e.holds(at, arg.items[0]) {
		return e.eval(at, arg.items[1])
	}
	return e.eval(at, arg.items[2])
}

// args resolves the arguments of a function, which must have the given kinds. It returns nil if it has reported a
// problem.
func (e *evaluator) args(at place, arg *node, usage string, kinds ...kind) []*node {
	resolved := e.eval(at, arg)
	if resolved.isInvalid() {
		return nil
	}
	isValid := resolved != nil && resolved.kind == list && len(resolved.items) == len(kinds)
	for i := 0; isValid && i < len(kinds); i++ {
		isValid = resolved.items[i].kind == kinds[i]
	}
	if !isValid {
		e.add(at, arg.line, "%s", usage)
		return nil
	}
	return resolved.items
}

func (e *evaluator) join(at place, arg *node) *node {
	args := e.args(at, arg, "Fn::Join takes a delimiter and a list", scalar, list)
	if args == nil {
		return invalidNode
	}
	var texts []string
	for _, item := range args[1].items {
		if item.kind != scalar {
			return e.fail(at, item.line, "Fn::Join joins strings only")
		}
		texts = append(texts, item.text)
	}
	return textNode(arg.line, strings.Join(texts, args[0].text))
}

func (e *evaluator) pick(at place, arg *node) *node {
	args := e.args(at, arg, "Fn::Select takes an index and a list", scalar, list)
	if args == nil {
		return invalidNode
	}
	index, err := strconv.Atoi(args[0].text)
	if err != nil || index < 0 || index >= len(args[1].items) {
		return e.fail(at, arg.line, "Fn::Select: the list has no element %s", args[0].text)
	}
	return args[1].items[index]
}

func (e *evaluator) split(at place, arg *node) *node {
	args := e.args(at, arg, "Fn::Split takes a delimiter and a string", scalar, scalar)
	if args == nil {
		return invalidNode
	}
	parts := &node{kind: list, line: arg.line}
	for part := range strings.SplitSeq(args[1].text, args[0].text) {
		parts.items = append(parts.items, textNode(arg.line, part))
	}
	return parts
}

// sub replaces ${Name}, ${Name.Attribute} and the names of its own map. ${!Name} is a literal ${Name}.
func (e *evaluator) sub(at place, arg *node) *node {
	text, names := arg, (*node)(nil)
	if arg.kind == list && len(arg.items) == 2 {
		text, names = arg.items[0], arg.items[1]
	}
	if text.kind != scalar || names != nil && names.kind != mapping {
		return e.fail(at, arg.line, "Fn::Sub takes a string, or a string and a map")
	}
	var out strings.Builder
	for rest := text.text; ; {
		before, after, found := strings.Cut(rest, "${")
		name, after, closed := strings.Cut(after, "}")
		if !found || !closed {
			out.WriteString(rest)
			return textNode(arg.line, out.String())
		}
		out.WriteString(before)
		rest = after
		if literal, escaped := strings.CutPrefix(name, "!"); escaped {
			out.WriteString("${" + literal + "}")
			continue
		}
		value := e.substitute(at, text.line, name, names.get(name))
		if value.isInvalid() {
			return value
		}
		if value == nil || value.kind != scalar {
			return e.fail(at, text.line, "Fn::Sub: ${%s} is not a string", name)
		}
		out.WriteString(value.text)
	}
}

// substitute resolves a name in Fn::Sub. own is the name's value in the map of Fn::Sub, nil if the map has none.
func (e *evaluator) substitute(at place, line int, name string, own *node) *node {
	id, attribute, isAttribute := strings.Cut(name, ".")
	switch {
	case own != nil:
		return e.eval(at, own)
	case isAttribute && e.generated(at, name) == nil:
		return e.attribute(at, line, id, attribute)
	}
	return e.ref(at, textNode(line, name))
}
