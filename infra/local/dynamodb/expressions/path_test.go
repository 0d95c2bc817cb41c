package expressions_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/dynamodb/expressions"
)

func TestProjection(t *testing.T) {
	t.Parallel()
	it := decode(t, conditionItem)
	for src, want := range map[string]string{
		"s":                      `{"s":{"S":"hello"}}`,
		" s ,\tn ":               `{"s":{"S":"hello"},"n":{"N":"5"}}`,
		"absent1":                `{}`,
		"m.k, m.absent1":         `{"m":{"M":{"k":{"N":"7"}}}}`,
		"m.absent1":              `{}`,
		"m.deeper.x, m.#size, s": `{"m":{"M":{"deeper":{"M":{"x":{"S":"y"}}},"size":{"S":"9"}}},"s":{"S":"hello"}}`,
		"l[2], l[0]":             `{"l":{"L":[{"S":"x"},{"L":[{"S":"deep"}]}]}}`,
		"l[2][0], l[9]":          `{"l":{"L":[{"L":[{"S":"deep"}]}]}}`,
		"l[0], l[2], l[1]":       `{"l":{"L":[{"S":"x"},{"N":"1"},{"L":[{"S":"deep"}]}]}}`,
		"l[9]":                   `{}`,
		"s.x, n[0], m[0], l.x":   `{}`,
		"#dots, #a.b":            `{"a.b":{"S":"dotted"},"a":{"M":{"b":{"S":"nested"}}}}`,
		"set1, add1":             `{}`,
	} {
		p, err := expressions.ParseProjection(src, scope(t, testNames, ""))
		if err != nil {
			t.Errorf("%s: %v", src, err)
			continue
		}
		if diff := cmp.Diff(decode(t, want), p.Apply(it)); diff != "" {
			t.Errorf("%s: %s", src, diff)
		}
	}
}

func TestProjectionErrors(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]string{
		"":              "The expression can not be empty;",
		"s,":            `Syntax error; token: "<EOF>"`,
		"s n":           `Syntax error; token: "n"`,
		":v":            `Syntax error; token: ":v"`,
		"s[a]":          `Syntax error; token: "a"`,
		"size(s)":       `Syntax error; token: "("`,
		"s, add, #no":   "Attribute name is a reserved keyword; reserved keyword: add",
		"s, #no":        "An expression attribute name used in the document path is not defined; attribute name: #no",
		"s, m.x, m":     "Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [m, x], path two: [m]",
		"a, #a":         "Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [a], path two: [a]",
		"s.x, s[0]":     "Two document paths conflict with each other; must remove or rewrite one of these paths; path one: [s, x], path two: [s, [0]]",
		"l[3000000000]": "List index is not within the allowable range; index: [3000000000]",
		"a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r.s.t.u.v.w.x.y.z.a.b.c.d.e.f.g": "The document path has too many nesting levels; nesting levels: 33",
	} {
		_, err := expressions.ParseProjection(src, scope(t, testNames, ""))
		if got := message(t, err); got != "Invalid ProjectionExpression: "+want {
			t.Errorf("%s\n got %s\nwant %s", src, got, want)
		}
	}
}

func BenchmarkProjection(b *testing.B) {
	it := decode(b, conditionItem)
	b.ReportAllocs()
	for b.Loop() {
		s, err := expressions.NewScope(testNames, nil)
		if err != nil {
			b.Fatal(err)
		}
		p, err := expressions.ParseProjection("s, m.k, l[0]", s)
		if err != nil {
			b.Fatal(err)
		}
		p.Apply(it)
	}
}
