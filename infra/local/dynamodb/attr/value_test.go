package attr_test

import (
	"bytes"
	"errors"
	"strconv"
	"testing"

	"devplatform/infra/local/dynamodb/attr"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// values generates values of every type, nested a few levels.
func values(depth int) *rapid.Generator[attr.Value] {
	return rapid.Custom(func(t *rapid.T) attr.Value {
		last := attr.NULL
		kinds := []attr.Kind{attr.S, attr.N, attr.B, attr.SS, attr.NS, attr.BS, attr.BOOL, last}
		if depth > 0 {
			kinds = append(kinds, attr.M, attr.L)
		}
		number := rapid.Map(numbers(), func(text string) attr.Number { return parse(t, text) })
		v := attr.Value{Kind: rapid.SampledFrom(kinds).Draw(t, "kind")}
		switch v.Kind {
		case attr.S:
			v.S = rapid.String().Draw(t, "s")
		case attr.N:
			v.N = number.Draw(t, "n")
		case attr.B:
			v.B = rapid.SliceOf(rapid.Byte()).Draw(t, "b")
		case attr.SS:
			v.SS = rapid.SliceOfNDistinct(rapid.String(), 1, 12, rapid.ID[string]).Draw(t, "ss")
		case attr.NS:
			v.NS = rapid.SliceOfNDistinct(number, 1, 12, rapid.ID[attr.Number]).Draw(t, "ns")
		case attr.BS:
			v.BS = rapid.SliceOfNDistinct(rapid.SliceOf(rapid.Byte()), 1, 4, func(b []byte) string { return string(b) }).Draw(t, "bs")
		case attr.BOOL:
			v.Bool = rapid.Bool().Draw(t, "bool")
		case attr.M:
			v.M = items(depth-1).Draw(t, "m")
		case attr.L:
			v.L = rapid.SliceOfN(values(depth-1), 0, 4).Draw(t, "l")
		}
		return v
	})
}

func items(depth int) *rapid.Generator[attr.Item] {
	return rapid.Map(rapid.MapOfN(rapid.StringN(1, -1, -1), values(depth), 0, 6), func(m map[string]attr.Value) attr.Item { return m })
}

func TestItemSurvivesEveryCodec(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		item := items(3).Draw(t, "item")
		text, err := json.Marshal(item)
		if err != nil {
			t.Fatal(err)
		}
		var travelled attr.Item
		if err := json.Unmarshal(text, &travelled); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if err := travelled.Validate(); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(item, travelled); diff != "" {
			t.Fatal(diff)
		}
		stored, err := attr.DecodeStoredItem(attr.AppendItem(nil, item))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(item, stored); diff != "" {
			t.Fatal(diff)
		}
	})
}

func checkKeyOrder(t *rapid.T, a, b attr.Value) {
	x, y := a.AppendKey(nil), b.AppendKey(nil)
	want, ok := attr.Compare(a, b)
	if !ok {
		t.Fatalf("%v and %v cannot be compared", a, b)
	}
	if got := bytes.Compare(x, y); got != want {
		t.Fatalf("keys %x, %x are ordered %d, want %d", x, y, got, want)
	}
	if want != 0 && (bytes.HasPrefix(x, y) || bytes.HasPrefix(y, x)) {
		t.Fatalf("one of %x, %x is a prefix of the other", x, y)
	}
	back, rest, err := attr.DecodeKey(append(x, 7))
	if err != nil || !back.Equal(a) || len(rest) != 1 {
		t.Fatalf("%x decodes to %v, %x, %v", x, back, rest, err)
	}
}

func TestTextOrderIsKeyOrder(t *testing.T) {
	t.Parallel()
	text := rapid.SliceOf(rapid.SampledFrom([]byte{0, 1, 2, 'a', 0xFE, 0xFF}))
	rapid.Check(t, func(t *rapid.T) {
		a, b := text.Draw(t, "a"), text.Draw(t, "b")
		checkKeyOrder(t, attr.FromBytes(a), attr.FromBytes(b))
		checkKeyOrder(t, attr.FromString(string(a)), attr.FromString(string(b)))
	})
}

func TestDamagedBytesAreRefused(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		stored := attr.AppendItem(nil, items(2).Draw(t, "item"))
		cut := rapid.IntRange(0, len(stored)-1).Draw(t, "cut")
		if _, err := attr.DecodeStoredItem(stored[:cut]); err == nil {
			t.Fatalf("%x was accepted", stored[:cut])
		}
		garbage := rapid.SliceOf(rapid.Byte()).Draw(t, "garbage")
		_, _ = attr.DecodeStoredItem(garbage)
		_, _, _ = attr.DecodeKey(garbage)
	})
}

func TestForeignBytesAreRefused(t *testing.T) {
	t.Parallel()
	stored := attr.AppendItem(nil, attr.Item{"a": attr.FromInt(1)})
	if _, err := attr.DecodeStoredItem(append(stored, 0)); !errors.Is(err, attr.ErrCorrupt) {
		t.Errorf("bytes that follow: %v", err)
	}
	deep := attr.Null()
	for range 40 {
		deep = attr.FromList([]attr.Value{deep})
	}
	if _, err := attr.DecodeStoredItem(attr.AppendItem(nil, attr.Item{"a": deep})); !errors.Is(err, attr.ErrCorrupt) {
		t.Errorf("too deep: %v", err)
	}
}

func TestSetAlgebra(t *testing.T) {
	t.Parallel()
	members := rapid.SliceOfNDistinct(rapid.IntRange(0, 30), 1, 20, rapid.ID[int])
	set := func(kind attr.Kind, of []int) attr.Value {
		v := attr.Value{Kind: kind}
		for _, i := range of {
			v.SS = append(v.SS, strconv.Itoa(i))
			v.NS = append(v.NS, attr.NumberFromInt(int64(i)))
			v.BS = append(v.BS, []byte{byte(i)})
		}
		return v
	}
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom([]attr.Kind{attr.SS, attr.NS, attr.BS}).Draw(t, "kind")
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
		scalar := func(i int) attr.Value {
			one := set(kind, []int{i})
			return map[attr.Kind]attr.Value{
				attr.SS: attr.FromString(one.SS[0]), attr.NS: attr.FromNumber(one.NS[0]), attr.BS: attr.FromBytes(one.BS[0]),
			}[kind]
		}
		for i := range 31 {
			if got := union.Contains(scalar(i)); got != (inX[i] || inY[i]) {
				t.Fatalf("%d in union: %v", i, got)
			}
			if got := rest.Contains(scalar(i)); got != (inX[i] && !inY[i]) {
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
	number := func(text string) attr.Value { return attr.FromNumber(mustNumber(t, text)) }
	tests := map[string]struct {
		value attr.Value
		size  int
	}{
		"string counts UTF-8 bytes":      {attr.FromString("añ€"), 6},
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
		"binary counts decoded bytes":    {attr.FromBytes([]byte{1, 2, 3}), 3},
		"boolean":                        {attr.FromBool(false), 1},
		"null":                           {attr.Null(), 1},
		"string set":                     {attr.Value{Kind: attr.SS, SS: []string{"ab", "c"}}, 3},
		"empty map":                      {attr.FromMap(attr.Item{}), 3},
		"map element":                    {attr.FromMap(attr.Item{"ab": attr.FromString("c")}), 3 + 1 + 2 + 1},
		"list elements":                  {attr.FromList([]attr.Value{attr.Null(), attr.FromString("xy")}), 3 + 2 + 1 + 2},
		"nested lists count each header": {attr.FromList([]attr.Value{attr.FromList(nil)}), 3 + 1 + 3},
	}
	for name, test := range tests {
		if got := test.value.Size(); got != test.size {
			t.Errorf("%s: %d bytes, want %d", name, got, test.size)
		}
		item := attr.Item{"name": test.value}
		if got := item.Size(); got != test.size+4 {
			t.Errorf("%s in an item: %d bytes, want %d", name, got, test.size+4)
		}
	}
}

func TestEqual(t *testing.T) {
	t.Parallel()
	if !(attr.Value{Kind: attr.SS, SS: []string{"a", "b"}}).Equal(attr.Value{Kind: attr.SS, SS: []string{"b", "a"}}) {
		t.Error("the order of a set matters")
	}
	if attr.FromList([]attr.Value{attr.FromInt(1), attr.FromInt(2)}).Equal(attr.FromList([]attr.Value{attr.FromInt(2), attr.FromInt(1)})) {
		t.Error("the order of a list does not matter")
	}
	if attr.FromString("1").Equal(attr.FromInt(1)) {
		t.Error("a string equals a number")
	}
	if _, ok := attr.Compare(attr.FromString("1"), attr.FromInt(1)); ok {
		t.Error("a string is ordered against a number")
	}
}
