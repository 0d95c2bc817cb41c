package values

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf16"
)

// smallSet is the size up to which comparing all members with each other is faster than building a map of them.
const smallSet = 8

// hasDuplicate reports whether any two members have the same key.
func hasDuplicate[T any, K comparable](members []T, key func(T) K) bool {
	if len(members) <= smallSet {
		for i, a := range members {
			for _, b := range members[:i] {
				if key(a) == key(b) {
					return true
				}
			}
		}
		return false
	}
	seen := make(map[K]struct{}, len(members))
	for _, member := range members {
		seen[key(member)] = struct{}{}
	}
	return len(seen) != len(members)
}

// subset reports whether every member of a is in b.
func subset[T any, K comparable](a, b []T, key func(T) K) bool {
	return len(difference(a, b, key)) == 0
}

// difference returns the members of a that are not in b, in order.
func difference[T any, K comparable](a, b []T, key func(T) K) []T {
	in := func(k K) bool {
		return slices.ContainsFunc(b, func(member T) bool { return key(member) == k })
	}
	if len(a) > smallSet && len(b) > smallSet {
		known := make(map[K]struct{}, len(b))
		for _, member := range b {
			known[key(member)] = struct{}{}
		}
		in = func(k K) bool { _, ok := known[k]; return ok }
	}
	var rest []T
	for _, member := range a {
		if !in(key(member)) {
			rest = append(rest, member)
		}
	}
	return rest
}

func stringKey(s string) string { return s }
func numberKey(n Number) Number { return n }
func bytesKey(b []byte) string  { return string(b) }

func containsAll(v, w Value) bool {
	switch v.Kind {
	case SS:
		return subset(v.SS, w.SS, stringKey)
	case NS:
		return subset(v.NS, w.NS, numberKey)
	default:
		return subset(v.BS, w.BS, bytesKey)
	}
}

// Len returns the result of DynamoDB's size function: the number of members, elements or attributes, of bytes of a binary
// value, or of UTF-16 units of a string. It returns false for numbers, booleans and null, which have no length.
func (v Value) Len() (int, bool) {
	switch v.Kind {
	case S:
		return utf16Len(v.S), true
	case B:
		return len(v.B), true
	case SS:
		return len(v.SS), true
	case NS:
		return len(v.NS), true
	case BS:
		return len(v.BS), true
	case M:
		return len(v.M), true
	case L:
		return len(v.L), true
	default:
		return 0, false
	}
}

func utf16Len(s string) int {
	n := 0
	for _, r := range s {
		n += utf16.RuneLen(r)
	}
	return n
}

// Union returns the set v with the members of w added. It returns false if v and w are not sets of the same type.
func (v Value) Union(w Value) (Value, bool) {
	if v.Kind != w.Kind || !v.Kind.IsSet() {
		return Value{}, false
	}
	switch v.Kind {
	case SS:
		v.SS = slices.Concat(v.SS, difference(w.SS, v.SS, stringKey))
	case NS:
		v.NS = slices.Concat(v.NS, difference(w.NS, v.NS, numberKey))
	default:
		v.BS = slices.Concat(v.BS, difference(w.BS, v.BS, bytesKey))
	}
	return v, true
}

// Difference returns the set v without the members of w. The result can be empty, unlike a stored set. It returns false
// if v and w are not sets of the same type.
func (v Value) Difference(w Value) (Value, bool) {
	if v.Kind != w.Kind || !v.Kind.IsSet() {
		return Value{}, false
	}
	switch v.Kind {
	case SS:
		v.SS = difference(v.SS, w.SS, stringKey)
	case NS:
		v.NS = difference(v.NS, w.NS, numberKey)
	default:
		v.BS = difference(v.BS, w.BS, bytesKey)
	}
	return v, true
}

// Contains returns the result of DynamoDB's contains function: whether w is a substring of a string or binary value, a
// member of a set, or an element of a list. It returns false for other types.
func (v Value) Contains(w Value) bool {
	switch {
	case v.Kind == L:
		return slices.ContainsFunc(v.L, w.Equal)
	case v.Kind == S && w.Kind == S:
		return strings.Contains(v.S, w.S)
	case v.Kind == B && w.Kind == B:
		return bytes.Contains(v.B, w.B)
	case v.Kind == SS && w.Kind == S:
		return slices.Contains(v.SS, w.S)
	case v.Kind == NS && w.Kind == N:
		return slices.Contains(v.NS, w.N)
	case v.Kind == BS && w.Kind == B:
		return slices.ContainsFunc(v.BS, func(b []byte) bool { return bytes.Equal(b, w.B) })
	default:
		return false
	}
}
