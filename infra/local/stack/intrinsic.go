package stack

import (
	"encoding/base64"
	"strconv"
	"strings"
)

// intrinsic works out a function's value: nil for AWS::NoValue, and false where a problem was reported.
type intrinsic func(r *resolver, at place, arg *node) (*node, bool)

// intrinsics are the functions that can be worked out here.
func intrinsics() map[string]intrinsic {
	return map[string]intrinsic{
		"Ref": (*resolver).ref, "Fn::GetAtt": (*resolver).getAtt, "Fn::Sub": (*resolver).sub, "Fn::If": (*resolver).ifElse,
		"Fn::Join": (*resolver).join, "Fn::Select": (*resolver).pick, "Fn::Split": (*resolver).split,
		"Fn::Base64": (*resolver).base64, "Fn::FindInMap": (*resolver).findInMap,
	}
}

// eval resolves a value completely. nil is AWS::NoValue.
func (r *resolver) eval(at place, n *node) (*node, bool) {
	if name, arg, ok := n.intrinsic(); ok {
		return r.call(at, n, name, arg)
	}
	switch n.kind {
	case scalar:
		if strings.Contains(n.text, "{{resolve:") {
			r.add(at, n.line, "dynamic references are %s", unsupported)
			return nil, false
		}
		return n, true
	case list:
		return r.evalList(at, n)
	case mapping:
		resolved, sound := &node{kind: mapping, line: n.line}, true
		for _, f := range n.fields {
			value, ok := r.eval(at.field(f.key), f.value)
			sound = sound && ok
			if value != nil {
				resolved.fields = append(resolved.fields, field{f.key, f.line, value})
			}
		}
		return resolved, sound
	default:
		return n, true
	}
}

func (r *resolver) evalList(at place, n *node) (*node, bool) {
	resolved, sound := &node{kind: list, line: n.line}, true
	for i, item := range n.items {
		value, ok := r.eval(at.index(i), item)
		sound = sound && ok
		if value != nil {
			resolved.items = append(resolved.items, value)
		}
	}
	return resolved, sound
}

// call runs an intrinsic function; its value takes the line of the call.
func (r *resolver) call(at place, n *node, name string, arg *node) (*node, bool) {
	function := r.intrinsics[name]
	if function == nil {
		r.add(at, n.line, "%s is %s", name, unsupported)
		return nil, false
	}
	value, ok := function(r, at, arg)
	if !ok || value == nil {
		return nil, ok
	}
	placed := *value
	placed.line = n.line
	return &placed, true
}

// reduce resolves a value only so far that its kind is known: what is inside a mapping or a list is left alone.
func (r *resolver) reduce(at place, n *node) (*node, bool) {
	for {
		name, arg, ok := n.intrinsic()
		if !ok {
			return n, true
		}
		if name != "Fn::If" {
			return r.call(at, n, name, arg)
		}
		if n, ok = r.branch(at, arg); !ok {
			return nil, false
		}
	}
}

// branch gives the branch of Fn::If that is taken, unresolved.
func (r *resolver) branch(at place, arg *node) (*node, bool) {
	if arg.kind != list || len(arg.items) != 3 {
		r.add(at, arg.line, "Fn::If takes a condition and two values")
		return nil, false
	}
	holds, ok := r.holds(at, arg.items[0])
	if !ok {
		return nil, false
	}
	if holds {
		return arg.items[1], true
	}
	return arg.items[2], true
}

func (r *resolver) ifElse(at place, arg *node) (*node, bool) {
	taken, ok := r.branch(at, arg)
	if !ok {
		return nil, false
	}
	return r.eval(at, taken)
}

// args resolves the arguments of a function that takes a list of so many.
func (r *resolver) args(at place, function string, arg *node, count int) ([]*node, bool) {
	if arg.kind != list || len(arg.items) != count {
		r.add(at, arg.line, "%s takes a list of %d values", function, count)
		return nil, false
	}
	resolved := make([]*node, count)
	for i, item := range arg.items {
		value, ok := r.eval(at, item)
		if !ok {
			return nil, false
		}
		if value == nil {
			value = &node{line: item.line}
		}
		resolved[i] = value
	}
	return resolved, true
}

func (r *resolver) join(at place, arg *node) (*node, bool) {
	args, ok := r.args(at, "Fn::Join", arg, 2)
	if !ok {
		return nil, false
	}
	if args[0].kind != scalar || args[1].kind != list {
		r.add(at, arg.line, "Fn::Join takes a delimiter and a list")
		return nil, false
	}
	texts := make([]string, 0, len(args[1].items))
	for _, item := range args[1].items {
		if item.kind != scalar {
			r.add(at, item.line, "Fn::Join joins strings only")
			return nil, false
		}
		texts = append(texts, item.text)
	}
	return textNode(arg.line, strings.Join(texts, args[0].text)), true
}

func (r *resolver) pick(at place, arg *node) (*node, bool) {
	args, ok := r.args(at, "Fn::Select", arg, 2)
	if !ok {
		return nil, false
	}
	index, err := strconv.Atoi(args[0].text)
	if err != nil || args[1].kind != list {
		r.add(at, arg.line, "Fn::Select takes an index and a list")
		return nil, false
	}
	if index < 0 || index >= len(args[1].items) {
		r.add(at, arg.line, "Fn::Select: the list has no element %d", index)
		return nil, false
	}
	return args[1].items[index], true
}

func (r *resolver) split(at place, arg *node) (*node, bool) {
	args, ok := r.args(at, "Fn::Split", arg, 2)
	if !ok {
		return nil, false
	}
	if args[0].kind != scalar || args[1].kind != scalar || args[0].text == "" {
		r.add(at, arg.line, "Fn::Split takes a delimiter and a string")
		return nil, false
	}
	parts := &node{kind: list, line: arg.line}
	for _, part := range strings.Split(args[1].text, args[0].text) {
		parts.items = append(parts.items, textNode(arg.line, part))
	}
	return parts, true
}

func (r *resolver) base64(at place, arg *node) (*node, bool) {
	value, ok := r.eval(at, arg)
	if !ok {
		return nil, false
	}
	if value == nil || value.kind != scalar {
		r.add(at, arg.line, "Fn::Base64 takes a string")
		return nil, false
	}
	return textNode(arg.line, base64.StdEncoding.EncodeToString([]byte(value.text))), true
}

func (r *resolver) findInMap(at place, arg *node) (*node, bool) {
	args, ok := r.args(at, "Fn::FindInMap", arg, 3)
	if !ok {
		return nil, false
	}
	found := r.root.get("Mappings")
	for _, key := range args {
		if key.kind != scalar {
			r.add(at, key.line, "Fn::FindInMap takes a map, a first and a second key")
			return nil, false
		}
		if found = found.get(key.text); found == nil {
			r.add(at, arg.line, "Fn::FindInMap: there is no %s in Mappings (%s.%s.%s)", key.text, args[0].text, args[1].text, args[2].text)
			return nil, false
		}
	}
	if found.kind != scalar && found.kind != list {
		r.add(at, arg.line, "Fn::FindInMap: a mapping's value must be a string or a list")
		return nil, false
	}
	return found, true
}

// sub replaces ${Name}, ${Name.Attribute} and the names of its own map.
func (r *resolver) sub(at place, arg *node) (*node, bool) {
	text, names, ok := r.subArgs(at, arg)
	if !ok {
		return nil, false
	}
	var out strings.Builder
	for _, piece := range substitutions(text.text) {
		if piece.name == "" {
			out.WriteString(piece.literal)
			continue
		}
		var value *node
		if own := names.get(piece.name); own != nil {
			value, ok = r.eval(at, own)
		} else if id, attribute, isAttribute := strings.Cut(piece.name, "."); isAttribute && !r.generated(piece.name) {
			value, ok = r.attribute(at, text.line, id, attribute)
		} else {
			value, ok = r.ref(at, textNode(text.line, piece.name))
		}
		if !ok {
			return nil, false
		}
		if value == nil || value.kind != scalar {
			r.add(at, text.line, "Fn::Sub: ${%s} is not a string", piece.name)
			return nil, false
		}
		out.WriteString(value.text)
	}
	return textNode(arg.line, out.String()), true
}

// subArgs takes the two forms of Fn::Sub apart: a string, or a string and a map.
func (r *resolver) subArgs(at place, arg *node) (text, names *node, ok bool) {
	switch {
	case arg.kind == scalar:
		return arg, nil, true
	case arg.kind == list && len(arg.items) == 2 && arg.items[0].kind == scalar && arg.items[1].kind == mapping:
		return arg.items[0], arg.items[1], true
	}
	r.add(at, arg.line, "Fn::Sub takes a string, or a string and a map")
	return nil, nil, false
}

// substitution is a piece of Fn::Sub's string: literal text, or the name that stood in ${}.
type substitution struct{ literal, name string }

// substitutions takes a string apart; ${!Name} stands for a literal ${Name}.
func substitutions(text string) []substitution {
	var pieces []substitution
	for {
		before, rest, found := strings.Cut(text, "${")
		name, after, closed := strings.Cut(rest, "}")
		if !found || !closed {
			return append(pieces, substitution{literal: text})
		}
		pieces = append(pieces, substitution{literal: before})
		if literal, escaped := strings.CutPrefix(name, "!"); escaped {
			pieces = append(pieces, substitution{literal: "${" + literal + "}"})
		} else {
			pieces = append(pieces, substitution{name: name})
		}
		text = after
	}
}
