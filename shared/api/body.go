package api

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

const (
	jsonType = "application/json"
	// maxBody is the largest request, in bytes (API.md §1).
	maxBody = 4 << 20
	// maxDepth is how deep a body's objects and lists may nest.
	maxDepth = 32
)

var (
	errTooLarge  = NewError(CodePayloadTooLarge, "The request is larger than 4 MiB.")
	errMediaType = NewError(CodeUnsupportedMediaType, "Send the body as application/json.")
)

// checkBody reads the body once and holds it against API.md §1, before huma looks for fields in it.
func checkBody(ctx huma.Context, next func(huma.Context)) {
	if safe(ctx.Method()) {
		next(ctx)
		return
	}
	r, w := humago.Unwrap(ctx)
	body, err := readBody(r.Body)
	if err == nil && len(body) > 0 {
		err = checkMediaType(r.Header.Get("Content-Type"))
		if op := ctx.Operation(); err == nil && op.RequestBody != nil {
			err = checkJSON(body)
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

func readBody(body io.Reader) ([]byte, error) {
	if body == nil {
		return nil, nil
	}
	data, err := io.ReadAll(io.LimitReader(body, maxBody+1))
	if err != nil {
		return nil, NewError(CodeValidationFailed, "body: could not be read").WithCause(err)
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
// more than one value; and nesting that only serves to exhaust somebody. No message quotes the body.
func checkJSON(body []byte) error {
	mayHaveNUL := bytes.Contains(body, []byte(`\u0000`))
	d := jsontext.NewDecoder(bytes.NewReader(body))
	for values := 0; ; {
		token, err := d.ReadToken()
		if errors.Is(err, io.EOF) && values == 1 {
			return nil
		}
		switch {
		case err != nil:
			return notJSON(err)
		case d.StackDepth() > maxDepth:
			return refuse("", "is nested too deep")
		case mayHaveNUL && token.Kind() == '"' && strings.ContainsRune(token.String(), 0):
			return refuse(d.StackPointer(), "must not contain NUL")
		}
		if d.StackDepth() == 0 {
			values++
		}
	}
}

func notJSON(err error) error {
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) && errors.Is(err, jsontext.ErrDuplicateName) {
		return refuse(syntax.JSONPointer, "is given twice")
	}
	return refuse("", "is not valid JSON")
}

// refuse names a place in the body by its JSON pointer, the body itself by "".
func refuse(at jsontext.Pointer, rule string) *Error {
	field := "body"
	if at != "" {
		var parts []string
		for part := range at.Tokens() {
			parts = append(parts, part)
		}
		field = strings.Join(parts, ".")
	}
	return NewError(CodeValidationFailed, field+": "+rule)
}

func marshal(w io.Writer, v any) error {
	return json.MarshalWrite(w, v) //nolint:wrapcheck // huma's to report
}

// errWrongValue is what a value that does not fit its field answers with; the decoder's own error would quote it.
var errWrongValue = errors.New("has a value that does not fit")

func unmarshal(data []byte, v any) error {
	if err := json.Unmarshal(data, v); err != nil {
		return errWrongValue
	}
	return nil
}
