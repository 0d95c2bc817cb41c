package pattern

import (
	"encoding/json"
	"slices"
)

// operation reads an operator in a leaf's array: an object with one member.
func (p *parser) operation(f *field, path []string) error {
	name, err := p.enter(path)
	if err != nil {
		return err
	}
	path = append(slices.Clip(path), name)
	switch name {
	case "exists":
		value, err := p.scalar(path)
		if err != nil {
			return err
		}
		switch value {
		case true:
			f.tests = append(f.tests, exists)
		case false:
			f.absent = true
		default:
			return at(path, "it must be true or false")
		}
	default:
		holds, err := p.test(name, path)
		if err != nil {
			return err
		}
		f.tests = append(f.tests, holds)
	}
	return p.leave(path)
}

// enter reads an object up to its first member's name.
func (p *parser) enter(path []string) (string, error) {
	if _, err := p.next(); err != nil {
		return "", err
	}
	token, err := p.next()
	if err != nil {
		return "", err
	}
	if token.Kind() != '"' {
		return "", at(path, "an operator is missing in {}")
	}
	return token.String(), nil
}

// leave reads the end of an object that may have no second member.
func (p *parser) leave(path []string) error {
	token, err := p.next()
	if err != nil {
		return err
	}
	if token.Kind() != '}' {
		return at(path, "only one operator is allowed in an object, found also %q", token.String())
	}
	return nil
}

func (p *parser) test(name string, path []string) (test, error) {
	switch name {
	case "prefix":
		return p.affix(path, hasPrefix, hasPrefixFolded)
	case "suffix":
		return p.affix(path, hasSuffix, hasSuffixFolded)
	case "equals-ignore-case":
		s, err := p.text(path)
		return equalsFolded(s), err
	case "numeric":
		return p.numeric(path)
	case "anything-but":
		inner, err := p.excluded(path)
		return not(inner), err
	}
	return nil, at(path[:len(path)-1], "unknown operator %q", name)
}

func (p *parser) text(path []string) (string, error) {
	if kind := p.PeekKind(); kind == '[' || kind == '{' {
		return "", at(path, "it must be a string")
	}
	value, err := p.scalar(path)
	if err != nil {
		return "", err
	}
	s, ok := value.(string)
	if !ok {
		return "", at(path, "it must be a string")
	}
	return s, nil
}

// affix reads the operand of prefix or suffix: a string, or {"equals-ignore-case": string}.
func (p *parser) affix(path []string, exact, folded func(string) test) (test, error) {
	if p.PeekKind() != '{' {
		s, err := p.text(path)
		return exact(s), err
	}
	name, err := p.enter(path)
	if err != nil {
		return nil, err
	}
	if name != "equals-ignore-case" {
		return nil, at(path, "unknown operator %q", name)
	}
	s, err := p.text(append(slices.Clip(path), name))
	if err != nil {
		return nil, err
	}
	return folded(s), p.leave(path)
}

// numeric reads ["=", n], or a lower bound, an upper bound, or both in this order.
func (p *parser) numeric(path []string) (test, error) {
	if p.PeekKind() != '[' {
		return nil, at(path, "it must be an array")
	}
	values, err := p.list(path)
	if err != nil {
		return nil, err
	}
	var comparisons []comparison
	for pair := range slices.Chunk(values, 2) {
		operator, ok := pair[0].(string)
		if !ok || operators[operator] == nil {
			return nil, at(path, "%v is none of its operators =, <, <=, > and >=", pair[0])
		}
		if len(pair) < 2 {
			return nil, at(path, "%s has no number", operator)
		}
		operand, err := number(path[:len(path)-1], pair[1])
		if err != nil {
			return nil, err
		}
		comparisons = append(comparisons, comparison{operator, operand})
	}
	if err := checkRange(path, comparisons); err != nil {
		return nil, err
	}
	return numeric(comparisons), nil
}

func checkRange(path []string, c []comparison) error {
	switch {
	case len(c) == 0:
		return at(path, "it must not be empty")
	case len(c) == 1:
		return nil
	case len(c) > 2 || c[0].operator[0] != '>' || c[1].operator[0] != '<':
		return at(path, "a range is a lower bound followed by an upper one, such as [\">\", 0, \"<=\", 5]")
	case c[0].operand >= c[1].operand:
		return at(path, "the lower bound must be less than the upper one")
	}
	return nil
}

// list reads an array of scalars.
func (p *parser) list(path []string) ([]any, error) {
	if _, err := p.next(); err != nil {
		return nil, err
	}
	var values []any
	for p.PeekKind() != ']' {
		if p.PeekKind() == '{' {
			return nil, at(path, "its values must be strings or numbers")
		}
		value, err := p.scalar(path)
		if err != nil {
			return nil, err
		}
		values = append(values, value)
	}
	_, err := p.next()
	return values, err
}

// excluded reads the operand of anything-but: values, or one of the operators on strings with one or several of them.
func (p *parser) excluded(path []string) ([]test, error) {
	if p.PeekKind() != '{' {
		values, err := p.oneOrMore(path)
		if err != nil {
			return nil, err
		}
		return each(values, equals), nil
	}
	name, err := p.enter(path)
	if err != nil {
		return nil, err
	}
	onText := map[string]func(string) test{"prefix": hasPrefix, "suffix": hasSuffix, "equals-ignore-case": equalsFolded}[name]
	if onText == nil {
		return nil, at(path, "unknown operator %q", name)
	}
	path = append(slices.Clip(path), name)
	values, err := p.oneOrMore(path)
	if err != nil {
		return nil, err
	}
	var tests []test
	for _, value := range values {
		s, ok := value.(string)
		if !ok || s == "" {
			return nil, at(path, "its values must be strings that are not empty")
		}
		tests = append(tests, onText(s))
	}
	return tests, p.leave(path)
}

func each(values []any, condition func(any) test) []test {
	tests := make([]test, 0, len(values))
	for _, value := range values {
		tests = append(tests, condition(value))
	}
	return tests
}

// oneOrMore reads a string, a number, or an array of either: not mixed, not empty.
func (p *parser) oneOrMore(path []string) ([]any, error) {
	var values []any
	var err error
	if p.PeekKind() == '[' {
		values, err = p.list(path)
	} else {
		values = make([]any, 1)
		values[0], err = p.scalar(path)
	}
	if err != nil {
		return nil, err
	}
	if len(values) == 0 {
		return nil, at(path, "empty arrays are not allowed")
	}
	for _, value := range values {
		switch value.(type) {
		case string, json.Number:
		default:
			return nil, at(path, "its values must be strings or numbers")
		}
		if _, first := values[0].(string); first != isString(value) {
			return nil, at(path, "its values must be all strings or all numbers")
		}
	}
	return values, nil
}

func isString(value any) bool {
	_, ok := value.(string)
	return ok
}
