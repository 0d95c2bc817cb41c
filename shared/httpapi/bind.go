package httpapi

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"devplatform/shared/fault"
)

const (
	jsonType = "application/json"
	// defaultMaxBody is the maximum size of a request body in bytes, unless the tag of the operation has another one.
	defaultMaxBody = 4 << 20
)

// ErrMediaType reports a request body that is not declared as JSON.
var ErrMediaType = fault.New(fault.CodeUnsupportedMediaType, "The header Content-Type must be application/json.")

// tooLarge returns the error for a request body of more than maxBody bytes.
func tooLarge(maxBody int) *fault.Error {
	size := fmt.Sprintf("%d KiB", maxBody>>10)
	if maxBody >= 1<<20 {
		size = fmt.Sprintf("%d MiB", maxBody>>20)
	}
	return fault.New(fault.CodePayloadTooLarge, "The request body is larger than "+size+". Send a smaller body.")
}

// Validation collects the problems that the Validate method of an input finds.
type Validation struct {
	// Caller is the caller of the endpoint. It is zero if the endpoint needs no session.
	Caller Caller

	request  *http.Request
	query    url.Values
	problems []fault.Problem
}

// Field reports that a field breaks a rule. It does nothing if rule is empty, or if a problem of the field, or of an
// object or list that contains the field, is known: the checked value may not be the value that the client sent.
func (v *Validation) Field(name, rule string) {
	isKnown := func(p fault.Problem) bool {
		rest, found := strings.CutPrefix(name, p.Name)
		return found && (rest == "" || rest[0] == '.' || rest[0] == '[')
	}
	if rule != "" && !slices.ContainsFunc(v.problems, isKnown) {
		v.problems = append(v.problems, fault.Field(name, rule))
	}
}

// HasQuery reports whether the query contains a parameter. The parameter may be empty.
func (v *Validation) HasQuery(name string) bool { return v.query.Has(name) }

// HasHeader reports whether the request has a header.
func (v *Validation) HasHeader(name string) bool { return v.request.Header.Get(name) != "" }

// validator is implemented by inputs that check rules which tags cannot express.
type validator interface{ Validate(v *Validation) }

// binding reads the input of an endpoint.
type binding struct {
	params []param
	// body describes the field Body. It is nil if the input has no body.
	body         *schema
	bodyIndex    []int
	bodyOptional bool
}

// param is a field that receives a parameter.
type param struct {
	in, name string // in is path, query, header or cookie
	index    []int  // of the struct field, for reflect
	required bool
	schema   *schema
}

// newBinding returns the binding of an input type. It panics if the type has a field that cannot be decoded, because
// that is a programming error.
func newBinding(input reflect.Type) *binding {
	b := &binding{}
	for _, field := range reflect.VisibleFields(input) {
		switch in, name := paramTag(field.Tag); {
		case in != "":
			b.params = append(b.params, param{
				in: in, name: name, index: field.Index, required: field.Tag.Get("required") == "true",
				schema: newSchema(field.Type, field.Tag),
			})
		case field.Name == "Body" && len(field.Index) == 1:
			b.bodyIndex, b.bodyOptional = field.Index, field.Type.Kind() == reflect.Pointer
			b.body = newSchema(field.Type, field.Tag)
		}
	}
	return b
}

// paramTag returns the location and the name of the parameter that a field receives, or "".
func paramTag(tag reflect.StructTag) (in, name string) {
	for _, in := range []string{"path", "query", "header", "cookie"} {
		if name := tag.Get(in); name != "" {
			return in, name
		}
	}
	return "", ""
}

// Read reads and validates the input of a request. It returns a pointer to a value of the type Input. Errors:
// VALIDATION_FAILED, PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE.
func (e *Endpoint) Read(r *http.Request, caller Caller) (any, error) {
	b, in := e.binding(), reflect.New(e.Input)
	v := &Validation{Caller: caller, request: r, query: r.URL.Query()}
	for _, p := range b.params {
		v.problems = append(v.problems, p.read(r, v.query, in.Elem().FieldByIndex(p.index))...)
	}
	if !isSafe(r.Method) {
		problems, err := e.readBody(r, b, in.Elem())
		if err != nil {
			return nil, err
		}
		v.problems = append(v.problems, problems...)
	}
	if input, ok := in.Interface().(validator); ok {
		input.Validate(v)
	}
	if v.problems != nil {
		return nil, fault.Invalid(v.problems...)
	}
	return in.Interface(), nil
}

// readBody reads the body of a request and decodes it into the field Body of an input. It returns the problems of the
// fields. It returns an error if the body cannot be validated: it is too large, is not declared as JSON, is not valid
// JSON, does not have the expected JSON type, or has more problems than an error can name.
func (e *Endpoint) readBody(r *http.Request, b *binding, input reflect.Value) ([]fault.Problem, error) {
	maxBody := e.MaxBody()
	if r.ContentLength > int64(maxBody) {
		return nil, e.TooLarge
	}
	var body bytes.Buffer
	body.Grow(int(max(r.ContentLength, 0)) + bytes.MinRead)
	switch _, err := body.ReadFrom(io.LimitReader(r.Body, int64(maxBody)+1)); {
	case err != nil:
		return nil, fault.Invalid(fault.Field(fault.WholeBody, "could not be read")).WithCause(err)
	case body.Len() > maxBody:
		return nil, e.TooLarge
	case body.Len() == 0 && (b.body == nil || b.bodyOptional):
		return nil, nil
	case body.Len() == 0:
		return nil, fault.Invalid(fault.Field(fault.WholeBody, "is required"))
	}
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if media != jsonType || err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter) {
		return nil, ErrMediaType
	}
	if b.body == nil {
		return nil, nil
	}
	d := &decoder{
		body: body.Bytes(), maxValues: maxBody / minValueSize, ignoreUnknown: e.IgnoreUnknownFields,
		// The decoder itself detects duplicate names, because jsontext needs more time and memory for it.
		in: jsontext.NewDecoder(bytes.NewBuffer(body.Bytes()), jsontext.AllowDuplicateNames(true)),
	}
	hasOtherType := !b.body.accepts(d.in.PeekKind())
	err = d.read(b.body, input.FieldByIndex(b.bodyIndex))
	if err == nil {
		if _, end := d.in.ReadToken(); !errors.Is(end, io.EOF) {
			err = errNotJSON
		}
	}
	switch {
	case err != nil && !errors.Is(err, errStopped):
		return nil, err
	case err != nil, hasOtherType, len(d.problems) > fault.MaxProblems:
		return nil, fault.Invalid(d.problems...)
	}
	return d.problems, nil
}

// read reads a parameter into its field. An empty parameter counts as absent, unless it is a header.
func (p param) read(r *http.Request, query url.Values, field reflect.Value) []fault.Problem {
	var text string
	switch p.in {
	case "path":
		text = r.PathValue(p.name)
	case "query":
		text = query.Get(p.name)
	case "header":
		if lines := r.Header.Values(p.name); len(lines) > 0 {
			// A list may be sent in several header lines (RFC 9110 §5.3). An empty header becomes an empty list, which is
			// not valid. If it were ignored, a request with an empty If-Match would be served without a condition.
			text = cmp.Or(strings.Join(lines, ","), ",")
		}
	case "cookie":
		if cookies := r.CookiesNamed(p.name); len(cookies) > 0 {
			text = cookies[0].Value
		}
	}
	switch {
	case text != "":
		if rule := p.schema.parse(text, field); rule != "" {
			return []fault.Problem{fault.Field(p.name, rule)}
		}
	case p.required:
		return []fault.Problem{fault.Field(p.name, "is required")}
	}
	return nil
}

// isSafe reports whether a method only reads (RFC 9110 §9.2.1).
func isSafe(method string) bool {
	return method == http.MethodGet || method == http.MethodHead || method == http.MethodOptions
}
