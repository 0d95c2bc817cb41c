package pattern

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// limit bounds the numbers that numeric compares, as on AWS.
const limit = 5e9

func equals(want any) test {
	return func(leaf any) bool { return leaf == want }
}

func not(inner []test) test {
	return func(leaf any) bool {
		for _, holds := range inner {
			if holds(leaf) {
				return false
			}
		}
		return true
	}
}

func exists(any) bool { return true }

// onString makes a test that holds for strings only.
func onString(holds func(s string) bool) test {
	return func(leaf any) bool {
		s, ok := leaf.(string)
		return ok && holds(s)
	}
}

func hasPrefix(prefix string) test {
	return onString(func(s string) bool { return strings.HasPrefix(s, prefix) })
}

func hasSuffix(suffix string) test {
	return onString(func(s string) bool { return strings.HasSuffix(s, suffix) })
}

func equalsFolded(want string) test {
	return onString(func(s string) bool { return strings.EqualFold(s, want) })
}

func hasPrefixFolded(prefix string) test {
	length := utf8.RuneCountInString(prefix)
	return onString(func(s string) bool {
		end := 0
		for range length {
			if end == len(s) {
				return false
			}
			_, size := utf8.DecodeRuneInString(s[end:])
			end += size
		}
		return strings.EqualFold(s[:end], prefix)
	})
}

func hasSuffixFolded(suffix string) test {
	length := utf8.RuneCountInString(suffix)
	return onString(func(s string) bool {
		begin := len(s)
		for range length {
			if begin == 0 {
				return false
			}
			_, size := utf8.DecodeLastRuneInString(s[:begin])
			begin -= size
		}
		return strings.EqualFold(s[begin:], suffix)
	})
}

// comparison is one operator of numeric with its operand.
type comparison struct {
	operator string
	operand  float64
}

var operators = map[string]func(a, b float64) bool{
	"=":  func(a, b float64) bool { return a == b },
	"<":  func(a, b float64) bool { return a < b },
	"<=": func(a, b float64) bool { return a <= b },
	">":  func(a, b float64) bool { return a > b },
	">=": func(a, b float64) bool { return a >= b },
}

func numeric(comparisons []comparison) test {
	return func(leaf any) bool {
		n, ok := leaf.(json.Number)
		if !ok {
			return false
		}
		value, err := strconv.ParseFloat(n.String(), 64)
		if err != nil || math.Abs(value) > limit {
			return false
		}
		for _, c := range comparisons {
			if !operators[c.operator](value, c.operand) {
				return false
			}
		}
		return true
	}
}
