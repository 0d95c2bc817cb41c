package pattern

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxLength is how many characters a pattern may have, as on AWS.
const MaxLength = 4096

// or is the field that holds alternatives; reserved are the names that no field of an alternative may have.
const or = "$or"

var reserved = []string{"prefix", "suffix", "equals-ignore-case", "anything-but", "numeric", "exists", "exactly", "wildcard", "cidr"}

// Parse reads a pattern. The error says where in the pattern what is wrong; AWS refuses the same.
func Parse(text string) (*Pattern, error) {
	if n := utf8.RuneCountInString(text); n > MaxLength {
		return nil, fmt.Errorf("filter pattern: %d characters, the limit is %d", n, MaxLength)
	}
	p := &parser{jsontext.NewDecoder(strings.NewReader(text))}
	root, err := p.pattern()
	if err != nil {
		return nil, fmt.Errorf("filter pattern: %w", err)
	}
	return &Pattern{*root}, nil
}

type parser struct{ *jsontext.Decoder }

func (p *parser) pattern() (*object, error) {
	if p.PeekKind() == '{' || p.PeekKind() == 0 {
		root, err := p.object(nil, false)
		if err != nil {
			return nil, err
		}
		if _, err := p.ReadToken(); !errors.Is(err, io.EOF) {
			return nil, errors.New("there is more after the pattern's end")
		}
		return root, nil
	}
	return nil, errors.New("it must be an object")
}

// next reads a token.
func (p *parser) next() (jsontext.Token, error) {
	token, err := p.ReadToken()
	if err != nil {
		return token, fmt.Errorf("not JSON: %w", err)
	}
	return token, nil
}

// at says where in the pattern something is wrong.
func at(path []string, format string, arguments ...any) error {
	message := fmt.Errorf(format, arguments...)
	if len(path) == 0 {
		return message
	}
	return fmt.Errorf("%s: %w", strings.Join(path, "."), message)
}

func (p *parser) object(path []string, alternative bool) (*object, error) {
	if _, err := p.next(); err != nil {
		return nil, err
	}
	o := &object{}
	for p.PeekKind() != '}' {
		token, err := p.next()
		if err != nil {
			return nil, err
		}
		if err := p.member(o, path, token.String(), alternative); err != nil {
			return nil, err
		}
	}
	if _, err := p.next(); err != nil {
		return nil, err
	}
	if len(o.fields)+len(o.alternatives) == 0 {
		return nil, at(path, "empty objects are not allowed")
	}
	return o, nil
}

func (p *parser) member(o *object, path []string, name string, alternative bool) error {
	path = append(slices.Clip(path), name)
	if name == or {
		alternatives, err := p.alternatives(path)
		o.alternatives = append(o.alternatives, alternatives)
		return err
	}
	if alternative && slices.Contains(reserved, name) {
		return at(path, "an operator can't be a field inside of %s", or)
	}
	f := field{name: name}
	switch p.PeekKind() {
	case '{':
		nested, err := p.object(path, alternative)
		if err != nil {
			return err
		}
		f.nested = nested
	case '[':
		if err := p.leaf(&f, path); err != nil {
			return err
		}
	default:
		if _, err := p.next(); err != nil {
			return err
		}
		return at(path, "it must be an object or an array: leaf values stand in arrays")
	}
	o.fields = append(o.fields, f)
	return nil
}

func (p *parser) alternatives(path []string) ([]object, error) {
	token, err := p.next()
	if err != nil {
		return nil, err
	}
	if token.Kind() != '[' {
		return nil, at(path, "it must be an array of objects")
	}
	var list []object
	for p.PeekKind() != ']' {
		switch p.PeekKind() {
		case '{':
			o, err := p.object(path, true)
			if err != nil {
				return nil, err
			}
			list = append(list, *o)
		default:
			if _, err := p.next(); err != nil {
				return nil, err
			}
			return nil, at(path, "only objects are allowed in its array")
		}
	}
	if _, err := p.next(); err != nil {
		return nil, err
	}
	if len(list) < 2 {
		return nil, at(path, "it needs at least two objects")
	}
	return list, nil
}

func (p *parser) leaf(f *field, path []string) error {
	if _, err := p.next(); err != nil {
		return err
	}
	for p.PeekKind() != ']' {
		if p.PeekKind() == '{' {
			if err := p.operation(f, path); err != nil {
				return err
			}
			continue
		}
		value, err := p.scalar(path)
		if err != nil {
			return err
		}
		f.tests = append(f.tests, equals(value))
	}
	if _, err := p.next(); err != nil {
		return err
	}
	if len(f.tests) == 0 && !f.absent {
		return at(path, "empty arrays are not allowed")
	}
	return nil
}

// scalar reads a value that stands for itself.
func (p *parser) scalar(path []string) (any, error) {
	kind := p.PeekKind()
	if kind == '[' || kind == '{' {
		return nil, at(path, "a string, a number, true, false or null is expected")
	}
	raw, err := p.ReadValue()
	if err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	switch kind {
	case '0':
		return json.Number(raw), nil
	case 't', 'f':
		return kind == 't', nil
	case 'n':
		return nil, nil //nolint:nilnil // null is a value
	}
	text, err := jsontext.AppendUnquote(nil, raw)
	if err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	return string(text), nil
}

// number checks an operand of numeric.
func number(path []string, value any) (float64, error) {
	n, ok := value.(json.Number)
	if !ok {
		return 0, at(path, "numeric: an operator must be followed by a number")
	}
	f, err := n.Float64()
	if err != nil || math.Abs(f) > limit {
		return 0, at(path, "numeric: %s is not between -5.0E9 and 5.0E9", n)
	}
	return f, nil
}
