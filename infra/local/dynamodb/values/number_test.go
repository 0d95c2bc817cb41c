package values_test

import (
	"errors"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"devplatform/infra/local/dynamodb/values"
)

func TestParseNumberCanonicalForm(t *testing.T) {
	t.Parallel()
	nines := strings.Repeat("9", 38)
	for text, want := range map[string]string{
		"0": "0", "-0": "0", "0e125": "0", "0e-130": "0", "0.000": "0", "+3": "3", "3.": "3", ".5": "0.5", "-.5": "-0.5",
		"0001.2300": "1.23", "-7.1234": "-7.1234", "-17e5": "-1700000", "-17.4E37": "-174" + strings.Repeat("0", 36),
		"1e+5": "100000", "1E-5": "0.00001", "1.5e1": "15", "100": "100", "123.456e2": "12345.6",
		nines:                          nines,
		nines + "e88":                  nines + strings.Repeat("0", 88),
		"1e125":                        "1" + strings.Repeat("0", 125),
		"1" + strings.Repeat("0", 125): "1" + strings.Repeat("0", 125),
		"1e-130":                       "0." + strings.Repeat("0", 129) + "1",
		"0." + nines + "e-129":         "0." + strings.Repeat("0", 129) + nines,
	} {
		n, err := values.ParseNumber(text)
		if err != nil || n.String() != want {
			t.Errorf("ParseNumber(%q) = %s, %v; want %s", text, n, err, want)
		}
	}
}

func TestParseNumberErrors(t *testing.T) {
	t.Parallel()
	const (
		notNumeric = "The parameter cannot be converted to a numeric value"
		overflow   = "Number overflow: the magnitude is larger than the supported range"
		underflow  = "Number underflow: the magnitude is smaller than the supported range"
		manyDigits = "Attempting to store more than 38 significant digits in a Number"
	)
	for text, want := range map[string]string{
		"": notNumeric + ": ", "b": notNumeric + ": b", "NaN": notNumeric + ": NaN", "Infinity": notNumeric + ": Infinity",
		" 1": notNumeric + ":  1", "1 ": notNumeric + ": 1 ", "-": notNumeric + ": -", ".": notNumeric + ": .",
		"1e": notNumeric + ": 1e", "1e+": notNumeric + ": 1e+", "1.2.3": notNumeric + ": 1.2.3", "0x1": notNumeric + ": 0x1",
		"1_0": notNumeric + ": 1_0", "--1": notNumeric + ": --1", "1e1.5": notNumeric + ": 1e1.5",
		"1e126": overflow, "-1e126": overflow, "11e125": overflow, "1e99999999999": overflow, "0e126": overflow,
		"1e-131": underflow, "-0.9e-130": underflow, "1e-99999999999": underflow, "-0e-131": underflow,
		"1e9223372036854775808": notNumeric + ": 1e9223372036854775808", "1e-99999999999999999999": notNumeric + ": 1e-99999999999999999999",
		strings.Repeat("1", 39): manyDigits, "-1.2345678901234567890123456789012345678901": manyDigits,
		"1" + strings.Repeat("0", 37) + "1": manyDigits,
	} {
		_, err := values.ParseNumber(text)
		var refusal *values.Error
		if !errors.As(err, &refusal) || refusal.Message != want || refusal.Serialization {
			t.Errorf("ParseNumber(%q): %v; want %s", text, err, want)
		}
	}
}

// numbers generates the text of numbers in range, with extremes and close pairs.
func numbers() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		digits := rapid.StringMatching(`[1-9][0-9]{0,37}`).Draw(t, "digits")
		if rapid.Bool().Draw(t, "small") {
			digits = rapid.StringMatching(`[0-9]{1,3}`).Draw(t, "few")
		}
		exponent := rapid.IntRange(-130, 125-len(digits)).Draw(t, "exponent")
		if rapid.Bool().Draw(t, "near") {
			exponent = rapid.IntRange(-3, 3).Draw(t, "close")
		}
		sign := rapid.SampledFrom([]string{"", "-"}).Draw(t, "sign")
		return sign + digits + "e" + big.NewInt(int64(exponent)).String()
	})
}

func rational(t *rapid.T, text string) *big.Rat {
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		t.Fatalf("not a rational: %q", text)
	}
	return r
}

func parse(t *rapid.T, text string) values.Number {
	n, err := values.ParseNumber(text)
	if err != nil {
		t.Fatalf("ParseNumber(%q): %v", text, err)
	}
	return n
}

func TestNumberAgainstRationals(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := numbers().Draw(t, "a"), numbers().Draw(t, "b")
		x, y := parse(t, a), parse(t, b)
		p, q := rational(t, a), rational(t, b)
		if rational(t, x.String()).Cmp(p) != 0 {
			t.Fatalf("%s became %s", a, x)
		}
		if got, want := x.Cmp(y), p.Cmp(q); got != want {
			t.Fatalf("Cmp(%s, %s) = %d, want %d", a, b, got, want)
		}
		if (x == y) != (p.Cmp(q) == 0) {
			t.Fatalf("%s == %s is %v", a, b, x == y)
		}
		checkArithmetic(t, "add", x.Add, y, new(big.Rat).Add(p, q))
		checkArithmetic(t, "sub", x.Add, y.Neg(), new(big.Rat).Sub(p, q))
	})
}

func checkArithmetic(t *rapid.T, name string, operation func(values.Number) (values.Number, error), y values.Number, want *big.Rat) {
	got, err := operation(y)
	if err != nil {
		if fits(want) {
			t.Fatalf("%s: %v, but %s fits", name, err, want.FloatString(130))
		}
		return
	}
	if rational(t, got.String()).Cmp(want) != 0 {
		t.Fatalf("%s = %s, want %s", name, got, want.FloatString(170))
	}
}

// fits reports whether a sum has at most 38 significant digits, in range.
func fits(r *big.Rat) bool {
	text := strings.TrimPrefix(r.FloatString(175), "-")
	whole, fraction, _ := strings.Cut(text, ".")
	whole = strings.TrimLeft(whole, "0")
	significant := strings.Trim(whole+fraction, "0")
	if whole == "" {
		leading := len(fraction) - len(strings.TrimLeft(fraction, "0"))
		return len(significant) == 0 || len(significant) <= 38 && leading < 130
	}
	return len(significant) <= 38 && len(whole) <= 126
}

func TestNumberOrderIsKeyOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		x, y := parse(t, numbers().Draw(t, "a")), parse(t, numbers().Draw(t, "b"))
		checkKeyOrder(t, values.FromNumber(x), values.FromNumber(y))
	})
}

func TestNumberSum(t *testing.T) {
	t.Parallel()
	tests := []struct{ a, b, sum string }{
		{"1", "10000000000000000000000", "10000000000000000000001"},
		{"0.1", "0.2", "0.3"},
		{"1e38", "-1", strings.Repeat("9", 38)},
		{"1e39", "-1", ""},
		{"1e50", "1", ""},
		{"9e125", "9e125", ""},
		{"9e125", "-9e125", "0"},
		{"1e125", "-1e-130", ""},
		{strings.Repeat("9", 38), "1", "1" + strings.Repeat("0", 38)},
		{strings.Repeat("9", 38), "2", ""},
		{"5", "-7.5", "-2.5"},
		{"1.2e38", "-90000000000000000000000000000000000001", "29999999999999999999999999999999999999"},
		{"99999999999999999999e38", "1", ""},
		{"12345678901234567890123e20", "1", ""},
		{"34028236692093846347e25", "1", ""},
	}
	for _, test := range tests {
		a, b := mustNumber(t, test.a), mustNumber(t, test.b)
		for _, pair := range [][2]values.Number{{a, b}, {b, a}} {
			got, err := pair[0].Add(pair[1])
			if test.sum == "" && err == nil || test.sum != "" && (err != nil || got.String() != test.sum) {
				t.Errorf("%s + %s = %s, %v; want %s", pair[0], pair[1], got, err, test.sum)
			}
		}
	}
}

func mustNumber(t *testing.T, text string) values.Number {
	t.Helper()
	n, err := values.ParseNumber(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestNumberInt64(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{"0": 0, "12": 12, "-12": -12, "1e18": 1e18, "9223372036854775807": 1<<63 - 1} {
		if got, ok := mustNumber(t, text).Int64(); !ok || got != want {
			t.Errorf("Int64(%s) = %d, %v", text, got, ok)
		}
	}
	for _, text := range []string{"0.5", "9223372036854775808", "1e19", "1e125"} {
		if got, ok := mustNumber(t, text).Int64(); ok {
			t.Errorf("Int64(%s) = %d", text, got)
		}
	}
	for _, i := range []int64{0, 10, -10, 1<<63 - 1, -1 << 63} {
		if got := values.FromInt(i).N; got != mustNumber(t, big.NewInt(i).String()) {
			t.Errorf("FromInt(%d) = %s", i, got)
		}
	}
}

func FuzzParseNumber(f *testing.F) {
	for _, seed := range []string{"0", "-1.5e10", "1e126", "1e-131", ".", "+00.100", strings.Repeat("9", 40)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n, err := values.ParseNumber(text)
		if err != nil {
			return
		}
		again, err := values.ParseNumber(n.String())
		if err != nil || again != n {
			t.Fatalf("%q is %s, then %s, %v", text, n, again, err)
		}
		if !slices.Contains([]string{"0", "-"}, n.String()[:1]) && n.Cmp(values.Number{}) != 1 {
			t.Fatalf("%s is not positive", n)
		}
	})
}
