package values

import (
	"bytes"
	"fmt"
)

// DecodeKey decodes one value that AppendKey encoded, and returns the rest. Only tests decode keys. The error is
// ErrCorrupt.
func DecodeKey(data []byte) (Value, []byte, error) {
	if len(data) == 0 {
		return Value{}, nil, fmt.Errorf("key: empty: %w", ErrCorrupt)
	}
	tag, data := data[0], data[1:]
	switch tag {
	case tagString:
		text, rest, err := decodeEscaped(data)
		return Value{Kind: S, S: string(text)}, rest, err
	case tagBinary:
		text, rest, err := decodeEscaped(data)
		return Value{Kind: B, S: string(text)}, rest, err
	case tagZero:
		return Value{Kind: N}, data, nil
	case tagNegative, tagPositive:
		n, rest, err := decodeNumberKey(data, tag == tagNegative)
		return Value{Kind: N, N: n}, rest, err
	default:
		return Value{}, nil, fmt.Errorf("key: tag %#x: %w", tag, ErrCorrupt)
	}
}

func decodeEscaped(data []byte) (text, rest []byte, err error) {
	text = []byte{}
	for {
		i := bytes.IndexByte(data, escape)
		if i < 0 || i+1 >= len(data) {
			return nil, nil, fmt.Errorf("key: no end: %w", ErrCorrupt)
		}
		text = append(text, data[:i]...)
		follower := data[i+1]
		data = data[i+2:]
		switch follower {
		case terminator:
			return text, data, nil
		case escapedNul:
			text = append(text, escape)
		default:
			return nil, nil, fmt.Errorf("key: escape %#x: %w", follower, ErrCorrupt)
		}
	}
}

func decodeNumberKey(data []byte, negative bool) (Number, []byte, error) {
	flip := byte(0)
	if negative {
		flip = 0xFF
	}
	if len(data) == 0 {
		return Number{}, nil, fmt.Errorf("key: number: %w", ErrCorrupt)
	}
	magnitude := int(data[0]^flip) + minMagnitude
	data = data[1:]
	var buffer [maxDigits]byte
	digits := buffer[:0]
	for i, b := range data {
		pair := b ^ flip
		if pair == 0 && len(digits) > 0 {
			n, err := newNumber(negative, string(digits), magnitude-len(digits)+1)
			if err != nil {
				return Number{}, nil, fmt.Errorf("key: %w: %w", err, ErrCorrupt)
			}
			return n, data[i+1:], nil
		}
		if pair == 0 || pair > 100 || len(digits) == maxDigits {
			break
		}
		digits = append(digits, '0'+(pair-1)/10, '0'+(pair-1)%10)
	}
	return Number{}, nil, fmt.Errorf("key: number: %w", ErrCorrupt)
}
