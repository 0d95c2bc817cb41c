package values

import "errors"

// ErrCorrupt is the error for stored bytes that are not valid.
var ErrCorrupt = errors.New("corrupt attribute value")

// The first byte of an encoded key. Numbers are ordered by sign first.
const (
	tagNegative = 0x10 + iota
	tagZero
	tagPositive
	tagString = 0x20
	tagBinary = 0x30
)

// A string or binary key ends with 00 01, and a 00 in it is written as 00 FF. So a prefix sorts before longer keys.
const (
	escape     = 0x00
	escapedNul = 0xFF
	terminator = 0x01
)

// AppendKey appends an encoding of a value of type S, N or B. The byte order of encodings is DynamoDB's sort order, and
// no encoding is a prefix of another one. For other types nothing is appended.
func (v Value) AppendKey(dst []byte) []byte {
	switch v.Kind {
	case S:
		return appendEscaped(append(dst, tagString), v.S)
	case B:
		return appendEscaped(append(dst, tagBinary), v.S)
	case N:
		return v.N.appendKey(dst)
	default:
		return dst
	}
}

func appendEscaped(dst []byte, text string) []byte {
	for i := range len(text) {
		dst = append(dst, text[i])
		if text[i] == escape {
			dst = append(dst, escapedNul)
		}
	}
	return append(dst, escape, terminator)
}

// appendKey appends sign, magnitude and the digits in pairs (1 to 100), and then 0. For negative numbers all bytes but
// the sign are inverted, so that larger magnitudes come first.
func (n Number) appendKey(dst []byte) []byte {
	if n.digits == "" {
		return append(dst, tagZero)
	}
	tag, flip := byte(tagPositive), byte(0)
	if n.negative {
		tag, flip = tagNegative, 0xFF
	}
	magnitude := byte(n.magnitude() - minMagnitude)
	dst = append(dst, tag, magnitude^flip)
	for i := 0; i < len(n.digits); i += 2 {
		pair := (n.digits[i]-'0')*10 + 1
		if i+1 < len(n.digits) {
			pair += n.digits[i+1] - '0'
		}
		dst = append(dst, pair^flip)
	}
	return append(dst, flip)
}
