package dynamodb

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"devplatform/infra/local/datafolder"
	"devplatform/infra/local/dynamodb/expressions"
	"devplatform/infra/local/dynamodb/values"
)

func drawKey(t *rapid.T, name string, kind values.Kind) values.Value {
	switch kind {
	case values.N:
		return values.FromInt(rapid.Int64Range(-30, 30).Draw(t, name))
	case values.B:
		return values.Value{Kind: values.B, S: string(rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 0xfe, 0xff}), 1, 4).Draw(t, name))}
	default:
		return values.Value{Kind: values.S, S: rapid.StringOfN(rapid.SampledFrom([]rune{0, 'a', 'b', 'é', 0x10FFFF}), 1, 4, -1).Draw(t, name)}
	}
}

// TestTermSpans checks that the span of a range key condition contains exactly the keys that satisfy it.
func TestTermSpans(t *testing.T) {
	t.Parallel()
	operators := []expressions.Operator{expressions.Equal, expressions.Less, expressions.LessEqual, expressions.Greater, expressions.GreaterEqual, expressions.Between, expressions.BeginsWith}
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom([]values.Kind{values.S, values.N, values.B}).Draw(t, "kind")
		term := expressions.KeyTerm{Op: rapid.SampledFrom(operators).Draw(t, "operator"), A: drawKey(t, "a", kind), B: drawKey(t, "b", kind)}
		if term.Op == expressions.BeginsWith && kind == values.N {
			t.Skip("numbers don't begin with numbers")
		}
		prefix := appendPartition(numberedKey(datafolder.SpaceIndex, 7), drawKey(t, "hash", values.S))
		value := drawKey(t, "value", kind)
		position := drawKey(t, "table key", values.S).AppendKey(value.AppendKey(bytes.Clone(prefix)))
		if got, want := termSpan(prefix, &term).contains(position), satisfies(value, term); got != want {
			t.Fatalf("%v %s %v..%v: in the span %t, matches %t", value, term.Op, term.A, term.B, got, want)
		}
	})
}

// satisfies reports whether a value satisfies the condition of a range key.
func satisfies(v values.Value, term expressions.KeyTerm) bool {
	order, _ := values.Compare(v, term.A)
	switch term.Op {
	case expressions.Less:
		return order < 0
	case expressions.LessEqual:
		return order <= 0
	case expressions.Greater:
		return order > 0
	case expressions.GreaterEqual:
		return order >= 0
	case expressions.Between:
		high, _ := values.Compare(v, term.B)
		return order >= 0 && high <= 0
	case expressions.BeginsWith:
		return strings.HasPrefix(v.S, term.A.S)
	default:
		return order == 0
	}
}
