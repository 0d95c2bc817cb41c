package pattern

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxLength is the maximum number of characters of a pattern, as on AWS.
const MaxLength = 4096

const (
	or              = "$or"
	equalIgnoreCase = "equals-ignore-case"
)

// reserved are the names that fields of an alternative must not have.
var reserved = []string{
	"prefix", "suffix", equalIgnoreCase, "anything-but", "numeric", "exists", "exactly", "wildcard", "cidr",
}

// Parse parses a pattern. It returns an error for patterns that AWS does not accept, with the path in the pattern.
func Parse(text string) (*Pattern, error) {
	root, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("filter pattern: %w", err)
	}
	return &Pattern{*root}, nil
}

func parse(text string) (*object, error) {
	if n := utf8.RuneCountInString(text); n > MaxLength {
		return nil, fmt.Errorf("%d characters, the limit is %d", n, MaxLength)
	}
	decoder := jsontext.NewDecoder(strings.NewReader(text)) // unlike encoding/json, it rejects duplicate names
	if err := decoder.SkipValue(); err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	if _, err := decoder.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more after the end of the pattern")
	}
	var value any
	numbers := json.NewDecoder(strings.NewReader(text))
	numbers.UseNumber()
	if err := numbers.Decode(&value); err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	members, ok := value.(map[string]any)
	if !ok {
		return nil, errors.New("it must be an object")
	}
	return path(nil).object(members, false)
}

// path is the path to a part of the pattern.
type path []string

func (p path) to(name string) path { return append(slices.Clip(p), name) }

// errorf returns an error at this path.
func (p path) errorf(format string, arguments ...any) error {
	message := fmt.Errorf(format, arguments...)
	if len(p) == 0 {
		return message
	}
	return fmt.Errorf("%s: %w", strings.Join(p, "."), message)
}

func (p path) object(members map[string]any, alternative bool) (*object, error) {
	if len(members) == 0 {
		return nil, p.errorf("empty objects are not allowed")
	}
	o := &object{}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if name == or {
			alternatives, err := p.to(name).alternatives(members[name])
			if err != nil {
				return nil, err
			}
			o.alternatives = append(o.alternatives, alternatives)
			continue
		}
		if alternative && slices.Contains(reserved, name) {
			return nil, p.to(name).errorf("an operator can't be a field inside of %s", or)
		}
		f, err := p.to(name).field(name, members[name], alternative)
		if err != nil {
			return nil, err
		}
		o.fields = append(o.fields, f)
	}
	return o, nil
}

func (p path) alternatives(value any) (list []object, err error) {
	elements, ok := value.([]any)
	if !ok {
		return nil, p.errorf("it must be an array of objects")
	}
	for _, element := range elements {
		members, ok := element.(map[string]any)
		if !ok {
			return nil, p.errorf("only objects are allowed in its array")
		}
		o, err := p.object(members, true)
		if err != nil {
			return nil, err
		}
		list = append(list, *o)
	}
	if len(list) < 2 {
		return nil, p.errorf("it needs at least two objects")
	}
	return list, nil
}

func (p path) field(name string, value any, alternative bool) (f field, err error) {
	f.name = name
	switch v := value.(type) {
	case map[string]any:
		f.nested, err = p.object(v, alternative)
		return f, err
	case []any:
		if len(v) == 0 {
			return f, p.errorf("empty arrays are not allowed")
		}
		for _, element := range v {
			if err := p.leaf(&f, element); err != nil {
				return f, err
			}
		}
		return f, nil
	}
	return f, p.errorf("it must be an object or an array: write leaf values in arrays")
}

// leaf adds an element of a leaf's array to the field.
func (p path) leaf(f *field, element any) error {
	switch e := element.(type) {
	case []any:
		return p.errorf("a string, a number, true, false or null is expected")
	case map[string]any:
		name, operand, err := p.operator(e)
		if err != nil {
			return err
		}
		if name == "exists" && operand == false {
			f.absent = true
			return nil
		}
		accepts, err := p.to(name).test(name, operand)
		if err != nil {
			return err
		}
		f.tests = append(f.tests, accepts)
	default:
		f.tests = append(f.tests, equals(e))
	}
	return nil
}

// operator returns the only member of an object.
func (p path) operator(members map[string]any) (name string, operand any, err error) {
	if len(members) > 1 {
		return "", nil, p.errorf("only one operator is allowed in an object")
	}
	for name, operand := range members {
		return name, operand, nil
	}
	return "", nil, p.errorf("an operator is missing in {}")
}

// test returns the test of an operator, which is the last element of the path.
func (p path) test(name string, operand any) (test, error) {
	switch name {
	case "exists":
		if operand != true {
			return nil, p.errorf("it must be true or false")
		}
		return func(any) bool { return true }, nil
	case "prefix", "suffix", equalIgnoreCase:
		return p.text(name, operand)
	case "numeric":
		return p.numeric(operand)
	case "anything-but":
		excluded, err := p.excluded(operand)
		return func(leaf any) bool {
			return !slices.ContainsFunc(excluded, func(accepts test) bool { return accepts(leaf) })
		}, err
	}
	return nil, p[:len(p)-1].errorf("unknown operator %q", name)
}

// text parses the operand of an operator on strings: a string, or {"equals-ignore-case": string}.
func (p path) text(name string, operand any) (test, error) {
	accepts := textTests[name]
	if members, ok := operand.(map[string]any); ok && foldTests[name] != nil {
		inner, value, err := p.operator(members)
		if err != nil {
			return nil, err
		}
		if inner != equalIgnoreCase {
			return nil, p.errorf("unknown operator %q", inner)
		}
		accepts, operand = foldTests[name], value
	}
	s, ok := operand.(string)
	if !ok {
		return nil, p.errorf("it must be a string")
	}
	return onText(accepts, s), nil
}

// numeric parses ["=", n], or a lower bound, an upper bound, or both in this order.
func (p path) numeric(operand any) (test, error) {
	values, ok := operand.([]any)
	if !ok || len(values) == 0 {
		return nil, p.errorf("it must be an array that is not empty")
	}
	var c []comparison
	for pair := range slices.Chunk(values, 2) {
		operator, ok := pair[0].(string)
		if !ok || operators[operator] == nil {
			return nil, p.errorf("%v is not one of its operators =, <, <=, > and >=", pair[0])
		}
		if len(pair) < 2 {
			return nil, p.errorf("%s has no number", operator)
		}
		n, ok := pair[1].(json.Number)
		if !ok {
			return nil, p.errorf("an operator must be followed by a number")
		}
		value, err := n.Float64()
		if err != nil || math.Abs(value) > maxNumber {
			return nil, p.errorf("%s is not between -5.0E9 and 5.0E9", n)
		}
		c = append(c, comparison{operator, value})
	}
	switch {
	case len(c) == 1:
	case len(c) > 2 || c[0].operator[0] != '>' || c[1].operator[0] != '<':
		return nil, p.errorf("a range is a lower bound followed by an upper one, such as [\">\", 0, \"<=\", 5]")
	case c[0].operand >= c[1].operand:
		return nil, p.errorf("the lower bound must be less than the upper one")
	}
	return numeric(c), nil
}

// excluded parses the operand of anything-but: strings, numbers, or an operator on strings with one or several of them.
func (p path) excluded(operand any) (tests []test, err error) {
	var accepts func(s, operand string) bool
	if members, ok := operand.(map[string]any); ok {
		name, value, err := p.operator(members)
		if err != nil {
			return nil, err
		}
		if accepts = textTests[name]; accepts == nil {
			return nil, p.errorf("unknown operator %q", name)
		}
		p, operand = p.to(name), value
	}
	values, ok := operand.([]any)
	if !ok {
		values = []any{operand}
	}
	if len(values) == 0 {
		return nil, p.errorf("empty arrays are not allowed")
	}
	_, wantText := values[0].(string)
	for _, value := range values {
		s, isText := value.(string)
		_, isNumber := value.(json.Number)
		switch {
		case !isText && !isNumber:
			return nil, p.errorf("its values must be strings or numbers")
		case isText != wantText:
			return nil, p.errorf("its values must be all strings or all numbers")
		case accepts == nil:
			tests = append(tests, equals(value))
		case s == "":
			return nil, p.errorf("its values must be strings that are not empty")
		default:
			tests = append(tests, onText(accepts, s))
		}
	}
	return tests, nil
}
