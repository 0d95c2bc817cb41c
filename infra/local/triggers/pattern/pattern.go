package pattern

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
)

// Pattern is a parsed pattern. It may be used concurrently.
type Pattern struct{ root object }

// object is the pattern of a JSON object: all fields match, and one alternative of each "$or".
type object struct {
	fields       []field
	alternatives [][]object
}

// field is the pattern of a field: either nested, or the rest.
type field struct {
	name   string
	nested *object
	tests  []test // one of them accepts one of the leaves
	absent bool   // or there is no leaf
}

// test reports whether it accepts a leaf: a string, json.Number, bool or nil.
type test func(leaf any) bool

// Match reports whether an event matches. The event is JSON as encoding/json decodes it with UseNumber: map[string]any,
// []any, string, json.Number, bool and nil. Numbers of other types match nothing.
func (p *Pattern) Match(event any) bool {
	here, _ := event.(map[string]any)
	return p.root.match(here, []map[string]any{here})
}

// match reports whether an object of the event matches. everywhere holds all objects at the same path. There
// are several if the path leads through arrays. A field that must be absent must be absent from each of them.
func (o *object) match(here map[string]any, everywhere []map[string]any) bool {
	for i := range o.fields {
		if !o.fields[i].match(here, everywhere) {
			return false
		}
	}
	for _, alternatives := range o.alternatives {
		if !slices.ContainsFunc(alternatives, func(a object) bool { return a.match(here, everywhere) }) {
			return false
		}
	}
	return true
}

func (f *field) match(here map[string]any, everywhere []map[string]any) bool {
	objects, leaves := f.values(here)
	if f.nested == nil {
		return f.matchLeaf(leaves, everywhere)
	}
	var all []map[string]any
	for _, o := range everywhere {
		more, _ := f.values(o)
		all = append(all, more...)
	}
	if len(objects) == 0 { // the pattern may only require that fields are absent
		return f.nested.match(nil, all)
	}
	return slices.ContainsFunc(objects, func(o map[string]any) bool { return f.nested.match(o, all) })
}

func (f *field) matchLeaf(leaves []any, everywhere []map[string]any) bool {
	for _, leaf := range leaves {
		if slices.ContainsFunc(f.tests, func(accepts test) bool { return accepts(leaf) }) {
			return true
		}
	}
	return f.absent && !slices.ContainsFunc(everywhere, func(o map[string]any) bool {
		_, found := f.values(o)
		return len(found) > 0
	})
}

// values returns the values of the field in an object. The elements of arrays are values of their own.
func (f *field) values(o map[string]any) (objects []map[string]any, leaves []any) {
	value, found := o[f.name]
	if found {
		flatten(value, &objects, &leaves)
	}
	return objects, leaves
}

func flatten(value any, objects *[]map[string]any, leaves *[]any) {
	switch v := value.(type) {
	case map[string]any:
		*objects = append(*objects, v)
	case []any:
		for _, element := range v {
			flatten(element, objects, leaves)
		}
	default:
		*leaves = append(*leaves, v)
	}
}

func equals(want any) test {
	return func(leaf any) bool { return leaf == want }
}

// textTests are the tests of strings by their operators, foldTests those with the operand {"equals-ignore-case": x}.
var (
	textTests = map[string]func(s, operand string) bool{
		"prefix": strings.HasPrefix, "suffix": strings.HasSuffix, "equals-ignore-case": strings.EqualFold,
	}
	foldTests = map[string]func(s, operand string) bool{
		"prefix": func(s, prefix string) bool {
			all, n := []rune(s), len([]rune(prefix))
			return n <= len(all) && strings.EqualFold(string(all[:n]), prefix)
		},
		"suffix": func(s, suffix string) bool {
			all, n := []rune(s), len([]rune(suffix))
			return n <= len(all) && strings.EqualFold(string(all[len(all)-n:]), suffix)
		},
	}
)

// onText returns a test that accepts strings only.
func onText(accepts func(s, operand string) bool, operand string) test {
	return func(leaf any) bool {
		s, ok := leaf.(string)
		return ok && accepts(s, operand)
	}
}

// maxNumber limits the numbers that numeric compares, as on AWS.
const maxNumber = 5e9

// comparison is an operator of numeric with its operand.
type comparison struct {
	operator string
	operand  float64
}

var operators = map[string]func(a, b float64) bool{
	"=":  func(a, b float64) bool { return a == b },
	"<":  func(a, b float64) bool { return a < b },
	"<=": func(a, b float64) bool { return a <= b },
	">":  func(a, b float64) bool { return a > b },
	">=": func(a, b float64) bool { return a >= b },
}

func numeric(comparisons []comparison) test {
	return func(leaf any) bool {
		n, ok := leaf.(json.Number)
		if !ok {
			return false
		}
		value, err := n.Float64()
		return err == nil && math.Abs(value) <= maxNumber && !slices.ContainsFunc(comparisons, func(c comparison) bool {
			return !operators[c.operator](value, c.operand)
		})
	}
}
