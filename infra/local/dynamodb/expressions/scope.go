package expressions

import (
	"maps"
	"slices"
	"strings"

	"devplatform/infra/local/dynamodb/values"
)

// maxPlaceholderBytes is the maximum length of a placeholder with its # or :.
const maxPlaceholderBytes = 255

// The parameters with placeholders.
const (
	parameterNames  = "ExpressionAttributeNames"
	parameterValues = "ExpressionAttributeValues"
)

// Scope has the placeholders that a request's expressions can use. It remembers which of them, and which document
// paths, were used. It is not safe for concurrent use.
type Scope struct {
	names  map[string]string
	values values.Item
	used   map[string]bool // the names and the values, which begin with different characters
	paths  []Path
}

// Paths returns all document paths in the expressions parsed so far.
func (s *Scope) Paths() []Path { return s.paths }

// NewScope checks the ExpressionAttributeNames and ExpressionAttributeValues of a request. A nil map or item means that
// the request has none. An empty one is an error. The error is a *[values.Error].
func NewScope(names map[string]string, values values.Item) (*Scope, error) {
	if names != nil && len(names) == 0 {
		return nil, errorf("%s must not be empty", parameterNames)
	}
	if values != nil && len(values) == 0 {
		return nil, errorf("%s must not be empty", parameterValues)
	}
	for key, name := range names {
		if !isPlaceholder(key, '#') {
			return nil, errorf("%s contains invalid key: Syntax error; key: %q", parameterNames, key)
		}
		if name == "" {
			return nil, errorf("%s contains invalid value: Empty attribute name for key %s", parameterNames, key)
		}
	}
	for _, v := range values {
		if !isPlaceholder(v.Name, ':') {
			return nil, errorf("%s contains invalid key: Syntax error; key: %q", parameterValues, v.Name)
		}
	}
	return &Scope{names: names, values: values, used: make(map[string]bool, len(names)+len(values))}, nil
}

func isPlaceholder(key string, sigil byte) bool {
	return 2 <= len(key) && len(key) <= maxPlaceholderBytes && key[0] == sigil && wordLength(key) == len(key)
}

// CheckUnused returns an error if no expression parsed so far uses one of the placeholders. The error is a
// *[values.Error].
func (s *Scope) CheckUnused() error {
	if len(s.used) == len(s.names)+len(s.values) {
		return nil
	}
	parameter, unused := parameterNames, s.unused(slices.Sorted(maps.Keys(s.names)))
	if len(unused) == 0 {
		keys := make([]string, len(s.values))
		for i, v := range s.values {
			keys[i] = v.Name
		}
		parameter, unused = parameterValues, s.unused(keys)
	}
	return errorf("Value provided in %s unused in expressions: keys: {%s}", parameter, strings.Join(unused, ", "))
}

func (s *Scope) unused(keys []string) []string {
	return slices.DeleteFunc(keys, func(key string) bool { return s.used[key] })
}

func (s *Scope) name(placeholder string) (string, bool) {
	name, ok := s.names[placeholder]
	if ok {
		s.used[placeholder] = true
	}
	return name, ok
}

func (s *Scope) value(placeholder string) (values.Value, bool) {
	value, ok := s.values.Get(placeholder)
	if ok {
		s.used[placeholder] = true
	}
	return value, ok
}
