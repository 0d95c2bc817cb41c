package httpapi

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"slices"
	"strings"
	"unicode"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"devplatform/shared/fault"
)

const (
	jsonType = "application/json"
	// maxBody is the largest request, in bytes (API.md §1).
	maxBody = 4 << 20
	// maxDepth is how deep a body's objects and lists may nest.
	maxDepth = 32
	// maxPlaces is how many faulty places an answer names, maxPlace how long such a place may be, in bytes.
	maxPlaces, maxPlace = 20, 100
)

var (
	errTooLarge  = fault.New(fault.CodePayloadTooLarge, "The request is larger than 4 MiB.")
	errMediaType = fault.New(fault.CodeUnsupportedMediaType, "Send the body as application/json.")
)

// checkBody reads the body once and holds it against API.md §1, before huma looks for fields in it.
func (e *edge) checkBody(ctx huma.Context, next func(huma.Context)) {
	if safe(ctx.Method()) {
		next(ctx)
		return
	}
	r, w := humago.Unwrap(ctx)
	body, err := readBody(r.Body)
	if err == nil && len(body) > 0 {
		err = checkMediaType(r.Header.Get("Content-Type"))
		if op := ctx.Operation(); err == nil && op.RequestBody != nil {
			var nulls []error
			if nulls, err = e.checkContent(op, body); nulls != nil {
				stateFrom(r.Context()).nulls = nulls
			}
		}
		r.Header.Set("Content-Type", jsonType) // huma takes no other spelling
	}
	if err != nil {
		stateFrom(r.Context()).fail(w, err)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	next(ctx)
}

// checkContent is why a body can't be looked at; of one that can be, where it has null though its schema allows none.
func (e *edge) checkContent(op *huma.Operation, body []byte) (nulls []error, err error) {
	hasNull, err := checkJSON(body, textOf(op))
	if err != nil {
		return nil, err
	}
	schema := bodySchemaOf(e.schemas, op)
	if err := schema.checkKind(body); err != nil || !hasNull {
		return nil, err
	}
	return schema.nulls(body), nil
}

func readBody(body io.Reader) ([]byte, error) {
	if body == nil {
		return nil, nil
	}
	data, err := io.ReadAll(io.LimitReader(body, maxBody+1))
	if err != nil {
		return nil, fault.New(fault.CodeValidationFailed, "body: could not be read").WithCause(err)
	}
	if len(data) > maxBody {
		return nil, errTooLarge
	}
	return data, nil
}

func checkMediaType(header string) error {
	media, _, err := mime.ParseMediaType(header)
	if media != jsonType || (err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter)) {
		return errMediaType
	}
	return nil
}

// checkJSON refuses what a decoder might read in two ways: names given twice, broken UTF-8, NUL,
// more than one value; and nesting that only serves to exhaust somebody. No message quotes a value.
// NUL may be in values at the places of text, and nowhere else. It tells whether there is a null.
func checkJSON(body []byte, text []textPlace) (hasNull bool, err error) {
	mayHaveNUL := bytes.Contains(body, []byte(`\u0000`))
	var withNUL []fault.Problem
	d := jsontext.NewDecoder(bytes.NewReader(body))
	for values := 0; ; {
		token, err := d.ReadToken()
		if errors.Is(err, io.EOF) && values == 1 {
			break
		}
		switch {
		case err != nil:
			return false, notJSON(d, err)
		case d.StackDepth() > maxDepth:
			return false, fault.Invalid(whole("is nested too deep"))
		case token.Kind() == 'n':
			hasNull = true
		case mayHaveNUL && token.Kind() == '"' && len(withNUL) < maxPlaces &&
			strings.ContainsRune(token.String(), 0) && !isText(d, text):
			withNUL = append(withNUL, place(d, d.StackPointer(), "must not contain NUL"))
		}
		if d.StackDepth() == 0 {
			values++
		}
	}
	if withNUL != nil {
		return false, fault.Invalid(withNUL...)
	}
	return hasNull, nil
}

// textPlaces names what an operation says of its text in its metadata, a []textPlace.
const textPlaces = "text"

// textPlace is a place of the body that may hold any text: the names and, for the element of a list, * on the way to it.
type textPlace []string

func placesOf(names []string) []textPlace {
	places := make([]textPlace, len(names))
	for i, name := range names {
		places[i] = strings.Split(name, ".")
	}
	return places
}

func textOf(op *huma.Operation) []textPlace {
	places, _ := op.Metadata[textPlaces].([]textPlace)
	return places
}

// isText reports whether the string that was read last stands at one of the places. It is a value then: a name with NUL is
// not one that a place has.
func isText(d *jsontext.Decoder, places []textPlace) bool {
	at := slices.Collect(d.StackPointer().Tokens())
	return slices.ContainsFunc(places, func(place textPlace) bool {
		if len(place) != len(at) {
			return false
		}
		for i, want := range place {
			if kind, _ := d.StackIndex(i + 1); (kind == '[') != (want == "*") || kind == '{' && want != at[i] {
				return false
			}
		}
		return true
	})
}

func notJSON(d *jsontext.Decoder, err error) error {
	var syntax *jsontext.SyntacticError
	if !errors.As(err, &syntax) || !errors.Is(err, jsontext.ErrDuplicateName) {
		return fault.Invalid(whole("is not valid JSON"))
	}
	twice := place(d, syntax.JSONPointer, "is given twice")
	if twice.Name == fault.WholeBody {
		twice.Rule = "has a name twice"
	}
	return fault.Invalid(twice)
}

func place(d *jsontext.Decoder, at jsontext.Pointer, rule string) fault.Problem {
	field := spell(d, at)
	if field == "" {
		return whole(rule)
	}
	return fault.Field(field, rule)
}

// whole says that a rule is broken by the body itself.
func whole(rule string) fault.Problem {
	return fault.Field(fault.WholeBody, rule)
}

// spell writes a place as huma does: operations[0].path. Whether 0 is an element or a name only the decoder knows. A place
// that can't be told in a few plain characters, because the client has made up its name, is "": the body itself.
func spell(d *jsontext.Decoder, at jsontext.Pointer) string {
	var text strings.Builder
	depth := 0
	for part := range at.Tokens() {
		depth++
		switch kind, _ := d.StackIndex(depth); {
		case kind == '[':
			text.WriteString("[" + part + "]")
		case text.Len() > 0:
			text.WriteString("." + part)
		default:
			text.WriteString(part)
		}
	}
	field := text.String()
	if len(field) > maxPlace || strings.ContainsFunc(field, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return ""
	}
	return field
}

func marshal(w io.Writer, v any) error {
	return json.MarshalWrite(w, v) //nolint:wrapcheck // huma's to report
}
