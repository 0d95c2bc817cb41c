package expr

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"devplatform/infra/local/dynamodb/attr"
)

// maxKeyBytes is the length of a placeholder, its # or : included.
const maxKeyBytes = 255

// Names are a request's ExpressionAttributeNames: "#placeholder" → name.
type Names map[string]string

// Values are a request's ExpressionAttributeValues: ":placeholder" → value.
type Values map[string]attr.Value

// Scope holds the placeholders that a request's expressions may use, and
// remembers which ones they did. It belongs to one request: it is not safe for
// concurrent use.
type Scope struct {
	names      Names
	values     Values
	usedNames  map[string]struct{}
	usedValues map[string]struct{}
}

// NewScope checks the placeholders of a request; nil says that the request has
// none, an empty map is refused. The error is an *Error.
func NewScope(names map[string]string, values map[string]attr.Value) (*Scope, error) {
	if err := checkNames(names); err != nil {
		return nil, err
	}
	if err := checkValues(values); err != nil {
		return nil, err
	}
	return &Scope{
		names: names, values: values,
		usedNames:  make(map[string]struct{}, len(names)),
		usedValues: make(map[string]struct{}, len(values)),
	}, nil
}

func checkNames(names map[string]string) error {
	const parameter = "ExpressionAttributeNames"
	if err := checkKeys(parameter, '#', names); err != nil {
		return err
	}
	for key, name := range names {
		if name == "" {
			return errorf("%s contains invalid value: Empty attribute name for key %s", parameter, key)
		}
	}
	return nil
}

func checkValues(values map[string]attr.Value) error {
	const parameter = "ExpressionAttributeValues"
	if err := checkKeys(parameter, ':', values); err != nil {
		return err
	}
	if attr.Item(values).Validate() == nil {
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		var bad *attr.Error
		if errors.As(values[key].Validate(), &bad) {
			return errorf("%s contains invalid value: %s for key %s", parameter, bad.InOlderWords(), key)
		}
	}
	return nil
}

func checkKeys[V any](parameter string, sigil byte, placeholders map[string]V) error {
	if placeholders != nil && len(placeholders) == 0 {
		return errorf("%s must not be empty", parameter)
	}
	bad, found := "", false
	for key := range placeholders {
		if !validKey(key, sigil) && (!found || key < bad) {
			bad, found = key, true
		}
	}
	switch {
	case !found:
		return nil
	case len(bad) > maxKeyBytes:
		return errorf("%s contains invalid key: The expression attribute map contains a key that is too long; size of key: %d", parameter, len(bad))
	default:
		return errorf("%s contains invalid key: Syntax error; key: \"%s\"", parameter, bad)
	}
}

func validKey(key string, sigil byte) bool {
	if len(key) < 2 || len(key) > maxKeyBytes || key[0] != sigil {
		return false
	}
	for i := 1; i < len(key); i++ {
		if !isWordByte(key[i]) {
			return false
		}
	}
	return true
}

// CheckUnused refuses placeholders that no expression parsed so far has used.
// The error is an *Error.
func (s *Scope) CheckUnused() error {
	if err := unused("ExpressionAttributeNames", s.names, s.usedNames); err != nil {
		return err
	}
	return unused("ExpressionAttributeValues", s.values, s.usedValues)
}

func unused[V any](parameter string, given map[string]V, used map[string]struct{}) error {
	if len(given) == len(used) {
		return nil
	}
	var keys []string
	for key := range given {
		if _, ok := used[key]; !ok {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return errorf("Value provided in %s unused in expressions: keys: {%s}", parameter, strings.Join(keys, ", "))
}

func (s *Scope) name(placeholder string) (string, bool) {
	name, ok := s.names[placeholder]
	if ok {
		s.usedNames[placeholder] = struct{}{}
	}
	return name, ok
}

func (s *Scope) value(placeholder string) (attr.Value, bool) {
	value, ok := s.values[placeholder]
	if ok {
		s.usedValues[placeholder] = struct{}{}
	}
	return value, ok
}
