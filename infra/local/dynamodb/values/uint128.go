package values

import "math/bits"

// uint128 holds a number's coefficient: 38 digits need 127 bits.
type uint128 struct{ hi, lo uint64 }

// ten19 is the largest power of ten in 64 bits.
const ten19 = 1e19

// pow10 holds 10^0 to 10^38.
var pow10 = func() (table [39]uint128) {
	table[0] = uint128{lo: 1}
	for i := 1; i < len(table); i++ {
		table[i], _ = table[i-1].mul64(10)
	}
	return table
}()

func (a uint128) isZero() bool { return a.hi|a.lo == 0 }

func (a uint128) cmp(b uint128) int {
	switch {
	case a == b:
		return 0
	case a.hi < b.hi || a.hi == b.hi && a.lo < b.lo:
		return -1
	default:
		return 1
	}
}

func (a uint128) add(b uint128) uint128 {
	lo, carry := bits.Add64(a.lo, b.lo, 0)
	hi, _ := bits.Add64(a.hi, b.hi, carry)
	return uint128{hi, lo}
}

// sub requires a ≥ b.
func (a uint128) sub(b uint128) uint128 {
	lo, borrow := bits.Sub64(a.lo, b.lo, 0)
	hi, _ := bits.Sub64(a.hi, b.hi, borrow)
	return uint128{hi, lo}
}

// mul64 reports false when the product needs more than 128 bits.
func (a uint128) mul64(b uint64) (uint128, bool) {
	carry, lo := bits.Mul64(a.lo, b)
	over, hi := bits.Mul64(a.hi, b)
	hi, c := bits.Add64(hi, carry, 0)
	return uint128{hi, lo}, over == 0 && c == 0
}

// scale multiplies with 10^n, n ≤ 38; false when that needs more than 128 bits.
func (a uint128) scale(n int) (uint128, bool) {
	if n > 19 {
		var ok bool
		if a, ok = a.mul64(ten19); !ok {
			return a, false
		}
		n -= 19
	}
	return a.mul64(pow10[n].lo)
}

func (a uint128) divMod10() (uint128, uint64) {
	hi, rest := a.hi/10, a.hi%10
	lo, rest := bits.Div64(rest, a.lo, 10)
	return uint128{hi, lo}, rest
}

// digits counts decimal digits, 0 for zero; a < 10^39.
func (a uint128) digits() int {
	if a.isZero() {
		return 0
	}
	// 1233/4096 is log10(2) rounded up: the estimate is exact or one too many.
	width := 128 - bits.LeadingZeros64(a.hi)
	if a.hi == 0 {
		width = 64 - bits.LeadingZeros64(a.lo)
	}
	n := width * 1233 >> 12
	if n < len(pow10) && a.cmp(pow10[n]) >= 0 {
		n++
	}
	return n
}

// appendDigits writes exactly n decimal digits, n ≤ 38.
func (a uint128) appendDigits(dst []byte, n int) []byte {
	var buffer [38]byte
	high, low := bits.Div64(a.hi, a.lo, ten19)
	for i := range 19 {
		buffer[37-i] = '0' + byte(low%10)
		buffer[18-i] = '0' + byte(high%10)
		low /= 10
		high /= 10
	}
	return append(dst, buffer[38-n:]...)
}

// parseDigits reads up to 38 decimal digits.
func parseDigits(digits []byte) uint128 {
	high, rest := uint64(0), digits
	if len(digits) > 19 {
		for _, c := range digits[:len(digits)-19] {
			high = high*10 + uint64(c-'0')
		}
		rest = digits[len(digits)-19:]
	}
	low := uint64(0)
	for _, c := range rest {
		low = low*10 + uint64(c-'0')
	}
	product, _ := uint128{lo: high}.mul64(ten19)
	return product.add(uint128{lo: low})
}
