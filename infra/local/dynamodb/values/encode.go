package values

import (
	"encoding/base64"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// AppendJSON appends the value in the wire format, such as {"S":"text"}.
func (v Value) AppendJSON(dst []byte) []byte {
	dst = append(dst, '{', '"')
	dst = append(dst, v.Kind.String()...)
	dst = append(dst, '"', ':')
	switch v.Kind {
	case S:
		dst = appendQuoted(dst, v.S)
	case N:
		dst = appendNumber(dst, v.N)
	case B:
		dst = appendBase64(dst, v.B)
	case SS:
		dst = appendList(dst, v.SS, appendQuoted)
	case NS:
		dst = appendList(dst, v.NS, appendNumber)
	case BS:
		dst = appendList(dst, v.BS, appendBase64)
	case M:
		dst = v.M.AppendJSON(dst)
	case L:
		dst = appendList(dst, v.L, func(dst []byte, element Value) []byte { return element.AppendJSON(dst) })
	case BOOL:
		dst = appendBool(dst, v.Bool)
	default:
		dst = appendBool(dst, true)
	}
	return append(dst, '}')
}

// AppendJSON appends the item in the wire format, sorted by name. A nil item is {}.
func (i Item) AppendJSON(dst []byte) []byte {
	var buffer [namesOnStack]string
	dst = append(dst, '{')
	for n, name := range i.sortedNames(buffer[:0]) {
		if n > 0 {
			dst = append(dst, ',')
		}
		dst = appendQuoted(dst, name)
		dst = append(dst, ':')
		dst = i[name].AppendJSON(dst)
	}
	return append(dst, '}')
}

// namesOnStack is the number of attribute names that are sorted without an allocation.
const namesOnStack = 24

func (i Item) sortedNames(names []string) []string {
	for name := range i {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
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

func appendList[T any](dst []byte, list []T, element func([]byte, T) []byte) []byte {
	dst = append(dst, '[')
	for i, value := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = element(dst, value)
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

func appendNumber(dst []byte, n Number) []byte {
	dst = append(dst, '"')
	dst = n.appendString(dst)
	return append(dst, '"')
}

func appendBase64(dst, b []byte) []byte {
	dst = append(dst, '"')
	dst = base64.StdEncoding.AppendEncode(dst, b)
	return append(dst, '"')
}

func appendBool(dst []byte, b bool) []byte {
	if b {
		return append(dst, "true"...)
	}
	return append(dst, "false"...)
}
