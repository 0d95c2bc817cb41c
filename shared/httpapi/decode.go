package httpapi

import (
	"encoding"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"devplatform/shared/fault"
)

const (
	// maxDepth is the maximum nesting depth of objects and lists in a body.
	maxDepth = 32
	// maxName is the maximum length in bytes of a field name in an error message.
	maxName = 100
	// maxProblems is the maximum number of problems that are collected for one field, and the maximum number of
	// problems about NUL.
	maxProblems = 20
)

var (
	errNotJSON = fault.Invalid(fault.Field(fault.WholeBody, "is not valid JSON"))
	errTooDeep = fault.Invalid(fault.Field(
		fault.WholeBody, fmt.Sprintf("must not be nested more than %d levels deep", maxDepth)))
)

// decoder decodes a JSON body into the fields of an input, in one pass. It continues after a field that breaks a rule,
// so that the error names all such fields. It rejects input that two parsers could interpret differently: duplicate
// names, invalid UTF-8, and NUL. Errors do not contain values that the client sent.
type decoder struct {
	in         *jsontext.Decoder
	mayHaveNUL bool
	path       []step
	problems   []fault.Problem
	// nuls are the problems about NUL characters in names and in texts that must not contain them.
	nuls []fault.Problem
}

// step is one part of the path to a value: the name of a field, or the index of a list element.
type step struct {
	name  string
	index int
	list  bool
}

// read decodes the next value. t is nil for a value of an unknown field: only its syntax is checked. An error means
// that the body cannot be decoded further.
func (d *decoder) read(t *value, into reflect.Value) error {
	next := d.in.PeekKind()
	if (next == '{' || next == '[') && d.in.StackDepth() >= maxDepth {
		return errTooDeep
	}
	if t != nil && next == 'n' {
		return d.readNull(t, into)
	}
	if t != nil && !t.accepts(next) {
		if next != 0 { // 0 is a syntax error, which ReadToken below reports
			d.problem(mismatches[t.kind])
		}
		t = nil
	}
	if t != nil {
		into = allocate(into)
	}
	switch next {
	case '{':
		return d.readObject(t, into)
	case '[':
		return d.readList(t, into)
	case '"':
		return d.readText(t, into)
	case '0':
		return d.readNumber(t, into)
	}
	token, err := d.in.ReadToken()
	if err != nil {
		return d.syntaxError(err)
	}
	if t != nil {
		into.SetBool(token.Bool())
	}
	return nil
}

// allocate allocates the pointers of a field and returns the value that they point to. It marks a Nullable as present.
func allocate(into reflect.Value) reflect.Value {
	if field, ok := into.Addr().Interface().(nullable); ok {
		into = field.target()
	}
	for into.Kind() == reflect.Pointer {
		into.Set(reflect.New(into.Type().Elem()))
		into = into.Elem()
	}
	return into
}

func (d *decoder) readNull(t *value, into reflect.Value) error {
	if _, err := d.in.ReadToken(); err != nil {
		return d.syntaxError(err)
	}
	if !t.nullable {
		d.problem(mismatches[t.kind])
	} else if field, ok := into.Addr().Interface().(nullable); ok {
		field.target()
	}
	return nil
}

// readObject decodes an object. It sorts the problems by field name.
func (d *decoder) readObject(t *value, into reflect.Value) error {
	before := d.problems
	byName := map[string][]fault.Problem{}
	if _, err := d.in.ReadToken(); err != nil {
		return d.syntaxError(err)
	}
	if t != nil && t.kind == mapKind {
		into.Set(reflect.MakeMap(t.typ))
	}
	seen := map[string]bool{}
	for d.in.PeekKind() != '}' {
		token, err := d.in.ReadToken()
		if err != nil {
			return d.syntaxError(err)
		}
		name := token.String()
		seen[name] = true
		d.path = append(d.path, step{name: name})
		d.problems = nil
		d.checkNUL(name, nil)
		if err := d.readField(t, into, name); err != nil {
			return err
		}
		if d.problems != nil {
			byName[name] = d.problems
		}
		d.path = d.path[:len(d.path)-1]
	}
	if t != nil {
		for _, name := range t.names {
			if t.fields[name].required && !seen[name] {
				d.path = append(d.path, step{name: name})
				byName[name] = []fault.Problem{fault.Field(d.name(), "is required")}
				d.path = d.path[:len(d.path)-1]
			}
		}
	}
	d.problems = before
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		d.problems = append(d.problems, byName[name]...)
	}
	_, err := d.in.ReadToken()
	return d.syntaxError(err)
}

// readField decodes the value of a field of an object.
func (d *decoder) readField(t *value, into reflect.Value, name string) error {
	switch {
	case t == nil:
	case t.kind == mapKind:
		element := reflect.New(t.typ.Elem()).Elem()
		if err := d.read(t.element, element); err != nil {
			return err
		}
		into.SetMapIndex(reflect.ValueOf(name), element)
		return nil
	case t.fields[name] != nil:
		f := t.fields[name]
		return d.read(f.value, into.FieldByIndex(f.index))
	}
	return d.read(nil, reflect.Value{})
}

func (d *decoder) readList(t *value, into reflect.Value) error {
	if _, err := d.in.ReadToken(); err != nil {
		return d.syntaxError(err)
	}
	count := 0
	d.path = append(d.path, step{list: true})
	for ; d.in.PeekKind() != ']'; count++ {
		d.path[len(d.path)-1].index = count
		if t == nil {
			if err := d.read(nil, reflect.Value{}); err != nil {
				return err
			}
			continue
		}
		element := reflect.New(t.typ.Elem()).Elem()
		if err := d.read(t.element, element); err != nil {
			return err
		}
		into.Set(reflect.Append(into, element))
	}
	d.path = d.path[:len(d.path)-1]
	if t != nil {
		if count == 0 {
			into.Set(reflect.MakeSlice(t.typ, 0, 0))
		}
		d.problem(t.checkItems(count))
	}
	_, err := d.in.ReadToken()
	return d.syntaxError(err)
}

func (d *decoder) readText(t *value, into reflect.Value) error {
	token, err := d.in.ReadToken()
	if err != nil {
		return d.syntaxError(err)
	}
	text := token.String()
	d.checkNUL(text, t)
	switch {
	case t == nil:
	case t.kind == timeKind:
		reader, _ := into.Addr().Interface().(encoding.TextUnmarshaler)
		if reader.UnmarshalText([]byte(text)) != nil {
			d.problem(ruleTime)
		}
	default:
		into.SetString(text)
		d.problem(t.checkText(text))
	}
	return nil
}

func (d *decoder) readNumber(t *value, into reflect.Value) error {
	text, err := d.in.ReadValue()
	if err != nil {
		return d.syntaxError(err)
	}
	if t != nil {
		n, rule := t.parseWhole(string(text))
		if rule == "" {
			setWhole(into, n)
		}
		d.problem(rule)
	}
	return nil
}

// problem reports that the current value breaks a rule. It does nothing if rule is empty.
func (d *decoder) problem(rule string) {
	if rule != "" && len(d.problems) < maxProblems {
		d.problems = append(d.problems, fault.Field(d.name(), rule))
	}
}

func (d *decoder) checkNUL(text string, t *value) {
	allowed := t != nil && t.allowNUL
	if d.mayHaveNUL && !allowed && len(d.nuls) < maxProblems && strings.ContainsRune(text, 0) {
		d.nuls = append(d.nuls, fault.Field(d.name(), "must not contain NUL"))
	}
}

// syntaxError converts an error of the JSON decoder to the error that the client sees. It returns nil if err is nil.
func (d *decoder) syntaxError(err error) error {
	var syntax *jsontext.SyntacticError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &syntax) || !errors.Is(err, jsontext.ErrDuplicateName):
		return errNotJSON
	}
	d.path = append(d.path, step{name: syntax.JSONPointer.LastToken()})
	name := d.name()
	if name == fault.WholeBody {
		return fault.Invalid(fault.Field(name, "must not contain a field more than once"))
	}
	return fault.Invalid(fault.Field(name, "must not be given more than once"))
}

// name returns the path of the current value, such as "operations[0].path". It returns "body" for the body itself. It
// also returns "body" for a path that is too long or contains unprintable characters. Only the path of an unknown field
// can be like that.
func (d *decoder) name() string {
	var b strings.Builder
	for _, s := range d.path {
		switch {
		case s.list:
			b.WriteString("[" + strconv.Itoa(s.index) + "]")
		case b.Len() > 0:
			b.WriteString("." + s.name)
		default:
			b.WriteString(s.name)
		}
	}
	name := b.String()
	if name == "" || len(name) > maxName || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return fault.WholeBody
	}
	return name
}
