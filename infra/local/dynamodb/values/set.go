package values

import (
	"slices"
	"strings"
	"unicode/utf16"
)

// element returns the type of a set's members.
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
