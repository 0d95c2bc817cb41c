package attr

import (
	"bytes"
	"maps"
	"slices"
	"strings"
)

// Kind is the data type of a value.
type Kind uint8

// The data types, named as on the wire. KindInvalid is the zero value, and the
// kind of what was decoded but fails [Value.Validate].
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

// String returns the type's name on the wire.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return kindNames[KindInvalid]
}

// ParseKind finds the type with a name of the wire, such as "NS".
func ParseKind(name string) (Kind, bool) {
	switch name {
	case "S":
		return S, true
	case "N":
		return N, true
	case "B":
		return B, true
	case "SS":
		return SS, true
	case "NS":
		return NS, true
	case "BS":
		return BS, true
	case "M":
		return M, true
	case "L":
		return L, true
	case "BOOL":
		return BOOL, true
	case "NULL":
		return NULL, true
	default:
		return KindInvalid, false
	}
}

// IsSet says whether the kind is one of the three sets.
func (k Kind) IsSet() bool { return k == SS || k == NS || k == BS }

// IsKey says whether key attributes may have the type: S, N or B.
func (k Kind) IsKey() bool { return k == S || k == N || k == B }

// Value is one attribute value; Kind says which field holds it. Sets keep the
// order they came in and have no duplicates. In an invalid value that was
// decoded, S holds AWS's reason, and SS its older wording if that differs.
type Value struct {
	Kind Kind
	Bool bool
	S    string
	N    Number
	B    []byte
	SS   []string
	NS   []Number
	BS   [][]byte
	M    Item
	L    []Value
}

// Item is a set of named values: an item of a table, a key, or a map value.
type Item map[string]Value

// FromString returns a string value.
func FromString(s string) Value { return Value{Kind: S, S: s} }

// FromNumber returns a number value.
func FromNumber(n Number) Value { return Value{Kind: N, N: n} }

// FromInt returns a number value of an integer.
func FromInt(i int64) Value { return Value{Kind: N, N: NumberFromInt(i)} }

// FromBytes returns a binary value that takes over b.
func FromBytes(b []byte) Value { return Value{Kind: B, B: b} }

// FromBool returns a boolean value.
func FromBool(b bool) Value { return Value{Kind: BOOL, Bool: b} }

// FromMap returns a map value that takes over m.
func FromMap(m Item) Value { return Value{Kind: M, M: m} }

// FromList returns a list value that takes over l.
func FromList(l []Value) Value { return Value{Kind: L, L: l} }

// Null returns the null value.
func Null() Value { return Value{Kind: NULL} }

// Validate returns the *Error that decoding left in the value, or nil.
func (v Value) Validate() error {
	if v.Kind != KindInvalid {
		return nil
	}
	wrong := v.problem()
	return &Error{Message: wrong.text, Older: wrong.older}
}

// Validate returns the *Error of an attribute without a name, or else of the
// first invalid one by name, or nil.
func (i Item) Validate() error {
	if _, nameless := i[""]; nameless {
		return &Error{Message: msgEmptyName}
	}
	for _, value := range i {
		if value.Kind == KindInvalid {
			return i.firstInvalid()
		}
	}
	return nil
}

func (i Item) firstInvalid() error {
	for _, name := range slices.Sorted(maps.Keys(i)) {
		if err := i[name].Validate(); err != nil {
			return err
		}
	}
	return nil
}

// Equal says whether two values have the same type and content. Sets are
// compared without regard to order.
func (v Value) Equal(w Value) bool {
	if v.Kind != w.Kind {
		return false
	}
	switch v.Kind {
	case S:
		return v.S == w.S
	case N:
		return v.N == w.N
	case B:
		return bytes.Equal(v.B, w.B)
	case SS:
		return len(v.SS) == len(w.SS) && containsAll(v, w)
	case NS:
		return len(v.NS) == len(w.NS) && containsAll(v, w)
	case BS:
		return len(v.BS) == len(w.BS) && containsAll(v, w)
	case M:
		return v.M.Equal(w.M)
	case L:
		return slices.EqualFunc(v.L, w.L, Value.Equal)
	case BOOL:
		return v.Bool == w.Bool
	case NULL:
		return true
	default:
		return v.S == w.S
	}
}

// Equal says whether two items have the same attributes with equal values.
func (i Item) Equal(j Item) bool { return maps.EqualFunc(i, j, Value.Equal) }

// Compare orders two values of the same type S, N or B; false for any other
// pair. Strings are ordered by their UTF-8 bytes, binary as unsigned bytes.
func Compare(a, b Value) (int, bool) {
	if a.Kind != b.Kind {
		return 0, false
	}
	switch a.Kind {
	case S:
		return strings.Compare(a.S, b.S), true
	case N:
		return a.N.Cmp(b.N), true
	case B:
		return bytes.Compare(a.B, b.B), true
	default:
		return 0, false
	}
}
