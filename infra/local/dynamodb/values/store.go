package values

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
)

// AppendItem appends the stored form of an item: the number of attributes, then names and values sorted by name.
func AppendItem(dst []byte, item Item) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(item)))
	for n := range item {
		dst = storeText(dst, item[n].Name)
		dst = item[n].Value.store(dst)
	}
	return dst
}

func (v Value) store(dst []byte) []byte { return v.storeContent(append(dst, byte(v.Kind))) }

func (v Value) storeContent(dst []byte) []byte {
	switch v.Kind {
	case S, B:
		return storeText(dst, v.S)
	case N:
		return v.N.store(dst)
	case SS, NS, BS:
		return storeList(dst, v.L, Value.storeContent)
	case M:
		return AppendItem(dst, v.M)
	case L:
		return storeList(dst, v.L, Value.store)
	case BOOL:
		if v.Bool {
			return append(dst, 1)
		}
		return append(dst, 0)
	default:
		return dst
	}
}

func storeText(dst []byte, text string) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(text)))
	return append(dst, text...)
}

func storeList(dst []byte, list []Value, element func(Value, []byte) []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(list)))
	for _, value := range list {
		dst = element(value, dst)
	}
	return dst
}

// store appends the exponent with the sign, then the digits.
func (n Number) store(dst []byte) []byte {
	signed := int64(n.exponent) << 1
	if n.negative {
		signed |= 1
	}
	return storeText(binary.AppendVarint(dst, signed), n.digits)
}

// DecodeStoredItem decodes the result of AppendItem. The item does not refer to data. The error is ErrCorrupt.
func DecodeStoredItem(data []byte) (Item, error) {
	r := storeReader{data: data, text: string(data), depth: MaxDepth + 1}
	item := r.item()
	if r.failed || r.at != len(data) {
		return nil, fmt.Errorf("stored item: byte %d of %d: %w", r.at, len(data), ErrCorrupt)
	}
	return item, nil
}

// storeReader decodes stored bytes. All strings of an item are parts of one copy of its bytes. After a failure all
// reads return zero values.
type storeReader struct {
	data   []byte
	text   string
	at     int
	depth  int // levels left
	failed bool
}

func (r *storeReader) item() Item {
	item := make(Item, r.count())
	for n := range item {
		item[n].Name = r.string()
		item[n].Value = r.value()
	}
	return item
}

func (r *storeReader) value() Value {
	if r.failed || r.at >= len(r.data) || r.depth <= 0 {
		r.failed = true
		return Value{}
	}
	r.depth--
	defer func() { r.depth++ }()
	r.at++
	return r.content(Kind(r.data[r.at-1]))
}

func (r *storeReader) content(kind Kind) Value {
	v := Value{Kind: kind}
	switch kind {
	case S, B:
		v.S = r.string()
	case N:
		v.N = r.number()
	case SS, NS, BS:
		v.L = r.list(func() Value { return r.content(kind.element()) })
	case M:
		v.M = r.item()
	case L:
		v.L = r.list(r.value)
	case BOOL:
		v.Bool = r.uvarint() == 1
	case NULL:
	default:
		r.failed = true
	}
	return v
}

func (r *storeReader) list(element func() Value) []Value {
	list := make([]Value, r.count())
	for i := range list {
		list[i] = element()
	}
	return list
}

// count reads a number of elements that take at least one byte each.
func (r *storeReader) count() int {
	n := r.uvarint()
	if n > uint64(len(r.data[r.at:])) {
		r.failed = true
		return 0
	}
	return int(n)
}

func (r *storeReader) string() string {
	n := r.count()
	r.at += n
	return r.text[r.at-n : r.at]
}

func (r *storeReader) uvarint() uint64 {
	n, width := binary.Uvarint(r.data[r.at:])
	if width <= 0 {
		r.failed = true
		r.at = len(r.data)
		return 0
	}
	r.at += width
	return n
}

func (r *storeReader) number() Number {
	signed, width := binary.Varint(r.data[r.at:])
	if width <= 0 || signed < math.MinInt16 || signed > math.MaxInt16 {
		r.failed = true
		return Number{}
	}
	r.at += width
	digits := r.string()
	n, err := newNumber(signed&1 == 1, digits, int(signed>>1))
	r.failed = r.failed || err != nil || strings.Trim(digits, "0123456789") != ""
	return n
}

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
