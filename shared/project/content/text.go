package content

import (
	"encoding/base64"
	"errors"
	"strings"
	"unicode/utf8"
)

// ErrNotBase64 reports text that is not strict base64: RFC 4648 section 4, with padding, without line breaks, and with
// zero trailing bits.
var ErrNotBase64 = errors.New("content: not base64")

// FromBase64 decodes strict base64. Error: ErrNotBase64.
func FromBase64(text string) ([]byte, error) {
	if strings.ContainsAny(text, "\r\n") { // the decoder would ignore line breaks
		return nil, ErrNotBase64
	}
	data, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil {
		return nil, ErrNotBase64 // the decoder's error only adds a position
	}
	return data, nil
}

// FitsJSON reports whether data can be returned as text in JSON: it must be valid UTF-8, and escaping must not double
// its length.
func FitsJSON(data []byte) bool {
	if len(data) == 0 {
		return true
	}
	return utf8.Valid(data) && escapedLen(data) < 2*len(data)
}

// escapedLen returns the length of text as a JSON string, without the quotes. It assumes short escapes where they exist
// (RFC 8259 section 7).
func escapedLen(text []byte) int {
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
