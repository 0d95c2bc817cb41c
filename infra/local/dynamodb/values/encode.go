package values

import (
	"encoding/base64"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

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
