package pattern_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"devplatform/infra/local/triggers/pattern"
)

// naive matches patterns of exact values, prefixes, exists and anything-but against events without arrays of objects, on
// the flat list of their leaves: path → values.
func naive(p map[string]any, leaves map[string][]any, path string) bool {
	for name, value := range p {
		if name == "$or" {
			if !slices.ContainsFunc(value.([]any), func(o any) bool { return naive(o.(map[string]any), leaves, path) }) {
				return false
			}
			continue
		}
		at := path + "/" + name
		switch value := value.(type) {
		case map[string]any:
			if !naive(value, leaves, at) {
				return false
			}
		case []any:
			if !slices.ContainsFunc(value, func(condition any) bool { return naiveLeaf(condition, leaves[at]) }) {
				return false
			}
		}
	}
	return true
}

func naiveLeaf(condition any, values []any) bool {
	operator, ok := condition.(map[string]any)
	if !ok {
		return slices.Contains(values, condition)
	}
	for name, operand := range operator {
		switch name {
		case "exists":
			return operand == (len(values) > 0)
		case "prefix":
			return slices.ContainsFunc(values, func(v any) bool {
				s, ok := v.(string)
				return ok && strings.HasPrefix(s, operand.(string))
			})
		case "anything-but":
			return slices.ContainsFunc(values, func(v any) bool { return v != operand })
		}
	}
	panic("unknown operator")
}

func flatten(value any, path string, leaves map[string][]any) {
	switch value := value.(type) {
	case map[string]any:
		for name, v := range value {
			flatten(v, path+"/"+name, leaves)
		}
	case []any:
		for _, v := range value {
			flatten(v, path, leaves)
		}
	default:
		leaves[path] = append(leaves[path], value)
	}
}

var (
	names   = rapid.SampledFrom([]string{"a", "b", "c"})
	strs    = rapid.SampledFrom([]string{"", "x", "xy", "yx"})
	scalars = rapid.OneOf(
		rapid.Map(strs, func(s string) any { return s }),
		rapid.Map(rapid.IntRange(0, 3), func(n int) any { return json.Number(fmt.Sprint(n)) }),
		rapid.SampledFrom([]any{nil, true, false}),
	)
)

func objects(depth int, leaf *rapid.Generator[any]) *rapid.Generator[any] {
	value := leaf
	if depth > 0 {
		value = rapid.OneOf(leaf, objects(depth-1, leaf))
	}
	return rapid.Map(rapid.MapOfN(names, value, 1, 3), func(m map[string]any) any { return m })
}

func conditions() *rapid.Generator[any] {
	one := rapid.OneOf(
		scalars,
		rapid.Map(strs, func(s string) any { return map[string]any{"prefix": s} }),
		rapid.Map(strs, func(s string) any { return map[string]any{"anything-but": s} }),
		rapid.Map(rapid.Bool(), func(b bool) any { return map[string]any{"exists": b} }),
	)
	return rapid.Map(rapid.SliceOfN(one, 1, 3), func(list []any) any { return list })
}

// TestMatchesLikeANaiveMatcher compares with the matcher above.
func TestMatchesLikeANaiveMatcher(t *testing.T) {
	t.Parallel()
	events := objects(2, rapid.OneOf(scalars, rapid.Map(rapid.SliceOfN(scalars, 0, 3), func(l []any) any { return l })))
	patterns := objects(2, conditions())
	rapid.Check(t, func(t *rapid.T) {
		p := patterns.Draw(t, "pattern").(map[string]any)
		if rapid.Bool().Draw(t, "or") {
			p["$or"] = []any{patterns.Draw(t, "one"), patterns.Draw(t, "other")}
		}
		text, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := pattern.Parse(string(text))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		e := events.Draw(t, "event")
		leaves := map[string][]any{}
		flatten(e, "", leaves)
		if want, got := naive(p, leaves, ""), parsed.Match(e); got != want {
			t.Fatalf("%s on %v: %v, want %v", text, e, got, want)
		}
	})
}

// FuzzParse checks that Parse returns a pattern or an error, and that Match does not panic.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"a": [1, "x", null, true, {"prefix": "x"}]}`, `{"a": {"b": [{"numeric": [">", 0, "<=", 5]}]}}`, `{"$or": [{"a": [1]}, {"b": [{"exists": false}]}]}`,
		`{"a": [{"anything-but": {"suffix": ["x", "y"]}}]}`, `{"a": [{"prefix": {"equals-ignore-case": "é"}}]}`, `{"a": [`, `[]`, ``, `{"a": [1e999]}`,
	} {
		f.Add(seed)
	}
	e := decode(f, event)
	f.Fuzz(func(t *testing.T, text string) {
		p, err := pattern.Parse(text)
		if (p == nil) == (err == nil) {
			t.Fatalf("%v, %v", p, err)
		}
		if err != nil {
			return
		}
		if !json.Valid([]byte(text)) {
			t.Error("not JSON")
		}
		p.Match(e)
		p.Match(map[string]any{})
	})
}
