package stack

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"strconv"
)

// document reads a property that CloudFormation takes as a mapping or as the text of a JSON object.
func (o object) document(name string, known map[string]support) object {
	n := o.n.get(name)
	reduced, ok := o.r.reduce(o.at.field(name), n)
	if !ok || reduced == nil || reduced.kind != scalar {
		return o.object(name, known)
	}
	var parsed map[string]any
	decoder := json.NewDecoder(bytes.NewReader([]byte(o.text(name, ""))))
	decoder.UseNumber()
	err := decoder.Decode(&parsed)
	if _, behind := decoder.Token(); err != nil || parsed == nil || !errors.Is(behind, io.EOF) {
		o.problem(name, "must be a mapping or the text of a JSON object")
		return object{r: o.r, at: o.at.field(name), origin: o.line(name)}
	}
	inner := o.r.object(o.at.field(name), jsonNode(o.line(name), parsed), known)
	inner.origin = o.line(name)
	return inner
}

// jsonNode turns a decoded JSON value into a piece of a template on one line.
func jsonNode(line int, value any) *node {
	switch value := value.(type) {
	case string:
		return textNode(line, value)
	case json.Number:
		return &node{kind: scalar, line: line, tag: "!!float", text: value.String()}
	case bool:
		return &node{kind: scalar, line: line, tag: "!!bool", text: strconv.FormatBool(value)}
	case []any:
		n := &node{kind: list, line: line}
		for _, item := range value {
			n.items = append(n.items, jsonNode(line, item))
		}
		return n
	case map[string]any:
		n := &node{kind: mapping, line: line}
		for _, key := range slices.Sorted(maps.Keys(value)) {
			n.fields = append(n.fields, field{key, line, jsonNode(line, value[key])})
		}
		return n
	default:
		return &node{line: line}
	}
}
