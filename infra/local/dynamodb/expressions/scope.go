package expressions

import (
	"slices"
	"strings"

	"devplatform/infra/local/dynamodb/values"
)

// maxPlaceholderBytes is the maximum length of a placeholder with its # or :.
const maxPlaceholderBytes = 255

// Scope has the placeholders that a request's expressions can use. It remembers which of them, and which document
// paths, were used. It is not safe for concurrent use.
type Scope struct {
	names      map[string]string
	values     values.Item
	usedNames  map[string]bool
	usedValues map[string]bool
	paths      []Path
}

// Paths returns all document paths in the expressions parsed so far.
func (s *Scope) Paths() []Path { return s.paths }

// NewScope checks the ExpressionAttributeNames and ExpressionAttributeValues of a request. A nil map means that the
// request has none. An empty map is an error. The error is a *[values.Error].
func NewScope(names map[string]string, values values.Item) (*Scope, error) {
	if err := checkPlaceholders("ExpressionAttributeNames", '#', names); err != nil {
		return nil, err
	}
	for key, name := range names {
		if name == "" {
			return nil, errorf("ExpressionAttributeNames contains invalid value: Empty attribute name for key %s", key)
		}
	}
	if err := checkPlaceholders("ExpressionAttributeValues", ':', values); err != nil {
		return nil, err
	}
	return &Scope{
		names: names, values: values,
		usedNames: make(map[string]bool, len(names)), usedValues: make(map[string]bool, len(values)),
	}, nil
}

func checkPlaceholders[V any](parameter string, sigil byte, placeholders map[string]V) error {
	if placeholders != nil && len(placeholders) == 0 {
		return errorf("%s must not be empty", parameter)
	}
	for key := range placeholders {
		if len(key) < 2 || len(key) > maxPlaceholderBytes || key[0] != sigil || wordLength(key) < len(key) {
			return errorf("%s contains invalid key: Syntax error; key: %q", parameter, key)
		}
	}
	return nil
}

// CheckUnused returns an error if no expression parsed so far uses one of the placeholders. The error is a
// *[values.Error].
func (s *Scope) CheckUnused() error {
	if err := checkUnused("ExpressionAttributeNames", s.names, s.usedNames); err != nil {
		return err
	}
	return checkUnused("ExpressionAttributeValues", s.values, s.usedValues)
}

func checkUnused[V any](parameter string, given map[string]V, used map[string]bool) error {
	if len(given) == len(used) {
		return nil
	}
	var unused []string
	for key := range given {
		if !used[key] {
			unused = append(unused, key)
		}
	}
	slices.Sort(unused)
	return errorf("Value provided in %s unused in expressions: keys: {%s}", parameter, strings.Join(unused, ", "))
}

func (s *Scope) name(placeholder string) (string, bool) {
	name, ok := s.names[placeholder]
	if ok {
		s.usedNames[placeholder] = true
	}
	return name, ok
}

func (s *Scope) value(placeholder string) (values.Value, bool) {
	value, ok := s.values[placeholder]
	if ok {
		s.usedValues[placeholder] = true
	}
	return value, ok
}
