package httpapi

import (
	"encoding"
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"devplatform/shared/fault"
)

const (
	// maxDepth is the largest number of objects and lists that a body may nest.
	maxDepth = 32
	// maxName is the length in bytes of the longest name of a field that an error repeats.
	maxName = 100
	// maxProblems is the largest number of problems that one part of a body adds.
	maxProblems = 20
)

var (
	errNotJSON = fault.Invalid(fault.Field(fault.WholeBody, "is not valid JSON"))
	errTooDeep = fault.Invalid(fault.Field(fault.WholeBody, "is nested too deep"))
)

// decoder reads a JSON body once, into the fields of an input. It goes on after a field that breaks a rule, so that an
// error names all of them. It rejects what two programs could read differently: names that occur twice, invalid UTF-8,
// and NUL. No error repeats a value that the client sent.
type decoder struct {
	in         *jsontext.Decoder
	mayHaveNUL bool
	path       []step
	problems   []fault.Problem
	// nuls are the places where NUL occurs and is not allowed.
	nuls []fault.Problem
}

// step is a step on the path to a value: the name of a field, or the index of an element if name is "".
type step struct {
	name  string
	index int
	list  bool
}

// read reads the next value. t is nil for a value of an unknown field, which is read for its syntax only. The error is
// about the body as a whole.
func (d *decoder) read(t *value, into reflect.Value) error {
	next := d.in.PeekKind()
	if next == '{' || next == '[' {
		if d.in.StackDepth() >= maxDepth {
			return errTooDeep
		}
	}
	if t != nil && next == 'n' {
		return d.readNull(t, into)
	}
	if t != nil && !t.accepts(next) {
		if next != 0 { // 0: a syntax error, which is found below
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

// accepts reports whether a value may begin with a token of this kind.
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

// allocate follows pointers to the value that is set, and marks a Nullable as present.
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

// readObject reads an object. Its problems are sorted by the names of its fields.
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
	for _, name := range sortedKeys(byName) {
		d.problems = append(d.problems, byName[name]...)
	}
	_, err := d.in.ReadToken()
	return d.syntaxError(err)
}

// readField reads the value of a field of an object.
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
		return d.read(f.value, into.FieldByIndex(f.at))
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
		n, rule := t.whole(string(text))
		if rule == "" {
			setWhole(into, n)
		}
		d.problem(rule)
	}
	return nil
}

// problem adds a rule that the current value breaks. An empty rule adds nothing.
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

// syntaxError returns the error of a body that cannot be read further, nil if err is nil.
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
		return fault.Invalid(fault.Field(name, "has a name twice"))
	}
	return fault.Invalid(fault.Field(name, "is given twice"))
}

// name returns the name of the current value, such as "operations[0].path". It returns "body" for the body itself, and
// for a name that is too long or has characters that cannot be printed, because the client made it up.
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

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
