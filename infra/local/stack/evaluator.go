package stack

import (
	"encoding/base64"
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
	globals    map[string]*node // by resource type
	// generated returns the values of references to resources that SAM creates, such as "ApiStage" or "Function.Alias".
	generated map[string]func() string
	// noted are the properties without effect that notices name.
	noted map[string]bool
}

// resource is an entry of Resources, with Globals merged in.
type resource struct {
	id         string
	line       int
	typ        string
	properties *node
	metadata   *node
	condition  *node
	// name is the physical name once it is known. naming is true while it is evaluated.
	name   string
	naming bool
}

func (r *resource) at() place { return place{subject: r.id} }

func newEvaluator(file string, root *node, options Options) *evaluator {
	return &evaluator{
		problems: &problems{file: file, stackName: options.StackName}, options: options, root: root,
		parameters: map[string]*node{}, conditions: map[string]*condition{}, byID: map[string]*resource{},
		globals: map[string]*node{}, generated: map[string]func() string{}, noted: map[string]bool{},
	}
}

// intrinsic is an intrinsic function. It returns nil for AWS::NoValue, and false if it has reported a problem.
type intrinsic func(e *evaluator, at place, arg *node) (*node, bool)

// intrinsicOf returns the implementation of an intrinsic function, nil if it is not supported.
func intrinsicOf(name string) intrinsic {
	return map[string]intrinsic{
		"Ref": (*evaluator).ref, "Fn::GetAtt": (*evaluator).getAtt, "Fn::Sub": (*evaluator).sub,
		"Fn::If": (*evaluator).ifElse, "Fn::Join": (*evaluator).join, "Fn::Select": (*evaluator).pick,
		"Fn::Split": (*evaluator).split, "Fn::Base64": (*evaluator).base64, "Fn::FindInMap": (*evaluator).findInMap,
	}[name]
}

// eval resolves a value completely. It returns nil for AWS::NoValue, and false if it has reported a problem.
func (e *evaluator) eval(at place, n *node) (*node, bool) {
	if name, arg, ok := n.intrinsic(); ok {
		return e.call(at, n, name, arg)
	}
	resolved, ok := &node{kind: n.kind, line: n.line}, true
	switch n.kind {
	case scalar:
		if strings.Contains(n.text, "{{resolve:") {
			return e.fail(at, n.line, "dynamic references are %s", unsupported)
		}
		return n, true
	case list:
		for i, item := range n.items {
			value, sound := e.eval(at.index(i), item)
			if ok = ok && sound; value != nil {
				resolved.items = append(resolved.items, value)
			}
		}
	case mapping:
		for _, f := range n.fields {
			value, sound := e.eval(at.field(f.key), f.value)
			if ok = ok && sound; value != nil {
				resolved.fields = append(resolved.fields, field{f.key, f.line, value})
			}
		}
	case null:
	}
	return resolved, ok
}

// evalText resolves a value that must be a string.
func (e *evaluator) evalText(at place, n *node) (string, bool) {
	value, ok := e.eval(at, n)
	if ok && (value == nil || value.kind != scalar) {
		e.add(at, n.line, "must be a string")
		ok = false
	}
	if !ok {
		return "", false
	}
	return value.text, true
}

// fail reports a problem. It returns what an intrinsic function returns after that.
func (e *evaluator) fail(at place, line int, format string, args ...any) (*node, bool) {
	e.add(at, line, format, args...)
	return nil, false
}

// call evaluates an intrinsic function. Its value has the line of the call.
func (e *evaluator) call(at place, n *node, name string, arg *node) (*node, bool) {
	function := intrinsicOf(name)
	if function == nil {
		return e.fail(at, n.line, "%s is %s", name, unsupported)
	}
	value, ok := function(e, at, arg)
	if !ok || value == nil {
		return nil, ok
	}
	placed := *value
	placed.line = n.line
	return &placed, true
}

// reduce resolves a value only until its kind is known. The elements of a mapping or a list are not resolved.
func (e *evaluator) reduce(at place, n *node) (*node, bool) {
	for {
		name, arg, ok := n.intrinsic()
		if !ok {
			return n, true
		}
		if name != "Fn::If" {
			return e.call(at, n, name, arg)
		}
		if n, ok = e.branch(at, arg); !ok {
			return nil, false
		}
	}
}

// branch returns the branch of Fn::If that is taken, unresolved.
func (e *evaluator) branch(at place, arg *node) (*node, bool) {
	if arg.kind != list || len(arg.items) != 3 {
		return e.fail(at, arg.line, "Fn::If takes a condition and two values")
	}
	holds, ok := e.holds(at, arg.items[0])
	switch {
	case !ok:
		return nil, false
	case holds:
		return arg.items[1], true
	}
	return arg.items[2], true
}

func (e *evaluator) ifElse(at place, arg *node) (*node, bool) {
	taken, ok := e.branch(at, arg)
	if !ok {
		return nil, false
	}
	return e.eval(at, taken)
}

// args resolves the arguments of a function, which must have the given kinds.
func (e *evaluator) args(at place, arg *node, usage string, kinds ...kind) ([]*node, bool) {
	resolved, ok := e.eval(at, arg)
	if !ok {
		return nil, false
	}
	ok = resolved != nil && resolved.kind == list && len(resolved.items) == len(kinds)
	for i := 0; ok && i < len(kinds); i++ {
		ok = resolved.items[i].kind == kinds[i]
	}
	if !ok {
		e.add(at, arg.line, "%s", usage)
		return nil, false
	}
	return resolved.items, true
}

func (e *evaluator) join(at place, arg *node) (*node, bool) {
	args, ok := e.args(at, arg, "Fn::Join takes a delimiter and a list", scalar, list)
	if !ok {
		return nil, false
	}
	texts := make([]string, 0, len(args[1].items))
	for _, item := range args[1].items {
		if item.kind != scalar {
			return e.fail(at, item.line, "Fn::Join joins strings only")
		}
		texts = append(texts, item.text)
	}
	return textNode(arg.line, strings.Join(texts, args[0].text)), true
}

func (e *evaluator) pick(at place, arg *node) (*node, bool) {
	args, ok := e.args(at, arg, "Fn::Select takes an index and a list", scalar, list)
	if !ok {
		return nil, false
	}
	index, err := strconv.Atoi(args[0].text)
	if err != nil || index < 0 || index >= len(args[1].items) {
		return e.fail(at, arg.line, "Fn::Select: the list has no element %s", args[0].text)
	}
	return args[1].items[index], true
}

func (e *evaluator) split(at place, arg *node) (*node, bool) {
	args, ok := e.args(at, arg, "Fn::Split takes a delimiter and a string", scalar, scalar)
	if !ok {
		return nil, false
	}
	parts := &node{kind: list, line: arg.line}
	for _, part := range strings.Split(args[1].text, args[0].text) {
		parts.items = append(parts.items, textNode(arg.line, part))
	}
	return parts, true
}

func (e *evaluator) base64(at place, arg *node) (*node, bool) {
	text, ok := e.evalText(at, arg)
	return textNode(arg.line, base64.StdEncoding.EncodeToString([]byte(text))), ok
}

func (e *evaluator) findInMap(at place, arg *node) (*node, bool) {
	keys, ok := e.args(at, arg, "Fn::FindInMap takes a map, a first and a second key", scalar, scalar, scalar)
	if !ok {
		return nil, false
	}
	found := e.root.get("Mappings")
	for _, key := range keys {
		if found = found.get(key.text); found == nil {
			return e.fail(at, arg.line, "Fn::FindInMap: Mappings has no %s.%s.%s", keys[0].text, keys[1].text, keys[2].text)
		}
	}
	if found.kind != scalar && found.kind != list {
		return e.fail(at, arg.line, "Fn::FindInMap: the value of a mapping must be a string or a list")
	}
	return found, true
}

// sub replaces ${Name}, ${Name.Attribute} and the names of its own map. ${!Name} is a literal ${Name}.
func (e *evaluator) sub(at place, arg *node) (*node, bool) {
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
			return textNode(arg.line, out.String()), true
		}
		out.WriteString(before)
		rest = after
		if literal, escaped := strings.CutPrefix(name, "!"); escaped {
			out.WriteString("${" + literal + "}")
			continue
		}
		value, ok := e.substitute(at, text.line, name, names.get(name))
		if !ok {
			return nil, false
		}
		if value == nil || value.kind != scalar {
			return e.fail(at, text.line, "Fn::Sub: ${%s} is not a string", name)
		}
		out.WriteString(value.text)
	}
}

// substitute resolves a name in Fn::Sub. own is the value that Fn::Sub itself gives the name, nil if it gives none.
func (e *evaluator) substitute(at place, line int, name string, own *node) (*node, bool) {
	id, attribute, isAttribute := strings.Cut(name, ".")
	switch {
	case own != nil:
		return e.eval(at, own)
	case isAttribute && e.generated[name] == nil:
		return e.attribute(at, line, id, attribute)
	}
	return e.ref(at, textNode(line, name))
}
