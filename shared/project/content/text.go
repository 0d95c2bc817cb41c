package content

import (
	"encoding/base64"
	"errors"
	"strings"
	"unicode/utf8"
)

// ErrNotBase64 says: text that is not base64 in its one strict form: RFC 4648 §4, padded, no line breaks, no stray bits.
var ErrNotBase64 = errors.New("content: not base64")

// FromBase64 decodes the strict form. Error: ErrNotBase64.
func FromBase64(text string) ([]byte, error) {
	if strings.ContainsAny(text, "\r\n") { // which the decoder passes over
		return nil, ErrNotBase64
	}
	data, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil {
		return nil, ErrNotBase64 // the decoder's own error tells where, which helps nobody
	}
	return data, nil
}

// FitsJSON reports whether a content travels as text: it is UTF-8, and JSON's escapes do not make it twice as long.
func FitsJSON(data []byte) bool {
	if len(data) == 0 {
		return true
	}
	return utf8.Valid(data) && escaped(data) < 2*len(data)
}

// escaped is the length of a text in JSON, without its quotes (RFC 8259 §7, the short escapes where there are any).
func escaped(text []byte) int {
	n := len(text)
	for _, c := range text {
		switch {
		case c == '"', c == '\\', c == '\b', c == '\f', c == '\n', c == '\r', c == '\t':
			n++
		case c < ' ':
			n += 5
		}
	}
	return n
}
