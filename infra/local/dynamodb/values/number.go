package values

import (
	"math"
	"slices"
	"strconv"
)

// Limits of a DynamoDB number: 38 significant digits, magnitudes from
// 1E-130 to 9.9…E+125, and zero.
const (
	maxDigits    = 38
	maxMagnitude = 125
	minMagnitude = -130
	farBeyond    = 1 << 40
)

// Number is an exact decimal. The zero value is 0. Equal numbers are equal under ==, because 1.0, 1 and 1E0 have the same
// representation.
type Number struct {
	coefficient uint128 // without trailing zeros
	exponent    int16   // value = ± coefficient × 10^exponent
	digits      uint8   // of the coefficient; 0 for zero
	negative    bool
}

// NumberFromInt returns an integer as a number.
func NumberFromInt(i int64) Number {
	magnitude := uint64(i) //nolint:gosec // two's complement, put right below
	if i < 0 {
		magnitude = -magnitude
	}
	n, _ := newNumber(i < 0, uint128{lo: magnitude}, 0)
	return n
}

// makeNumber returns a number of parts that are in range.
func makeNumber(negative bool, coefficient uint128, exponent, digits int) Number {
	return Number{
		coefficient: coefficient,
		exponent:    int16(exponent), //nolint:gosec // -167 to 125
		digits:      uint8(digits),   //nolint:gosec // at most 38
		negative:    negative,
	}
}

// newNumber normalizes and checks a result of arithmetic. A result of more than 38 digits is an overflow, as on AWS.
func newNumber(negative bool, coefficient uint128, exponent int) (Number, error) {
	if coefficient.isZero() {
		return Number{}, nil
	}
	for {
		quotient, rest := coefficient.divMod10()
		if rest != 0 {
			break
		}
		coefficient, exponent = quotient, exponent+1
	}
	digits := coefficient.digits()
	switch magnitude := exponent + digits - 1; {
	case digits > maxDigits || magnitude > maxMagnitude:
		return Number{}, errOverflow
	case magnitude < minMagnitude:
		return Number{}, errUnderflow
	}
	return makeNumber(negative, coefficient, exponent, digits), nil
}

var (
	errOverflow   = &Error{Message: "Number overflow. Attempting to store a number with magnitude larger than supported range"}
	errUnderflow  = &Error{Message: "Number underflow. Attempting to store a number with magnitude smaller than supported range"}
	errManyDigits = &Error{Message: "Attempting to store more than 38 significant digits in a Number"}
)

// ParseNumber parses a decimal such as -12.5, .5 or 1E+10. The error is an *[Error].
func ParseNumber(s string) (Number, error) {
	scan, ok := scanDecimal(s)
	switch magnitude := scan.magnitude(); {
	case !ok:
		return Number{}, &Error{Message: "The parameter cannot be converted to a numeric value: " + s}
	case magnitude > maxMagnitude:
		return Number{}, errOverflow
	case magnitude < minMagnitude:
		return Number{}, errUnderflow
	case scan.significant > maxDigits:
		return Number{}, errManyDigits
	case scan.significant == 0:
		return Number{}, nil
	}
	coefficient := parseDigits(scan.digits[:scan.significant])
	return makeNumber(scan.negative, coefficient, scan.exponent, scan.significant), nil
}

// decimalScan has the parts of a number's text.
type decimalScan struct {
	digits      [maxDigits]byte // the first significant ones
	significant int             // digits between the first and the last that is not 0
	exponent    int             // of the last significant digit
	written     int             // the exponent in the text
	negative    bool
}

// magnitude is the exponent of the first digit. DynamoDB also checks the exponent of a zero.
func (s *decimalScan) magnitude() int {
	if s.significant == 0 {
		return s.written
	}
	return s.exponent + s.significant - 1
}

func scanDecimal(s string) (decimalScan, bool) {
	var scan decimalScan
	i := 0
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		scan.negative = s[i] == '-'
		i++
	}
	zeros, fraction, any, point := 0, 0, false, false
mantissa:
	for ; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '.' && !point:
			point = true
			continue
		case c < '0' || c > '9':
			break mantissa
		}
		any = true
		if point {
			fraction++
		}
		if c == '0' {
			if scan.significant > 0 {
				zeros++ // trailing, until another digit follows
			}
			continue
		}
		scan.push('0', zeros)
		scan.push(c, 1)
		zeros = 0
	}
	if !any {
		return scan, false
	}
	var ok bool
	scan.written, ok = scanExponent(s[i:])
	scan.exponent = scan.written - fraction + zeros
	return scan, ok
}

func (s *decimalScan) push(digit byte, times int) {
	for range times {
		if s.significant < len(s.digits) {
			s.digits[s.significant] = digit
		}
		s.significant++
	}
}

// scanExponent parses the part after the mantissa: nothing, or e[±]digits.
func scanExponent(s string) (int, bool) {
	if s == "" {
		return 0, true
	}
	if s[0] != 'e' && s[0] != 'E' {
		return 0, false
	}
	exponent, err := strconv.ParseInt(s[1:], 10, 64)
	if err != nil {
		return 0, false
	}
	// Exponents far out of range are clamped, so that later additions cannot overflow.
	return int(max(min(exponent, farBeyond), -farBeyond)), true
}

// magnitude is the exponent of the first digit; the number must not be 0.
func (n Number) magnitude() int { return int(n.exponent) + int(n.digits) - 1 }

// Neg returns -n.
func (n Number) Neg() Number {
	n.negative = !n.negative && n.digits > 0
	return n
}

// Cmp returns -1, 0 or 1 as n is less than, equal to or greater than m.
func (n Number) Cmp(m Number) int {
	if n == m {
		return 0
	}
	if sign, other := n.sign(), m.sign(); sign != other {
		if sign < other {
			return -1
		}
		return 1
	}
	order := n.compareMagnitude(m)
	if n.negative {
		return -order
	}
	return order
}

func (n Number) sign() int {
	switch {
	case n.digits == 0:
		return 0
	case n.negative:
		return -1
	default:
		return 1
	}
}

func (n Number) compareMagnitude(m Number) int {
	if a, b := n.magnitude(), m.magnitude(); a != b {
		if a < b {
			return -1
		}
		return 1
	}
	a, b := n.coefficient, m.coefficient
	if shorter := int(n.digits) - int(m.digits); shorter < 0 {
		a, _ = a.scale(-shorter)
	} else {
		b, _ = b.scale(shorter)
	}
	return a.cmp(b)
}

// Add returns n + m exactly. It returns an overflow error if the sum is out of range or needs more than 38 digits.
func (n Number) Add(m Number) (Number, error) {
	if n.digits == 0 {
		return m, nil
	}
	if m.digits == 0 {
		return n, nil
	}
	if n.exponent < m.exponent {
		n, m = m, n
	}
	// The last digit of m is not 0, so all digits from n's first to m's last
	// are needed: a gap beyond 38, or a scaled n beyond 2×10^38, cannot fit.
	gap := int(n.exponent) - int(m.exponent)
	if gap > maxDigits {
		return Number{}, errOverflow
	}
	limit := pow10[maxDigits].add(pow10[maxDigits])
	a, ok := n.coefficient.scale(gap)
	if !ok || a.cmp(limit) > 0 {
		return Number{}, errOverflow
	}
	b := m.coefficient
	switch {
	case n.negative == m.negative:
		return newNumber(n.negative, a.add(b), int(m.exponent))
	case a.cmp(b) >= 0:
		return newNumber(n.negative, a.sub(b), int(m.exponent))
	default:
		return newNumber(m.negative, b.sub(a), int(m.exponent))
	}
}

// Sub returns n - m, like Add.
func (n Number) Sub(m Number) (Number, error) { return n.Add(m.Neg()) }

// String returns the number without an exponent, as DynamoDB does.
func (n Number) String() string {
	var buffer [64]byte
	return string(n.appendString(buffer[:0]))
}

func (n Number) appendString(dst []byte) []byte {
	if n.digits == 0 {
		return append(dst, '0')
	}
	if n.negative {
		dst = append(dst, '-')
	}
	if n.exponent == 0 && n.coefficient.hi == 0 {
		return strconv.AppendUint(dst, n.coefficient.lo, 10)
	}
	whole := int(n.digits) + int(n.exponent) // digits before the point
	if whole <= 0 {
		dst = append(dst, '0', '.')
		dst = appendZeros(dst, -whole)
		return n.coefficient.appendDigits(dst, int(n.digits))
	}
	start := len(dst)
	dst = n.coefficient.appendDigits(dst, int(n.digits))
	if n.exponent >= 0 {
		return appendZeros(dst, int(n.exponent))
	}
	return slices.Insert(dst, start+whole, '.')
}

func appendZeros(dst []byte, count int) []byte {
	for range count {
		dst = append(dst, '0')
	}
	return dst
}

// Int64 returns the number if it is an integer from -2^63+1 to 2^63-1.
func (n Number) Int64() (int64, bool) {
	if n.exponent < 0 || n.magnitude() > 18 {
		return 0, n.digits == 0
	}
	coefficient, ok := n.coefficient.scale(int(n.exponent))
	if !ok || coefficient.hi != 0 || coefficient.lo > math.MaxInt64 {
		return 0, false
	}
	if n.negative {
		return -int64(coefficient.lo), true
	}
	return int64(coefficient.lo), true
}
