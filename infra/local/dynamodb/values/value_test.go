package values_test

import (
	"bytes"
	"errors"
	"strconv"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"devplatform/infra/local/dynamodb/values"
)

// anyValue generates values of every type, nested a few levels.
func anyValue(depth int) *rapid.Generator[values.Value] {
	return rapid.Custom(func(t *rapid.T) values.Value {
		last := values.NULL
		kinds := []values.Kind{values.S, values.N, values.B, values.SS, values.NS, values.BS, values.BOOL, last}
		if depth > 0 {
			kinds = append(kinds, values.M, values.L)
		}
		number := rapid.Map(numbers(), func(text string) values.Number { return parse(t, text) })
		v := values.Value{Kind: rapid.SampledFrom(kinds).Draw(t, "kind")}
		switch v.Kind {
		case values.S:
			v.S = rapid.String().Draw(t, "s")
		case values.N:
			v.N = number.Draw(t, "n")
		case values.B:
			v.S = string(rapid.SliceOf(rapid.Byte()).Draw(t, "b"))
		case values.SS:
			for _, s := range rapid.SliceOfNDistinct(rapid.String(), 1, 12, rapid.ID[string]).Draw(t, "ss") {
				v.L = append(v.L, values.Value{Kind: values.S, S: s})
			}
		case values.NS:
			for _, n := range rapid.SliceOfNDistinct(number, 1, 12, rapid.ID[values.Number]).Draw(t, "ns") {
				v.L = append(v.L, values.FromNumber(n))
			}
		case values.BS:
			distinct := func(b []byte) string { return string(b) }
			for _, b := range rapid.SliceOfNDistinct(rapid.SliceOf(rapid.Byte()), 1, 12, distinct).Draw(t, "bs") {
				v.L = append(v.L, values.Value{Kind: values.B, S: string(b)})
			}
		case values.BOOL:
			v.Bool = rapid.Bool().Draw(t, "bool")
		case values.M:
			v.M = items(depth-1).Draw(t, "m")
		case values.L:
			v.L = rapid.SliceOfN(anyValue(depth-1), 0, 4).Draw(t, "l")
		}
		return v
	})
}

func items(depth int) *rapid.Generator[values.Item] {
	return rapid.Map(rapid.MapOfN(rapid.StringN(1, -1, -1), anyValue(depth), 0, 6), func(m map[string]values.Value) values.Item {
		item := values.Item{}
		for name, value := range m {
			item = item.Set(name, value)
		}
		return item
	})
}

func TestItemSurvivesEveryCodec(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		item := items(3).Draw(t, "item")
		text, err := json.Marshal(item)
		if err != nil {
			t.Fatal(err)
		}
		var decoded values.Item
		if err := json.Unmarshal(text, &decoded); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if diff := cmp.Diff(item, decoded); diff != "" {
			t.Fatal(diff)
		}
		stored, err := values.DecodeStoredItem(values.AppendItem(nil, item))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(item, stored); diff != "" {
			t.Fatal(diff)
		}
	})
}

func checkKeyOrder(t *rapid.T, a, b values.Value) {
	x, y := a.AppendKey(nil), b.AppendKey(nil)
	want, ok := values.Compare(a, b)
	if !ok {
		t.Fatalf("%v and %v cannot be compared", a, b)
	}
	if got := bytes.Compare(x, y); got != want {
		t.Fatalf("keys %x, %x are ordered %d, want %d", x, y, got, want)
	}
	if want != 0 && (bytes.HasPrefix(x, y) || bytes.HasPrefix(y, x)) {
		t.Fatalf("one of %x, %x is a prefix of the other", x, y)
	}
}

func TestTextOrderIsKeyOrder(t *testing.T) {
	t.Parallel()
	text := rapid.SliceOf(rapid.SampledFrom([]byte{0, 1, 2, 'a', 0xFE, 0xFF}))
	rapid.Check(t, func(t *rapid.T) {
		a, b := text.Draw(t, "a"), text.Draw(t, "b")
		checkKeyOrder(t, values.Value{Kind: values.B, S: string(a)}, values.Value{Kind: values.B, S: string(b)})
		checkKeyOrder(t, values.Value{Kind: values.S, S: string(a)}, values.Value{Kind: values.S, S: string(b)})
	})
}

func TestDamagedBytesAreRefused(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		stored := values.AppendItem(nil, items(2).Draw(t, "item"))
		cut := rapid.IntRange(0, len(stored)-1).Draw(t, "cut")
		if _, err := values.DecodeStoredItem(stored[:cut]); err == nil {
			t.Fatalf("%x was accepted", stored[:cut])
		}
		garbage := rapid.SliceOf(rapid.Byte()).Draw(t, "garbage")
		_, _ = values.DecodeStoredItem(garbage)
	})
}

func TestForeignBytesAreRefused(t *testing.T) {
	t.Parallel()
	stored := values.AppendItem(nil, values.Item{{Name: "a", Value: values.FromInt(1)}})
	if _, err := values.DecodeStoredItem(append(stored, 0)); !errors.Is(err, values.ErrCorrupt) {
		t.Errorf("bytes that follow: %v", err)
	}
	deep := values.Value{Kind: values.NULL}
	for range 40 {
		deep = values.FromList([]values.Value{deep})
	}
	if _, err := values.DecodeStoredItem(values.AppendItem(nil, values.Item{{Name: "a", Value: deep}})); !errors.Is(err, values.ErrCorrupt) {
		t.Errorf("too deep: %v", err)
	}
}

func TestSetAlgebra(t *testing.T) {
	t.Parallel()
	members := rapid.SliceOfNDistinct(rapid.IntRange(0, 30), 1, 20, rapid.ID[int])
	scalar := func(kind values.Kind, i int) values.Value {
		return map[values.Kind]values.Value{
			values.SS: {Kind: values.S, S: strconv.Itoa(i)}, values.NS: values.FromInt(int64(i)), values.BS: {Kind: values.B, S: string([]byte{byte(i)})},
		}[kind]
	}
	set := func(kind values.Kind, of []int) values.Value {
		v := values.Value{Kind: kind}
		for _, i := range of {
			v.L = append(v.L, scalar(kind, i))
		}
		return v
	}
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom([]values.Kind{values.SS, values.NS, values.BS}).Draw(t, "kind")
		a, b := members.Draw(t, "a"), members.Draw(t, "b")
		x, y := set(kind, a), set(kind, b)
		union, ok1 := x.Union(y)
		rest, ok2 := x.Difference(y)
		if !ok1 || !ok2 {
			t.Fatal("sets of one type have a union and a difference")
		}
		inX, inY := map[int]bool{}, map[int]bool{}
		for _, i := range a {
			inX[i] = true
		}
		for _, i := range b {
			inY[i] = true
		}
		for i := range 31 {
			if got := union.Contains(scalar(kind, i)); got != (inX[i] || inY[i]) {
				t.Fatalf("%d in union: %v", i, got)
			}
			if got := rest.Contains(scalar(kind, i)); got != (inX[i] && !inY[i]) {
				t.Fatalf("%d in difference: %v", i, got)
			}
		}
		back, _ := rest.Union(set(kind, a))
		if !back.Equal(x) {
			t.Fatalf("%v and %v are not equal", back, x)
		}
	})
}

func TestSizes(t *testing.T) {
	t.Parallel()
	number := func(text string) values.Value { return values.FromNumber(mustNumber(t, text)) }
	tests := map[string]struct {
		value values.Value
		size  int
	}{
		"string counts UTF-8 bytes":      {values.Value{Kind: values.S, S: "añ€"}, 6},
		"zero":                           {number("0"), 1},
		"one digit":                      {number("5"), 2},
		"trailing zeros take nothing":    {number("5000"), 2},
		"leading zeros take nothing":     {number("0.00005"), 2},
		"zeros inside count":             {number("5050"), 3},
		"two digits a byte":              {number("12345"), 4},
		"the halves are rounded alone":   {number("5.7"), 3},
		"three and two digits":           {number("123.45"), 4},
		"a minus sign takes a byte":      {number("-12345"), 5},
		"exponents take nothing":         {number("7E-120"), 2},
		"the longest number":             {number("-12345678901234567890123456789012345678"), 21},
		"binary counts decoded bytes":    {values.Value{Kind: values.B, S: string([]byte{1, 2, 3})}, 3},
		"boolean":                        {values.Value{Kind: values.BOOL}, 1},
		"null":                           {values.Value{Kind: values.NULL}, 1},
		"string set":                     {values.Value{Kind: values.SS, L: []values.Value{{Kind: values.S, S: "ab"}, {Kind: values.S, S: "c"}}}, 3},
		"empty map":                      {values.FromMap(values.Item{}), 3},
		"map element":                    {values.FromMap(values.Item{{Name: "ab", Value: values.Value{Kind: values.S, S: "c"}}}), 3 + 1 + 2 + 1},
		"list elements":                  {values.FromList([]values.Value{{Kind: values.NULL}, {Kind: values.S, S: "xy"}}), 3 + 2 + 1 + 2},
		"nested lists count each header": {values.FromList([]values.Value{values.FromList(nil)}), 3 + 1 + 3},
	}
	for name, test := range tests {
		if got := test.value.Size(); got != test.size {
			t.Errorf("%s: %d bytes, want %d", name, got, test.size)
		}
		item := values.Item{{Name: "name", Value: test.value}}
		if got := item.Size(); got != test.size+4 {
			t.Errorf("%s in an item: %d bytes, want %d", name, got, test.size+4)
		}
	}
}

func TestEqual(t *testing.T) {
	t.Parallel()
	a, b := values.Value{Kind: values.S, S: "a"}, values.Value{Kind: values.S, S: "b"}
	set := func(members ...values.Value) values.Value { return values.Value{Kind: values.SS, L: members} }
	if !set(a, b).Equal(set(b, a)) {
		t.Error("the order of a set matters")
	}
	if values.FromList([]values.Value{values.FromInt(1), values.FromInt(2)}).Equal(values.FromList([]values.Value{values.FromInt(2), values.FromInt(1)})) {
		t.Error("the order of a list does not matter")
	}
	one := values.Value{Kind: values.S, S: "1"}
	if one.Equal(values.FromInt(1)) {
		t.Error("a string equals a number")
	}
	if _, ok := values.Compare(one, values.FromInt(1)); ok {
		t.Error("a string is ordered against a number")
	}
}
