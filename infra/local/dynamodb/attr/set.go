package attr

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strings"
	"unicode/utf16"
)

// smallSet is the size up to which comparing all members with each other beats
// building a map of them.
const smallSet = 8

// hasDuplicate says whether any two members have the same key.
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

// duplicateStrings words the refusal of a string set with a repeated member.
func duplicateStrings(members []string) problem {
	shown := toFirstRepeat(members, strings.Compare)
	return problem{
		text:  msgInvalidPrefix + "Input collection [\"" + strings.Join(shown, "\", \"") + "\"] contains duplicates.",
		older: msgInvalidPrefix + "Input collection [" + strings.Join(members, ", ") + "] contains duplicates.",
	}
}

// duplicateBytes is duplicateStrings for binary sets; the missing blanks are AWS's.
func duplicateBytes(members [][]byte) problem {
	return problem{
		text:  msgInvalidPrefix + "Input collection [\"" + strings.Join(base64Texts(toFirstRepeat(members, bytes.Compare)), "\",\"") + "\"]of type BS contains duplicates.",
		older: msgInvalidPrefix + "Input collection [" + strings.Join(base64Texts(members), ", ") + "]of type BS contains duplicates.",
	}
}

func base64Texts(members [][]byte) []string {
	texts := make([]string, len(members))
	for i, member := range members {
		texts[i] = base64.StdEncoding.EncodeToString(member)
	}
	return texts
}

// toFirstRepeat lists members as AWS shows them: in order up to the first
// repeated one, then that one and the rest as they came.
func toFirstRepeat[T any](members []T, compare func(T, T) int) []T {
	var shown []T
	for i, member := range members {
		at, repeated := slices.BinarySearchFunc(shown, member, compare)
		if repeated {
			return append(shown, members[i:]...)
		}
		shown = slices.Insert(shown, at, member)
	}
	return shown
}

// subset says whether every member of a is in b.
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

// Len returns the number of members, elements, attributes, bytes of binary or
// UTF-16 units of text: DynamoDB's size function. False for numbers, booleans and null, which have no length.
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

// utf16Len counts as the service, which is written in Java, does.
func utf16Len(s string) int {
	n := 0
	for _, r := range s {
		n += utf16.RuneLen(r)
	}
	return n
}

// Union returns the set v with the members of w that it lacks. Both must be
// sets of one type, otherwise it reports false.
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

// Difference returns the set v without the members of w; the result may be
// empty, which no stored set is. Both must be sets of one type, otherwise it
// reports false.
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

// Contains is DynamoDB's contains function: a substring of a string or binary
// value, a member of a set, an element of a list. False where it cannot apply.
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
