// Package pattern implements event filters: the patterns in the FilterCriteria of an event source mapping.
//
// A pattern is a JSON object in the shape of the event. All of its fields must match. Each leaf is an array, and one
// element of this array must match: a string, a number, true, false or null, which must be equal, or {"exists": true}
// or {"exists": false}. If the event has an array, one of its elements must match. exists applies to leaves only: for
// an object, {"exists": false} matches. Numbers are compared as they are written, as Lambda documents: 300 and 300.0
// differ.
// Other operators of AWS (prefix, numeric, anything-but, $or and others), and objects in arrays of the event, are not
// supported: a pattern with another operator is an error.
//
// https://docs.aws.amazon.com/lambda/latest/dg/invocation-eventfiltering.html
//
// The package must not know the events of a certain source, such as DynamoDB.
package pattern

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// Pattern is a parsed pattern. It may be used concurrently.
type Pattern struct{ fields []field }

// field is the pattern of a field: either nested is set, or a leaf must match equal or exists.
type field struct {
	name   string
	nested *Pattern
	equal  []any // the leaf is one of these values
	exists *bool // whether there is a leaf; nil if the pattern does not ask
}

// Parse parses a pattern. The error contains the path in the pattern.
func Parse(text string) (*Pattern, error) {
	var value any
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return nil, fmt.Errorf("filter pattern: not JSON: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("filter pattern: there is more after the end of the pattern")
	}
	members, isObject := value.(map[string]any)
	if !isObject {
		return nil, errors.New("filter pattern: it must be an object")
	}
	p, err := parse("", members)
	if err != nil {
		return nil, fmt.Errorf("filter pattern: %w", err)
	}
	return p, nil
}

// parse parses the object at a path, such as ".dynamodb.Keys".
func parse(path string, members map[string]any) (*Pattern, error) {
	if len(members) == 0 {
		return nil, fmt.Errorf("%s: empty objects are not allowed", path)
	}
	p := &Pattern{}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		f, at := field{name: name}, path+"."+name
		switch value := members[name].(type) {
		case map[string]any:
			nested, err := parse(at, value)
			if err != nil {
				return nil, err
			}
			f.nested = nested
		case []any:
			if err := f.parseLeaf(value); err != nil {
				return nil, fmt.Errorf("%s: %w", at, err)
			}
		default:
			return nil, fmt.Errorf("%s: it must be an object or an array: write leaf values in arrays", at)
		}
		p.fields = append(p.fields, f)
	}
	return p, nil
}

func (f *field) parseLeaf(elements []any) error {
	if len(elements) == 0 {
		return errors.New("empty arrays are not allowed")
	}
	for _, element := range elements {
		switch e := element.(type) {
		case []any:
			return errors.New("a string, a number, true, false or null is expected")
		case map[string]any:
			exists, isExists := e["exists"].(bool)
			if !isExists || len(e) != 1 || f.exists != nil {
				return fmt.Errorf("%v is not supported by the local platform: use equal values, or exists once",
					slices.Sorted(maps.Keys(e)))
			}
			f.exists = &exists
		default:
			f.equal = append(f.equal, e)
		}
	}
	return nil
}

// Match reports whether an event matches. The event is JSON as encoding/json decodes it with UseNumber: map[string]any,
// []any, string, json.Number, bool and nil. Numbers of other types match nothing.
func (p *Pattern) Match(event map[string]any) bool {
	return !slices.ContainsFunc(p.fields, func(f field) bool { return !f.match(event) })
}

func (f *field) match(event map[string]any) bool {
	value, isPresent := event[f.name]
	object, isObject := value.(map[string]any)
	if f.nested != nil {
		return f.nested.Match(object) // nil if there is no object: the pattern may only require that fields are absent
	}
	leaves, isArray := value.([]any)
	if !isArray && isPresent && !isObject {
		leaves = []any{value}
	}
	if f.exists != nil && *f.exists == (len(leaves) > 0) {
		return true
	}
	return slices.ContainsFunc(leaves, func(leaf any) bool {
		return slices.ContainsFunc(f.equal, func(want any) bool { return leaf == want })
	})
}
