package stack

import (
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

type kind uint8

const (
	null kind = iota
	scalar
	list
	mapping
	invalid // a problem was reported
)

// node is a value in a template, YAML or JSON. Intrinsic functions are in their long form.
type node struct {
	kind kind
	line int
	// text is the value of a scalar, as CloudFormation passes it on: every scalar becomes a string.
	text   string
	items  []*node
	fields []field
}

type field struct {
	key   string
	line  int
	value *node
}

// find returns a field of a mapping, nil if there is none.
func (n *node) find(key string) *field {
	if n == nil {
		return nil
	}
	if i := slices.IndexFunc(n.fields, func(f field) bool { return f.key == key }); i >= 0 {
		return &n.fields[i]
	}
	return nil
}

// get returns the value of a field, nil if there is none.
func (n *node) get(key string) *node {
	if f := n.find(key); f != nil {
		return f.value
	}
	return nil
}

// isInvalid reports whether a problem was reported for the value or a part of it.
func (n *node) isInvalid() bool {
	return n != nil && (n.kind == invalid || slices.ContainsFunc(n.items, (*node).isInvalid) ||
		slices.ContainsFunc(n.fields, func(f field) bool { return f.value.isInvalid() }))
}

var invalidNode = &node{kind: invalid}

func textNode(line int, text string) *node {
	return &node{kind: scalar, line: line, text: text}
}

// intrinsic returns the name and the argument of the intrinsic function that n calls. ok is false if n calls none.
func (n *node) intrinsic() (name string, arg *node, ok bool) {
	if n == nil || n.kind != mapping || len(n.fields) != 1 {
		return "", nil, false
	}
	f := n.fields[0]
	if f.key != "Ref" && !strings.HasPrefix(f.key, "Fn::") {
		return "", nil, false
	}
	return f.key, f.value, true
}

// parser converts YAML, and reports features of YAML that CloudFormation does not support.
type parser struct{ *problems }

func (p parser) convert(at place, y *yaml.Node) *node {
	if y.Kind == yaml.AliasNode {
		p.add(at, y.Line, "YAML aliases are not supported by CloudFormation")
		return &node{line: y.Line}
	}
	if strings.HasPrefix(y.Tag, "!") && !strings.HasPrefix(y.Tag, "!!") {
		return p.shortForm(at, y)
	}
	switch y.Kind {
	case yaml.SequenceNode:
		n := &node{kind: list, line: y.Line}
		for i, item := range y.Content {
			n.items = append(n.items, p.convert(at.index(i), item))
		}
		return n
	case yaml.MappingNode:
		return p.mapping(at, y)
	case yaml.ScalarNode:
		return p.scalar(y)
	default:
		p.add(at, y.Line, "is not a valid value")
		return &node{line: y.Line}
	}
}

func (p parser) mapping(at place, y *yaml.Node) *node {
	n := &node{kind: mapping, line: y.Line}
	for i := 0; i+1 < len(y.Content); i += 2 {
		key, value := y.Content[i], y.Content[i+1]
		inside := at.field(key.Value)
		switch {
		case key.Kind != yaml.ScalarNode:
			p.add(at, key.Line, "a key must be a string")
			continue
		case key.Tag == "!!merge":
			p.add(at, key.Line, "YAML merge keys are not supported by CloudFormation")
			continue
		case n.get(key.Value) != nil:
			p.add(inside, key.Line, "is defined twice")
			continue
		}
		n.fields = append(n.fields, field{key.Value, key.Line, p.convert(inside, value)})
	}
	return n
}

func (p parser) scalar(y *yaml.Node) *node {
	n := &node{kind: scalar, line: y.Line, text: y.Value}
	switch y.Tag {
	case "!!null":
		return &node{line: y.Line}
	case "!!bool":
		n.text = strings.ToLower(y.Value)
	case "!!int":
		var number int64
		if y.Decode(&number) == nil {
			n.text = strconv.FormatInt(number, 10)
		}
	}
	return n
}

// shortForm converts !Name x to the long form.
func (p parser) shortForm(at place, y *yaml.Node) *node {
	name := y.Tag[1:]
	plain := *y
	plain.Tag = ""
	plain.Tag = plain.ShortTag() // the tag of the value without !Name
	arg := p.convert(at, &plain)
	switch {
	case name == "Ref" || name == "Condition":
	case name == "GetAtt" && arg.kind == scalar:
		id, attribute, _ := strings.Cut(arg.text, ".")
		arg = &node{kind: list, line: arg.line, items: []*node{textNode(arg.line, id), textNode(arg.line, attribute)}}
		name = "Fn::GetAtt"
	default:
		name = "Fn::" + name
	}
	return &node{kind: mapping, line: y.Line, fields: []field{{name, y.Line, arg}}}
}
