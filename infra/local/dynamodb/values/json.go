package values

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Error is the error for an attribute value or an expression that DynamoDB rejects.
type Error struct {
	Message string
	// Serialization means that the JSON does not have the shape of an attribute value. DynamoDB then reports a
	// SerializationException instead of a ValidationException.
	Serialization bool
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

var (
	errEmptyValue = &Error{Message: "Supplied AttributeValue is empty, must contain exactly one data type"}
	errManyTypes  = &Error{Message: "Supplied AttributeValue has more than one data type"}
	errEmptyName  = &Error{Message: "Empty attribute name"}
	errEmptySet   = &Error{Message: "One or more parameter values were invalid: A set may not be empty"}
	errDuplicates = &Error{Message: "One or more parameter values were invalid: Input collection contains duplicates"}
	errFalseNull  = &Error{Message: "One or more parameter values were invalid: Null attribute values must be true"}
	errBase64     = &Error{Message: "A binary attribute value is not valid Base64", Serialization: true}
	// ErrNesting is the error for a value of more than [MaxDepth] levels.
	ErrNesting = &Error{Message: "Nesting Levels have exceeded supported limits"}
)

// UnmarshalJSONFrom decodes the wire format, such as {"S":"text"}. It returns an *[Error] if DynamoDB rejects the
// value.
func (v *Value) UnmarshalJSONFrom(dec *jsontext.Decoder) (err error) {
	*v, err = decodeValue(dec, 1)
	return err
}

// UnmarshalJSONFrom decodes the wire format, such as {"name":{"S":"text"}}. It returns an *[Error] if DynamoDB rejects
// the item. JSON's null is a nil item.
func (i *Item) UnmarshalJSONFrom(dec *jsontext.Decoder) (err error) {
	if dec.PeekKind() == jsontext.KindNull {
		*i = nil
		return skip(dec)
	}
	*i, err = decodeItem(dec, 1)
	return err
}

func decodeValue(dec *jsontext.Decoder, depth int) (v Value, err error) {
	if depth > MaxDepth {
		return v, ErrNesting
	}
	if dec.PeekKind() == jsontext.KindNull {
		return v, errEmptyValue
	}
	if err := expect(dec, jsontext.KindBeginObject); err != nil {
		return v, err
	}
	for dec.PeekKind() != jsontext.KindEndObject {
		name, err := readText(dec)
		if err != nil {
			return v, err
		}
		kind, known := ParseKind(string(name))
		switch {
		case !known || dec.PeekKind() == jsontext.KindNull:
			err = skip(dec)
		case v.Kind != KindInvalid:
			err = errManyTypes
		default:
			v, err = decodeContent(dec, kind, depth)
		}
		if err != nil {
			return Value{}, err
		}
	}
	if v.Kind == KindInvalid {
		return v, errEmptyValue
	}
	return v, expect(dec, jsontext.KindEndObject)
}

func decodeContent(dec *jsontext.Decoder, kind Kind, depth int) (v Value, err error) {
	v.Kind = kind
	switch kind {
	case S, N:
		var text []byte
		if text, err = readText(dec); err == nil && kind == N {
			v.N, err = ParseNumber(string(text))
		} else {
			v.S = string(text)
		}
	case B:
		v.S, err = decodeBytes(dec)
	case SS, NS, BS:
		v.L, err = decodeList(dec, func(dec *jsontext.Decoder) (Value, error) {
			return decodeContent(dec, kind.element(), depth)
		})
		switch {
		case err != nil:
		case len(v.L) == 0:
			err = errEmptySet
		case len(keysOf(v.L)) < len(v.L):
			err = errDuplicates
		}
	case M:
		v.M, err = decodeItem(dec, depth+1)
	case L:
		v.L, err = decodeList(dec, func(dec *jsontext.Decoder) (Value, error) { return decodeValue(dec, depth+1) })
	case BOOL:
		v.Bool, err = decodeBool(dec)
	default:
		var null bool
		if null, err = decodeBool(dec); err == nil && !null {
			err = errFalseNull
		}
	}
	return v, err
}

// attributesOnStack is the number of attributes that are decoded and sorted without an allocation.
const attributesOnStack = 16

func decodeItem(dec *jsontext.Decoder, depth int) (Item, error) {
	if err := expect(dec, jsontext.KindBeginObject); err != nil {
		return nil, err
	}
	var buffer [attributesOnStack]Attribute
	attributes := buffer[:0]
	for dec.PeekKind() != jsontext.KindEndObject {
		text, err := readText(dec)
		if err != nil {
			return nil, err
		}
		name := string(text)
		if name == "" {
			return nil, errEmptyName
		}
		value, err := decodeValue(dec, depth)
		if err != nil {
			return nil, err
		}
		attributes = append(attributes, Attribute{name, value})
	}
	slices.SortStableFunc(attributes, func(a, b Attribute) int { return strings.Compare(a.Name, b.Name) })
	item := make(Item, 0, len(attributes))
	for n, a := range attributes {
		if n+1 == len(attributes) || attributes[n+1].Name != a.Name { // the last of several with the same name
			item = append(item, a)
		}
	}
	return item, expect(dec, jsontext.KindEndObject)
}

func decodeList(dec *jsontext.Decoder, element func(*jsontext.Decoder) (Value, error)) ([]Value, error) {
	if err := expect(dec, jsontext.KindBeginArray); err != nil {
		return nil, err
	}
	list := []Value{}
	for dec.PeekKind() != jsontext.KindEndArray {
		value, err := element(dec)
		if err != nil {
			return nil, err
		}
		list = append(list, value)
	}
	return list, expect(dec, jsontext.KindEndArray)
}

// strictBase64 rejects padding that hides bits.
var strictBase64 = base64.StdEncoding.Strict()

func decodeBytes(dec *jsontext.Decoder) (string, error) {
	text, err := readText(dec)
	if err != nil {
		return "", err
	}
	data := make([]byte, base64.StdEncoding.DecodedLen(len(text)))
	n, err := strictBase64.Decode(data, text)
	if err != nil {
		return "", errBase64
	}
	return string(data[:n]), nil
}

func decodeBool(dec *jsontext.Decoder) (bool, error) {
	if dec.PeekKind() == jsontext.KindFalse {
		return false, expect(dec, jsontext.KindFalse)
	}
	return true, expect(dec, jsontext.KindTrue)
}

// readText reads a string or a name. The bytes are valid until the next read.
func readText(dec *jsontext.Decoder) ([]byte, error) {
	if kind := dec.PeekKind(); kind != jsontext.KindString && kind != jsontext.KindInvalid {
		return nil, wrongType(kind, jsontext.KindString)
	}
	quoted, err := dec.ReadValue()
	if err != nil {
		return nil, fmt.Errorf("attribute value: %w", err)
	}
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1], nil
	}
	text, err := jsontext.AppendUnquote(nil, quoted)
	if err != nil {
		return nil, fmt.Errorf("attribute value: %w", err)
	}
	return text, nil
}

func expect(dec *jsontext.Decoder, want jsontext.Kind) error {
	token, err := dec.ReadToken()
	if err != nil {
		return fmt.Errorf("attribute value: %w", err)
	}
	if token.Kind() != want {
		return wrongType(token.Kind(), want)
	}
	return nil
}

func wrongType(found, want jsontext.Kind) error {
	return &Error{
		Message:       fmt.Sprintf("An attribute value has the wrong JSON type: found %s instead of %s", found, want),
		Serialization: true,
	}
}

func skip(dec *jsontext.Decoder) error {
	if err := dec.SkipValue(); err != nil {
		return fmt.Errorf("attribute value: %w", err)
	}
	return nil
}

// AppendJSON appends the value in the wire format, such as {"S":"text"}.
func (v Value) AppendJSON(dst []byte) []byte {
	dst = append(dst, '{', '"')
	dst = append(dst, v.Kind.String()...)
	dst = append(dst, '"', ':')
	return append(v.appendContent(dst), '}')
}

func (v Value) appendContent(dst []byte) []byte {
	switch v.Kind {
	case S:
		return appendQuoted(dst, v.S)
	case N:
		dst = v.N.appendString(append(dst, '"'))
		return append(dst, '"')
	case B:
		dst = base64.StdEncoding.AppendEncode(append(dst, '"'), []byte(v.S))
		return append(dst, '"')
	case SS, NS, BS:
		return appendList(dst, v.L, Value.appendContent)
	case M:
		return v.M.AppendJSON(dst)
	case L:
		return appendList(dst, v.L, Value.AppendJSON)
	default:
		return strconv.AppendBool(dst, v.Bool || v.Kind == NULL)
	}
}

// AppendJSON appends the item in the wire format. A nil item is {}.
func (i Item) AppendJSON(dst []byte) []byte {
	dst = append(dst, '{')
	for n := range i {
		if n > 0 {
			dst = append(dst, ',')
		}
		dst = appendQuoted(dst, i[n].Name)
		dst = append(dst, ':')
		dst = i[n].Value.AppendJSON(dst)
	}
	return append(dst, '}')
}

// MarshalJSONTo implements [json.MarshalerTo] with AppendJSON.
func (v Value) MarshalJSONTo(enc *jsontext.Encoder) error {
	return writeValue(enc, v.AppendJSON(enc.AvailableBuffer()))
}

// MarshalJSONTo implements [json.MarshalerTo] with AppendJSON.
func (i Item) MarshalJSONTo(enc *jsontext.Encoder) error {
	return writeValue(enc, i.AppendJSON(enc.AvailableBuffer()))
}

func writeValue(enc *jsontext.Encoder, text jsontext.Value) error {
	if err := enc.WriteValue(text); err != nil {
		return fmt.Errorf("attribute value: %w", err)
	}
	return nil
}

func appendList(dst []byte, list []Value, element func(Value, []byte) []byte) []byte {
	dst = append(dst, '[')
	for i, value := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = element(value, dst)
	}
	return append(dst, ']')
}

func appendQuoted(dst []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7F || c == '"' || c == '\\' {
			// The only error is invalid UTF-8, which is replaced.
			dst, _ = jsontext.AppendQuote(dst, s)
			return dst
		}
	}
	dst = append(dst, '"')
	dst = append(dst, s...)
	return append(dst, '"')
}
