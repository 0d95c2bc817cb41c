package httpapi

import (
	"encoding"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agnivade/levenshtein"
	"github.com/go-json-experiment/json/jsontext"
)

// kind is the JSON type that an input accepts for a value.
type kind uint8

const (
	textKind kind = iota + 1
	integerKind
	boolKind
	objectKind
	listKind
	timeKind // text that is decoded by an UnmarshalText method
)

// mismatches maps each kind to the rule that a value of another JSON type breaks.
var mismatches = map[kind]string{
	textKind:    "must be a string",
	timeKind:    "must be a string",
	integerKind: "must be a whole number",
	boolKind:    "must be true or false",
	objectKind:  "must be an object",
	listKind:    "must be a list",
}

const (
	ruleTime  = "must be an RFC 3339 time"
	ruleRange = "is out of range"
	ruleEmpty = "must not be empty"
)

// schema describes how a value of an input is decoded and validated.
type schema struct {
	kind     kind
	typ      reflect.Type // without pointers
	nullable bool
	allowNUL bool
	fields   map[string]*field // of an object, by name
	names    []string          // of these fields, sorted
	element  *schema           // of the elements of a list
	// enum is the list of allowed texts, or nil if all texts are allowed.
	enum []string
	// The limits of numbers, of texts (in code points) and of lists (in elements). nil means no limit. A list always has a
	// maximum.
	minimum, maximum     *int64
	minLength, maxLength *int64
	minItems, maxItems   *int64
}

// field is a field of an object.
type field struct {
	index    []int // of the struct field, for reflect
	required bool
	schema   *schema
}

// Nullable is a field of a body that distinguishes absent, null and a value.
type Nullable[T any] struct {
	// Present reports whether the body has the field.
	Present bool
	// Value is nil if the field is null or absent.
	Value *T
}

// target marks the field as present and returns the pointer that receives its value.
func (n *Nullable[T]) target() reflect.Value {
	n.Present = true
	return reflect.ValueOf(&n.Value).Elem()
}

type nullableField interface{ target() reflect.Value }

// Enum is implemented by text types that have a fixed set of values. The tag enum does the same for a single field.
type Enum interface{ Values() []string }

var (
	nullableType = reflect.TypeFor[nullableField]()
	textType     = reflect.TypeFor[encoding.TextUnmarshaler]()
	enumType     = reflect.TypeFor[Enum]()
)

// newSchema returns the description of a field with type t and this tag. It panics if an input cannot have a field of
// this type.
func newSchema(t reflect.Type, tag reflect.StructTag) *schema {
	s := &schema{allowNUL: tag.Get("nul") == "allow"}
	if reflect.PointerTo(t).Implements(nullableType) {
		inner, _ := t.FieldByName("Value")
		s = newSchema(inner.Type, tag)
		s.nullable = true
		return s
	}
	isPointer := t.Kind() == reflect.Pointer
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	s.typ = t
	s.describe(t)
	optional := strings.Contains(tag.Get("json"), ",omit")
	switch s.kind {
	case listKind:
		s.nullable = true
	case objectKind:
	default:
		s.nullable = isPointer && !optional
	}
	if text, ok := tag.Lookup("nullable"); ok {
		s.nullable = text == "true"
	}
	if enum := tag.Get("enum"); enum != "" {
		s.enum = strings.Split(enum, ",")
	}
	for name, limit := range map[string]**int64{
		"minimum": &s.minimum, "maximum": &s.maximum, "minLength": &s.minLength, "maxLength": &s.maxLength,
		"minItems": &s.minItems, "maxItems": &s.maxItems,
	} {
		if text := tag.Get(name); text != "" {
			n, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				panic(fmt.Sprintf("httpapi: the tag %s of a field of type %v is not a number", name, t))
			}
			*limit = &n
		}
	}
	if s.kind == listKind && s.maxItems == nil {
		panic(fmt.Sprintf("httpapi: a field of type %v has no tag maxItems", t))
	}
	return s
}

// describe sets the properties that depend on the type alone.
func (s *schema) describe(t reflect.Type) {
	if t.Implements(enumType) {
		s.enum = reflect.Zero(t).Interface().(Enum).Values()
	}
	switch {
	case reflect.PointerTo(t).Implements(textType):
		s.kind = timeKind
	case t.Kind() == reflect.String:
		s.kind = textKind
	case t.Kind() == reflect.Bool:
		s.kind = boolKind
	case t.Kind() == reflect.Int, t.Kind() == reflect.Int64:
		s.kind = integerKind
	case t.Kind() == reflect.Slice:
		s.kind, s.element = listKind, newSchema(t.Elem(), "")
	case t.Kind() == reflect.Struct:
		s.kind = objectKind
		s.describeFields(t)
	default:
		panic(fmt.Sprintf("httpapi: an input cannot have a field of type %v", t))
	}
}

func (s *schema) describeFields(t reflect.Type) {
	s.fields = map[string]*field{}
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" || !f.IsExported() {
			continue
		}
		s.names = append(s.names, name)
		s.fields[name] = &field{
			index: f.Index, required: !strings.Contains(options, "omit"), schema: newSchema(f.Type, f.Tag),
		}
	}
	slices.Sort(s.names)
}

// separators removes the differences between the ways in which names are usually written, such as projectId, ProjectID
// and project_id.
var separators = strings.NewReplacer("_", "", "-", "", " ", "")

// maxTypos is the maximum number of characters in which an unknown name differs from the name that is suggested for it.
const maxTypos = 2

// ruleForUnknown returns the rule that a field breaks if the object has no field with this name. The rule suggests the
// field that was probably meant.
func (s *schema) ruleForUnknown(name string) string {
	const rule = "is not a known field"
	if len(name) > maxName {
		return rule
	}
	name = strings.ToLower(separators.Replace(name))
	best, minDistance := "", maxTypos+1
	for _, known := range s.names {
		distance := levenshtein.ComputeDistance(name, strings.ToLower(known))
		if distance < minDistance && distance <= len(known)/2 {
			best, minDistance = known, distance
		}
	}
	if best == "" {
		return rule
	}
	return rule + " (did you mean " + best + "?)"
}

// accepts reports whether next can be the kind of the first token of the value.
func (s *schema) accepts(next jsontext.Kind) bool {
	switch s.kind {
	case textKind, timeKind:
		return next == '"'
	case integerKind:
		return next == '0'
	case boolKind:
		return next == 't' || next == 'f'
	case listKind:
		return next == '['
	default:
		return next == '{'
	}
}

// parse stores the text of a parameter in a field. It returns the rule that the text breaks, or "".
func (s *schema) parse(text string, into reflect.Value) string {
	switch s.kind {
	case textKind:
		into.SetString(text)
		return s.checkText(text)
	case integerKind:
		n, rule := s.parseInteger(text)
		if rule == "" {
			into.SetInt(n)
		}
		return rule
	default:
		panic(fmt.Sprintf("httpapi: a parameter cannot have the type %v", s.typ))
	}
}

// defaultMaxText is the result of maxText for a field without the tag maxLength. It only protects the decoder: a method
// Validate checks the length of such a text.
const defaultMaxText = 4096

// maxText returns the limit, in code points, that decides whether a text in a body is decoded. The JSON of the text
// must have at most maxCharacter times as many bytes between its quotes.
func (s *schema) maxText() int64 {
	switch {
	case s.maxLength != nil:
		return *s.maxLength
	case s.allowNUL: // the content of a file, which only the size of the body limits
		return defaultMaxBody
	}
	return defaultMaxText
}

// checkText returns the rule that a text breaks, or "".
func (s *schema) checkText(text string) string {
	length := int64(utf8.RuneCountInString(text))
	switch {
	case s.enum != nil && !slices.Contains(s.enum, text):
		return "must be one of " + strings.Join(s.enum, ", ")
	case s.minLength != nil && *s.minLength == 1 && length == 0:
		return ruleEmpty
	case s.minLength != nil && length < *s.minLength:
		return fmt.Sprintf("must be at least %d characters long", *s.minLength)
	case s.maxLength != nil && length > *s.maxLength:
		return fmt.Sprintf("must be at most %d characters long", *s.maxLength)
	}
	return ""
}

// maxExact is JavaScript's Number.MAX_SAFE_INTEGER. A larger float64 may be the result of rounding a whole number.
const maxExact = 1<<53 - 1

// parseInteger parses a whole number. It accepts notations such as 1.0 and 1e2, because they are integers in JSON
// Schema and some clients have no integer type. Numbers above maxExact must consist of digits only, because other
// notations would lose precision. parseInteger returns the rule that the number breaks, or "".
func (s *schema) parseInteger(text string) (int64, string) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		number, err := strconv.ParseFloat(text, 64)
		switch {
		case err != nil && !math.IsInf(number, 0), number != math.Trunc(number):
			return 0, mismatches[integerKind]
		case math.Abs(number) > maxExact:
			return 0, ruleRange
		}
		n = int64(number)
	}
	switch {
	case s.minimum != nil && n < *s.minimum:
		return 0, fmt.Sprintf("must be at least %d", *s.minimum)
	case s.maximum != nil && n > *s.maximum:
		return 0, fmt.Sprintf("must be at most %d", *s.maximum)
	}
	return n, ""
}

// checkItems returns the rule that the number of elements of a list breaks, or "".
func (s *schema) checkItems(count int) string {
	switch {
	case s.minItems != nil && *s.minItems == 1 && count == 0:
		return ruleEmpty
	case s.minItems != nil && int64(count) < *s.minItems:
		return fmt.Sprintf("must have at least %d elements", *s.minItems)
	case s.maxItems != nil && int64(count) > *s.maxItems:
		return fmt.Sprintf("must have at most %d elements", *s.maxItems)
	}
	return ""
}
