package values

import (
	"cmp"
	"errors"
	"math/big"
	"strconv"
	"strings"
)

// Limits of a DynamoDB number: 38 significant digits, magnitudes from 1E-130 to 9.9…E+125, and zero.
const (
	maxDigits    = 38
	maxMagnitude = 125
	minMagnitude = -130
)

var (
	errOverflow   = &Error{Message: "Number overflow: the magnitude is larger than the supported range"}
	errUnderflow  = &Error{Message: "Number underflow: the magnitude is smaller than the supported range"}
	errManyDigits = &Error{Message: "Attempting to store more than 38 significant digits in a Number"}
)

// Number is an exact decimal: its digits × 10^exponent. The zero value is 0. Equal numbers are equal under ==, because
// 1.0, 1 and 1E0 have the same representation.
type Number struct {
	digits   string // without leading and trailing zeros; empty for 0
	exponent int16
	negative bool
}

// newNumber returns digits × 10^exponent.
func newNumber(negative bool, digits string, exponent int) (Number, error) {
	digits = strings.TrimLeft(digits, "0")
	significant := strings.TrimRight(digits, "0")
	if significant == "" {
		return Number{}, nil
	}
	exponent += len(digits) - len(significant)
	switch magnitude := exponent + len(significant) - 1; {
	case magnitude > maxMagnitude:
		return Number{}, errOverflow
	case magnitude < minMagnitude:
		return Number{}, errUnderflow
	case len(significant) > maxDigits:
		return Number{}, errManyDigits
	}
	return Number{significant, int16(exponent), negative}, nil
}

// ParseNumber parses a decimal such as -12.5, .5 or 1E+10. The error is an *[Error].
func ParseNumber(s string) (Number, error) {
	mantissa, exponent := s, int64(0)
	var err error
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		mantissa = s[:i]
		exponent, err = strconv.ParseInt(s[i+1:], 10, 64)
	}
	negative := strings.HasPrefix(mantissa, "-")
	if negative || strings.HasPrefix(mantissa, "+") {
		mantissa = mantissa[1:]
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := whole + fraction
	if err != nil || digits == "" || strings.Trim(digits, "0123456789") != "" {
		return Number{}, &Error{Message: "The parameter cannot be converted to a numeric value: " + s}
	}
	const farBeyond = 1 << 20 // avoids overflows below
	exponent = max(min(exponent, farBeyond), -farBeyond)
	if strings.Trim(digits, "0") == "" { // DynamoDB also checks the exponent of a zero
		_, err := newNumber(false, "1", int(exponent))
		return Number{}, err
	}
	return newNumber(negative, digits, int(exponent)-len(fraction))
}

// magnitude is the exponent of the first digit. The number must not be 0.
func (n Number) magnitude() int { return int(n.exponent) + len(n.digits) - 1 }

func (n Number) sign() int {
	switch {
	case n.digits == "":
		return 0
	case n.negative:
		return -1
	default:
		return 1
	}
}

// Neg returns -n.
func (n Number) Neg() Number {
	n.negative = !n.negative && n.digits != ""
	return n
}

// Cmp returns -1, 0 or 1 as n is less than, equal to or greater than m.
func (n Number) Cmp(m Number) int {
	if order := cmp.Compare(n.sign(), m.sign()); order != 0 || n.digits == "" {
		return order
	}
	order := cmp.Or(cmp.Compare(n.magnitude(), m.magnitude()), strings.Compare(n.digits, m.digits))
	if n.negative {
		return -order
	}
	return order
}

// Add returns n + m exactly. It returns an overflow error if the sum is out of range or needs more than 38 digits.
func (n Number) Add(m Number) (Number, error) {
	exponent := min(n.exponent, m.exponent)
	sum := n.integer(exponent)
	sum.Add(sum, m.integer(exponent))
	digits, negative := strings.CutPrefix(sum.String(), "-")
	result, err := newNumber(negative, digits, int(exponent))
	if errors.Is(err, errManyDigits) {
		return Number{}, errOverflow
	}
	return result, err
}

// integer returns the number divided by 10^exponent. The number's exponent must not be less.
func (n Number) integer(exponent int16) *big.Int {
	i := &big.Int{}
	i.SetString(n.digits+strings.Repeat("0", int(n.exponent-exponent)), 10)
	if n.negative {
		i.Neg(i)
	}
	return i
}

// String returns the number without an exponent, as DynamoDB does.
func (n Number) String() string { return string(n.appendString(nil)) }

func (n Number) appendString(dst []byte) []byte {
	if n.negative {
		dst = append(dst, '-')
	}
	switch whole := len(n.digits) + int(n.exponent); {
	case n.digits == "":
		return append(dst, '0')
	case whole <= 0:
		dst = append(append(dst, "0."...), strings.Repeat("0", -whole)...)
		return append(dst, n.digits...)
	case n.exponent < 0:
		dst = append(append(dst, n.digits[:whole]...), '.')
		return append(dst, n.digits[whole:]...)
	default:
		return append(append(dst, n.digits...), strings.Repeat("0", int(n.exponent))...)
	}
}

// Int64 returns the number if it is an integer from -2^63+1 to 2^63-1.
func (n Number) Int64() (int64, bool) {
	if n.digits == "" || n.exponent < 0 || n.magnitude() > 18 {
		return 0, n.digits == ""
	}
	i, err := strconv.ParseInt(n.digits+strings.Repeat("0", int(n.exponent)), 10, 64)
	if n.negative {
		i = -i
	}
	return i, err == nil
}
