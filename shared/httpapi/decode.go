package httpapi

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"devplatform/shared/fault"
)

const (
	// maxDepth is the maximum nesting depth of objects and lists in a body.
	maxDepth = 32
	// minValueSize limits the number of values in a body: the limit is the maximum size of the body, in bytes, divided by
	// minValueSize. So the time and the memory that a body costs depend only on its maximum size.
	minValueSize = 64
	// maxNumber is the maximum length in bytes of a number.
	maxNumber = 100
	// maxKey is the maximum length in bytes of a field name in the body, with its quotes and escapes.
	maxKey = 1000
	// maxName is the maximum length in bytes of a field name in an error message. Only unknown names can be longer.
	maxName = 60
	// maxCharacter is the maximum length in bytes of a character in a JSON text. The longest form is an escaped surrogate
	// pair, such as \ud83d\ude00.
	maxCharacter = 12
)

var (
	errNotJSON = fault.Invalid(fault.Field(fault.WholeBody, "is not valid JSON"))
	errTooDeep = fault.Invalid(fault.Field(
		fault.WholeBody, fmt.Sprintf("must not be nested more than %d levels deep", maxDepth)))
	// errStopped reports that the decoder found more problems than an error can name.
	errStopped = errors.New("the body has too many problems")
)

// decoder decodes a JSON body into the fields of an input, in one pass. It continues after a field that breaks a rule,
// so that the error names all such fields, and stops when it has found more of them than an error can name. It does not
// store values that break a rule. It rejects input that two parsers could interpret differently: duplicate names,
// invalid UTF-8, and NUL. Errors contain names of fields, but no texts and numbers that the client sent.
type decoder struct {
	body []byte
	in   *jsontext.Decoder
	text []byte // the buffer of unquote
	// ignoreUnknown makes the decoder ignore unknown fields instead of rejecting them.
	ignoreUnknown bool
	values        int // the number of values that were read
	maxValues     int
	path          []step // to the current value
	problems      []fault.Problem
}

// step is one part of the path to a value: the name of a field, or the index of a list element.
type step struct {
	name    string
	index   int
	isIndex bool
}

// read decodes the next value. s is nil for a value that is not stored: only its syntax is checked. An error means that
// the body cannot be decoded further.
func (d *decoder) read(s *schema, into reflect.Value) error {
	next := d.in.PeekKind()
	d.values++
	switch {
	case len(d.problems) > fault.MaxProblems:
		return errStopped
	case d.values > d.maxValues:
		return fault.Invalid(fault.Field(
			fault.WholeBody, fmt.Sprintf("must not contain more than %d values", d.maxValues)))
	case (next == '{' || next == '[') && d.in.StackDepth() >= maxDepth:
		return errTooDeep
	case s != nil && next == 'n':
		return d.readNull(s, into)
	case s != nil && !s.accepts(next):
		if next != 0 { // 0 means a syntax error, which ReadToken reports
			d.addProblem(mismatches[s.kind])
		}
		s = nil
	}
	if s != nil {
		into = allocate(into)
	}
	switch next {
	case '{':
		return d.readObject(s, into)
	case '[':
		return d.readList(s, into)
	case '"':
		return d.readText(s, into)
	case '0':
		return d.readNumber(s, into)
	}
	token, err := d.in.ReadToken()
	if err != nil {
		return d.syntaxError(err)
	}
	if s != nil {
		into.SetBool(token.Bool())
	}
	return nil
}

// allocate allocates the pointers of a field and returns the value that they point to. It marks a Nullable as present.
func allocate(into reflect.Value) reflect.Value {
	if field, ok := into.Addr().Interface().(nullableField); ok {
		into = field.target()
	}
	for into.Kind() == reflect.Pointer {
		into.Set(reflect.New(into.Type().Elem()))
		into = into.Elem()
	}
	return into
}

func (d *decoder) readNull(s *schema, into reflect.Value) error {
	if _, err := d.in.ReadToken(); err != nil {
		return d.syntaxError(err)
	}
	if !s.nullable {
		d.addProblem(mismatches[s.kind])
	} else if field, ok := into.Addr().Interface().(nullableField); ok {
		field.target() // marks the field as present
	}
	return nil
}

func (d *decoder) readObject(s *schema, into reflect.Value) error {
	if _, err := d.in.ReadToken(); err != nil {
		return d.syntaxError(err)
	}
	seen := map[string]bool{}
	for d.in.PeekKind() != '}' {
		raw, err := d.in.ReadValue()
		switch {
		case err != nil:
			return d.syntaxError(err)
		case len(raw) > maxKey:
			return fault.Invalid(fault.Field(
				d.fieldName(), fmt.Sprintf("must not contain a field name of more than %d bytes", maxKey)))
		}
		name := d.unquote(raw)
		d.path = append(d.path, step{name: name})
		if seen[name] {
			return fault.Invalid(fault.Field(d.fieldName(), "must not be given more than once"))
		}
		seen[name] = true
		if s == nil {
			err = d.read(nil, reflect.Value{})
		} else if f := s.fields[name]; f != nil {
			err = d.read(f.schema, into.FieldByIndex(f.index))
		} else {
			if !d.ignoreUnknown {
				d.addProblem(s.ruleForUnknown(name))
			}
			err = d.read(nil, reflect.Value{})
		}
		if err != nil {
			return err
		}
		d.path = d.path[:len(d.path)-1]
	}
	if s != nil {
		d.checkRequired(s, seen)
	}
	_, err := d.in.ReadToken()
	return d.syntaxError(err)
}

// checkRequired reports the required fields that an object does not have.
func (d *decoder) checkRequired(s *schema, seen map[string]bool) {
	for _, name := range s.names {
		if s.fields[name].required && !seen[name] {
			d.path = append(d.path, step{name: name})
			d.addProblem("is required")
			d.path = d.path[:len(d.path)-1]
		}
	}
}

// readList decodes a list. It counts the elements above the maximum number, but does not store them.
func (d *decoder) readList(s *schema, into reflect.Value) error {
	if _, err := d.in.ReadToken(); err != nil {
		return d.syntaxError(err)
	}
	count := 0
	d.path = append(d.path, step{isIndex: true})
	for ; d.in.PeekKind() != ']'; count++ {
		d.path[len(d.path)-1].index = count
		var err error
		if s == nil || int64(count) >= *s.maxItems {
			err = d.read(nil, reflect.Value{})
		} else {
			into.Set(reflect.Append(into, reflect.Zero(s.typ.Elem())))
			err = d.read(s.element, into.Index(count))
		}
		if err != nil {
			return err
		}
	}
	d.path = d.path[:len(d.path)-1]
	if s != nil {
		if rule := s.checkItems(count); rule != "" {
			d.addProblem(rule)
			into.SetZero()
		} else if count == 0 {
			into.Set(reflect.MakeSlice(s.typ, 0, 0))
		}
	}
	_, err := d.in.ReadToken()
	return d.syntaxError(err)
}

func (d *decoder) readText(s *schema, into reflect.Value) error {
	raw, err := d.in.ReadValue()
	if err != nil || s == nil {
		return d.syntaxError(err)
	}
	if limit := s.maxText(); int64(len(raw)-len(`""`)) > maxCharacter*limit { // not even decoded
		d.addProblem(fmt.Sprintf("must be at most %d characters long", limit))
		return nil
	}
	switch text := d.unquote(raw); {
	case !s.allowNUL && strings.ContainsRune(text, 0):
		d.addProblem("must not contain NUL")
	case s.kind == timeKind:
		reader, _ := into.Addr().Interface().(encoding.TextUnmarshaler)
		if reader.UnmarshalText([]byte(text)) != nil {
			d.addProblem(ruleTime)
		}
	default:
		if rule := s.checkText(text); rule != "" {
			d.addProblem(rule)
		} else {
			into.SetString(text)
		}
	}
	return nil
}

// unquote returns the text of a valid JSON string.
func (d *decoder) unquote(raw jsontext.Value) string {
	d.text, _ = jsontext.AppendUnquote(d.text[:0], raw) // it fails for invalid strings only
	return string(d.text)
}

func (d *decoder) readNumber(s *schema, into reflect.Value) error {
	text, err := d.in.ReadValue()
	switch {
	case err != nil:
		return d.syntaxError(err)
	case s == nil:
	case len(text) > maxNumber:
		d.addProblem(ruleRange)
	default:
		n, rule := s.parseInteger(string(text))
		if rule == "" {
			into.SetInt(n)
		}
		d.addProblem(rule)
	}
	return nil
}

// addProblem reports that the current value breaks a rule. It does nothing if rule is empty, or if a problem of the
// value is already known. It records one problem more than an error can name.
func (d *decoder) addProblem(rule string) {
	if rule == "" || len(d.problems) > fault.MaxProblems {
		return
	}
	name := d.fieldName()
	if !slices.ContainsFunc(d.problems, func(p fault.Problem) bool { return p.Name == name }) {
		d.problems = append(d.problems, fault.Field(name, rule))
	}
}

// syntaxError converts an error of the JSON decoder to the error that the client sees. It returns nil if err is nil.
func (d *decoder) syntaxError(err error) error {
	if err == nil {
		return nil
	}
	if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		if rule := checkEncoding(d.body[syntax.ByteOffset:]); rule != "" {
			return fault.Invalid(fault.Field(d.fieldName(), rule))
		}
	}
	return errNotJSON
}

// checkEncoding returns the rule that the first character of rest breaks. rest begins where the JSON decoder found an
// error. checkEncoding returns "" if the character is valid, and only the syntax is wrong.
func checkEncoding(rest []byte) string {
	if r, size := utf8.DecodeRune(rest); r == utf8.RuneError && size == 1 {
		return "must be valid UTF-8"
	}
	if len(rest) < 6 || rest[0] != '\\' || rest[1] != 'u' {
		return ""
	}
	code, err := strconv.ParseUint(string(rest[2:6]), 16, 16)
	if err != nil || !utf16.IsSurrogate(rune(code)) {
		return ""
	}
	return fmt.Sprintf("contains an incomplete surrogate pair (%s), which is half of a character", rest[:6])
}

// fieldName returns the path of the current value, such as "operations[0].path". It returns "body" for the body itself.
func (d *decoder) fieldName() string {
	var b strings.Builder
	for _, s := range d.path {
		switch {
		case s.isIndex:
			b.WriteString("[" + strconv.Itoa(s.index) + "]")
		case b.Len() > 0:
			b.WriteString("." + displayName(s.name))
		default:
			b.WriteString(displayName(s.name))
		}
	}
	if b.Len() == 0 {
		return fault.WholeBody
	}
	return b.String()
}

// displayName returns the name of a field as error messages show it. A name that is empty, is longer than maxName or
// contains unprintable characters is quoted, and cut to half of maxName.
func displayName(name string) string {
	isUnprintable := func(r rune) bool { return !unicode.IsPrint(r) }
	if name != "" && len(name) <= maxName && !strings.ContainsFunc(name, isUnprintable) {
		return name
	}
	if cut := name[:min(len(name), maxName/2)]; len(cut) < len(name) {
		return strconv.QuoteToASCII(strings.ToValidUTF8(cut, "")) + "..."
	}
	return strconv.QuoteToASCII(name)
}
