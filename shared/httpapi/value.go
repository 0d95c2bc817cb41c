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
	wholeKind
	boolKind
	objectKind
	listKind
	timeKind // text that is decoded by an UnmarshalText method
)

// mismatches maps each kind to the rule that a value of another JSON type breaks.
var mismatches = map[kind]string{
	textKind:   "must be a string",
	timeKind:   "must be a string",
	wholeKind:  "must be a whole number",
	boolKind:   "must be true or false",
	objectKind: "must be an object",
	listKind:   "must be a list",
}

const (
	ruleTime  = "must be an RFC 3339 time"
	ruleRange = "is out of range"
	ruleEmpty = "must not be empty"
)

// value describes how a value of an input is decoded and validated.
type value struct {
	kind     kind
	typ      reflect.Type // without pointers
	nullable bool
	allowNUL bool
	// fields contains the fields of an object by name. names is the sorted list of their names.
	fields map[string]*field
	names  []string
	// element describes the elements of a list.
	element *value
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
	value    *value
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

type nullable interface{ target() reflect.Value }

// Enum is implemented by text types that have a fixed set of values. The tag enum does the same for a single field.
type Enum interface{ Values() []string }

var (
	nullableType = reflect.TypeFor[nullable]()
	textType     = reflect.TypeFor[encoding.TextUnmarshaler]()
	enumType     = reflect.TypeFor[Enum]()
)

// newValue returns the description of a field with type t and this tag. It panics if an input cannot have a field of
// this type.
func newValue(t reflect.Type, tag reflect.StructTag) *value {
	v := &value{allowNUL: tag.Get("nul") == "allow"}
	if reflect.PointerTo(t).Implements(nullableType) {
		inner, _ := t.FieldByName("Value")
		v = newValue(inner.Type, tag)
		v.nullable = true
		return v
	}
	isPointer := t.Kind() == reflect.Pointer
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	v.typ = t
	v.describe(t)
	optional := strings.Contains(tag.Get("json"), ",omit")
	switch v.kind {
	case listKind:
		v.nullable = true
	case objectKind:
	default:
		v.nullable = isPointer && !optional
	}
	if text, ok := tag.Lookup("nullable"); ok {
		v.nullable = text == "true"
	}
	if enum := tag.Get("enum"); enum != "" {
		v.enum = strings.Split(enum, ",")
	}
	for name, limit := range map[string]**int64{
		"minimum": &v.minimum, "maximum": &v.maximum, "minLength": &v.minLength, "maxLength": &v.maxLength,
		"minItems": &v.minItems, "maxItems": &v.maxItems,
	} {
		if text := tag.Get(name); text != "" {
			n, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				panic(fmt.Sprintf("httpapi: the tag %s of a field of type %v is not a number", name, t))
			}
			*limit = &n
		}
	}
	if v.kind == listKind && v.maxItems == nil {
		panic(fmt.Sprintf("httpapi: a field of type %v has no tag maxItems", t))
	}
	return v
}

// describe sets the properties that depend on the type alone.
func (v *value) describe(t reflect.Type) {
	if t.Implements(enumType) {
		v.enum = reflect.Zero(t).Interface().(Enum).Values()
	}
	switch {
	case reflect.PointerTo(t).Implements(textType):
		v.kind = timeKind
	case t.Kind() == reflect.String:
		v.kind = textKind
	case t.Kind() == reflect.Bool:
		v.kind = boolKind
	case t.Kind() >= reflect.Int && t.Kind() <= reflect.Uint64:
		v.kind = wholeKind
	case t.Kind() == reflect.Slice:
		v.kind, v.element = listKind, newValue(t.Elem(), "")
	case t.Kind() == reflect.Struct:
		v.kind = objectKind
		v.describeFields(t)
	default:
		panic(fmt.Sprintf("httpapi: an input cannot have a field of type %v", t))
	}
}

func (v *value) describeFields(t reflect.Type) {
	v.fields = map[string]*field{}
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" || !f.IsExported() {
			continue
		}
		v.names = append(v.names, name)
		v.fields[name] = &field{
			index: f.Index, required: !strings.Contains(options, "omit"), value: newValue(f.Type, f.Tag),
		}
	}
	slices.Sort(v.names)
}

// normalized removes the differences between the ways in which names are usually written, such as projectId, ProjectID
// and project_id.
var normalized = strings.NewReplacer("_", "", "-", "", " ", "")

// unknown returns the rule that a field breaks if the object has no field with this name. The rule suggests the field
// that was probably meant.
func (v *value) unknown(name string) string {
	const rule = "is not a known field"
	if len(name) > maxName {
		return rule
	}
	name = strings.ToLower(normalized.Replace(name))
	best, least := "", 3
	for _, known := range v.names {
		distance := levenshtein.ComputeDistance(name, strings.ToLower(known))
		if distance < least && distance <= len(known)/2 {
			best, least = known, distance
		}
	}
	if best == "" {
		return rule
	}
	return rule + " (did you mean " + best + "?)"
}

// accepts reports whether next can be the kind of the first token of the value.
func (v *value) accepts(next jsontext.Kind) bool {
	switch v.kind {
	case textKind, timeKind:
		return next == '"'
	case wholeKind:
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
func (v *value) parse(text string, into reflect.Value) string {
	switch v.kind {
	case textKind:
		into.SetString(text)
		return v.checkText(text)
	case wholeKind:
		n, rule := v.parseWhole(text)
		if rule == "" {
			setWhole(into, n)
		}
		return rule
	default:
		panic(fmt.Sprintf("httpapi: a parameter cannot have the type %v", v.typ))
	}
}

// maxText returns the maximum length in code points of a text in a body.
func (v *value) maxText() int64 {
	switch {
	case v.maxLength != nil:
		return *v.maxLength
	case v.allowNUL: // the content of a file, which only the size of the body limits
		return defaultMaxBody
	}
	return 4096
}

// checkText returns the rule that a text breaks, or "".
func (v *value) checkText(text string) string {
	length := int64(utf8.RuneCountInString(text))
	switch {
	case v.enum != nil && !slices.Contains(v.enum, text):
		return "must be one of " + strings.Join(v.enum, ", ")
	case v.minLength != nil && *v.minLength == 1 && length == 0:
		return ruleEmpty
	case v.minLength != nil && length < *v.minLength:
		return fmt.Sprintf("must be at least %d characters long", *v.minLength)
	case v.maxLength != nil && length > *v.maxLength:
		return fmt.Sprintf("must be at most %d characters long", *v.maxLength)
	}
	return ""
}

// maxExact is JavaScript's Number.MAX_SAFE_INTEGER. A larger float64 may be the result of rounding a whole number.
const maxExact = 1<<53 - 1

// parseWhole parses a whole number. It accepts notations such as 1.0 and 1e2, because they are integers in JSON Schema
// and some clients have no integer type. Numbers above maxExact must consist of digits only, because other notations
// would lose precision. parseWhole returns the rule that the number breaks, or "".
func (v *value) parseWhole(text string) (int64, string) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		number, err := strconv.ParseFloat(text, 64)
		switch {
		case err != nil && !math.IsInf(number, 0), number != math.Trunc(number):
			return 0, mismatches[wholeKind]
		case math.Abs(number) > maxExact:
			return 0, ruleRange
		}
		n = int64(number)
	}
	switch {
	case v.minimum != nil && n < *v.minimum:
		return 0, fmt.Sprintf("must be at least %d", *v.minimum)
	case v.maximum != nil && n > *v.maximum:
		return 0, fmt.Sprintf("must be at most %d", *v.maximum)
	case !canSetWhole(reflect.Zero(v.typ), n):
		return 0, ruleRange
	}
	return n, ""
}

// canSetWhole reports whether the type of field can represent n.
func canSetWhole(field reflect.Value, n int64) bool {
	if field.CanUint() {
		return n >= 0 && !field.OverflowUint(uint64(n))
	}
	return !field.OverflowInt(n)
}

func setWhole(into reflect.Value, n int64) {
	if into.CanUint() {
		into.SetUint(uint64(n)) //nolint:gosec // canSetWhole has checked n
		return
	}
	into.SetInt(n)
}

// checkItems returns the rule that the number of elements of a list breaks, or "".
func (v *value) checkItems(count int) string {
	switch {
	case v.minItems != nil && *v.minItems == 1 && count == 0:
		return ruleEmpty
	case v.minItems != nil && int64(count) < *v.minItems:
		return fmt.Sprintf("must have at least %d elements", *v.minItems)
	case v.maxItems != nil && int64(count) > *v.maxItems:
		return fmt.Sprintf("must have at most %d elements", *v.maxItems)
	}
	return ""
}
