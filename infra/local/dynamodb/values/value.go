// Package values is DynamoDB's data model: attribute values and items, their JSON wire format, their stored form, the
// encoding that sorts keys, their sizes, and exact decimal numbers. Expressions, tables, requests and storage engines
// do not belong here.
//
// Values are immutable: nothing writes to a slice that is reachable from a Value. So items and goroutines share values
// without copying.
package values

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
)

// Kind is the data type of a value.
type Kind uint8

// The data types have their names in the wire format. KindInvalid is the zero value.
const (
	KindInvalid Kind = iota
	S
	N
	B
	SS
	NS
	BS
	M
	L
	BOOL
	NULL
)

var kindNames = [...]string{
	KindInvalid: "invalid",
	S:           "S", N: "N", B: "B", SS: "SS", NS: "NS", BS: "BS", M: "M", L: "L", BOOL: "BOOL", NULL: "NULL",
}

// String returns the type's name in the wire format.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return kindNames[KindInvalid]
}

// ParseKind returns the type with a name of the wire format, such as "NS".
func ParseKind(name string) (Kind, bool) {
	for kind := S; kind <= NULL; kind++ {
		if kindNames[kind] == name {
			return kind, true
		}
	}
	return KindInvalid, false
}

// IsSet reports whether the type is a set.
func (k Kind) IsSet() bool { return k == SS || k == NS || k == BS }

// IsKey reports whether key attributes can have the type.
func (k Kind) IsKey() bool { return k == S || k == N || k == B }

// Value is one attribute value. Kind determines the field that contains it. The members of a set are in the order of
// the request, without duplicates.
type Value struct {
	Kind Kind
	Bool bool
	S    string // a string, or the bytes of a binary value
	N    Number
	M    Item
	L    []Value // the elements of a list, or the members of a set
}

// Item is a set of named values: an item of a table, a key, or a map value. It is sorted by name, and names are unique.
type Item []Attribute

// Attribute is a named value.
type Attribute struct {
	Name  string
	Value Value
}

func (i Item) search(name string) (at int, found bool) {
	return slices.BinarySearchFunc(i, name, func(a Attribute, name string) int { return strings.Compare(a.Name, name) })
}

// Get returns the value with a name, or false if there is none.
func (i Item) Get(name string) (Value, bool) {
	at, found := i.search(name)
	if !found {
		return Value{}, false
	}
	return i[at].Value, true
}

// Set adds or replaces a value in an item that the caller owns, and returns the item.
func (i Item) Set(name string, value Value) Item {
	at, found := i.search(name)
	if !found {
		return slices.Insert(i, at, Attribute{name, value})
	}
	i[at].Value = value
	return i
}

// Remove removes a value, if there is one, from an item that the caller owns, and returns the item.
func (i Item) Remove(name string) Item {
	at, found := i.search(name)
	if !found {
		return i
	}
	return slices.Delete(i, at, at+1)
}

// FromNumber returns a number value.
func FromNumber(n Number) Value { return Value{Kind: N, N: n} }

// FromInt returns a number value of an integer.
func FromInt(i int64) Value {
	n, _ := newNumber(i < 0, strings.TrimPrefix(strconv.FormatInt(i, 10), "-"), 0)
	return FromNumber(n)
}

// FromMap returns a map value. The caller must not change m afterwards.
func FromMap(m Item) Value { return Value{Kind: M, M: m} }

// FromList returns a list value. The caller must not change l afterwards.
func FromList(l []Value) Value { return Value{Kind: L, L: l} }

// Equal reports whether two values have the same type and content. The order of sets does not matter.
func (v Value) Equal(w Value) bool {
	if v.Kind != w.Kind {
		return false
	}
	switch v.Kind {
	case S, B:
		return v.S == w.S
	case N:
		return v.N == w.N
	case SS, NS, BS:
		return len(v.L) == len(w.L) && len(difference(v.L, w.L)) == 0
	case M:
		return v.M.Equal(w.M)
	case L:
		return slices.EqualFunc(v.L, w.L, Value.Equal)
	case BOOL:
		return v.Bool == w.Bool
	default:
		return true
	}
}

// Equal reports whether two items have the same attributes with equal values.
func (i Item) Equal(j Item) bool {
	return slices.EqualFunc(i, j, func(a, b Attribute) bool { return a.Name == b.Name && a.Value.Equal(b.Value) })
}

// Compare compares two values of the same type S, N or B. It returns false for all other pairs. Strings are ordered by
// their UTF-8 bytes.
func Compare(a, b Value) (int, bool) {
	if a.Kind != b.Kind {
		return 0, false
	}
	switch a.Kind {
	case S, B:
		return strings.Compare(a.S, b.S), true
	case N:
		return a.N.Cmp(b.N), true
	default:
		return 0, false
	}
}

// element returns the type of the members of a set of type k.
func (k Kind) element() Kind { return k - (SS - S) }

// keysOf returns the encoded members of a set.
func keysOf(members []Value) map[string]bool {
	keys := make(map[string]bool, len(members))
	for _, member := range members {
		keys[string(member.AppendKey(nil))] = true
	}
	return keys
}

// difference returns the members of a that are not in b, in order.
func difference(a, b []Value) []Value {
	keys := keysOf(b)
	return slices.DeleteFunc(slices.Clone(a), func(v Value) bool { return keys[string(v.AppendKey(nil))] })
}

// Len returns the result of DynamoDB's size function: the number of members, elements or attributes, of bytes of a
// binary value, or of UTF-16 units of a string. It returns false for numbers, booleans and null, which have no length.
func (v Value) Len() (int, bool) {
	switch v.Kind {
	case S:
		n := 0
		for _, r := range v.S {
			n += utf16.RuneLen(r)
		}
		return n, true
	case B:
		return len(v.S), true
	case SS, NS, BS, L:
		return len(v.L), true
	case M:
		return len(v.M), true
	default:
		return 0, false
	}
}

// Union returns the set v with the members of w added. It returns false if v and w are not sets of the same type.
func (v Value) Union(w Value) (Value, bool) {
	ok := v.Kind == w.Kind && v.Kind.IsSet()
	return Value{Kind: v.Kind, L: slices.Concat(v.L, difference(w.L, v.L))}, ok
}

// Difference returns the set v without the members of w. The result can be empty, unlike a stored set. It returns false
// if v and w are not sets of the same type.
func (v Value) Difference(w Value) (Value, bool) {
	ok := v.Kind == w.Kind && v.Kind.IsSet()
	return Value{Kind: v.Kind, L: difference(v.L, w.L)}, ok
}

// Contains returns the result of DynamoDB's contains function: whether w is a substring of a string or binary value, a
// member of a set, or an element of a list. It returns false for other types.
func (v Value) Contains(w Value) bool {
	switch {
	case v.Kind == L || v.Kind.IsSet():
		return slices.ContainsFunc(v.L, w.Equal)
	default:
		return v.Kind == w.Kind && (v.Kind == S || v.Kind == B) && strings.Contains(v.S, w.S)
	}
}

// Sizes as AWS counts them against the 400 KB of an item and for capacity:
// "DynamoDB item sizes and formats" in the developer guide.
const (
	documentOverhead = 3 // bytes of a list or map
	elementOverhead  = 1 // bytes of each element of a list or map
)

// MaxDepth is the maximum number of levels of an attribute value.
const MaxDepth = 32

// Size returns the size of a number in bytes, as measured on AWS: 1, plus 1 for every two digits before the decimal
// point, for every two digits after it, and for a minus sign. Leading and trailing zeros do not count.
func (n Number) Size() int {
	whole := max(0, min(len(n.digits), len(n.digits)+int(n.exponent)))
	fraction := len(n.digits) - whole
	size := 1 + (whole+1)/2 + (fraction+1)/2
	if n.negative {
		size++
	}
	return size
}

// Size returns the size of the value in bytes, without its name.
func (v Value) Size() int {
	size := 0
	switch v.Kind {
	case S, B:
		size = len(v.S)
	case N:
		size = v.N.Size()
	case M:
		size = documentOverhead + v.M.Size() + elementOverhead*len(v.M)
	case L, SS, NS, BS:
		for _, element := range v.L {
			size += element.Size()
		}
		if v.Kind == L {
			size += documentOverhead + elementOverhead*len(v.L)
		}
	case BOOL, NULL:
		size = 1
	}
	return size
}

// Size returns the size of names and values in bytes.
func (i Item) Size() int {
	size := 0
	for n := range i {
		size += len(i[n].Name) + i[n].Value.Size()
	}
	return size
}

// Depth returns the number of levels of the value. It is 1 for a scalar or set.
func (v Value) Depth() int {
	depth := 0
	if v.Kind == L {
		for _, element := range v.L {
			depth = max(depth, element.Depth())
		}
	}
	for _, element := range v.M {
		depth = max(depth, element.Value.Depth())
	}
	return depth + 1
}
