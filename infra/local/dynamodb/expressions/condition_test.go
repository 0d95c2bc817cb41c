package expressions_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"devplatform/infra/local/dynamodb/expressions"
	"devplatform/infra/local/dynamodb/values"
)

const conditionValues = `{":s":{"S":"text"},":n":{"N":"5"},":m":{"N":"3"},":b":{"B":"YQ=="},":bool":{"BOOL":true},":null":{"NULL":true},
":l":{"L":[]},":map":{"M":{}},":ss":{"SS":["x"]},":ns":{"NS":["1"]},":bs":{"BS":["YQ=="]},":S":{"S":"S"}}`

func TestConditionErrors(t *testing.T) {
	t.Parallel()
	const (
		syntax   = "Syntax error; token: "
		function = "The function is not allowed to be used this way in an expression; function: "
		operand  = "Incorrect operand type for operator or function; operator or function: "
		count    = "Incorrect number of operands for operator or function; operator or function: "
		distinct = "The first operand must be distinct from the remaining operands for this operator or function; operator: "
		noName   = "An expression attribute name used in the document path is not defined; attribute name: "
		noValue  = "An expression attribute value used in expression is not defined; attribute value: "
		reserved = "Attribute name is a reserved keyword; reserved keyword: "
		path     = "Operator or function requires a document path; operator or function: "
		parens   = "The expression has redundant parentheses;"
		between  = "The BETWEEN operator requires "
		typeName = "The second operand of attribute_type must be a value with the name of a type"
	)
	tests := map[string]string{
		"":                              "The expression can not be empty;",
		" ":                             syntax + `"<EOF>"`,
		"x":                             syntax + `"<EOF>"`,
		"x y z = :n":                    syntax + `"y"`,
		"x = 4":                         syntax + `"4"`,
		"x  =\t= y":                     syntax + `"="`,
		"_x = :n":                       syntax + `"_"`,
		"x-y = :n":                      syntax + `"-"`,
		"x..y = :n":                     syntax + `"."`,
		"é = :n":                        syntax + `"é"`,
		"x[y] = :n":                     syntax + `"y"`,
		"x[:n] = :n":                    syntax + `":n"`,
		"x[01] = :n":                    syntax + `"1"`,
		"x[1.5] = :n":                   syntax + `"."`,
		"# = :n":                        syntax + `"#"`,
		":n.x = :n":                     syntax + `"."`,
		"x IN ()":                       syntax + `")"`,
		"x IN (:n,)":                    syntax + `")"`,
		"x IN :n":                       syntax + `":n"`,
		"x BETWEEN :n":                  syntax + `"<EOF>"`,
		"x BETWEEN :n OR :m":            syntax + `"OR"`,
		"x = :n AND":                    syntax + `"<EOF>"`,
		"AND x = :n":                    syntax + `"AND"`,
		"x AND y = :n":                  syntax + `"AND"`,
		"x = :n AND y":                  syntax + `"<EOF>"`,
		"NOT x":                         syntax + `"<EOF>"`,
		"(x = :n":                       syntax + `"<EOF>"`,
		"x = :n)":                       syntax + `")"`,
		"(x)":                           syntax + `"<EOF>"`,
		"x = y = z":                     syntax + `"="`,
		"size(x).y = :n":                function + "size",
		"(x = :n) = :m":                 syntax + `"="`,
		"x > in":                        syntax + `"IN"`,
		"((x = :n))":                    parens,
		"x = ((:n))":                    parens,
		"((size(x))) > :n":              parens,
		"y = :n AND ((x = :n OR w=:m))": parens,
		"x = y AND foo(x) = bar(y)":     "Invalid function name; function: foo",
		"SIZE(x) = :n":                  "Invalid function name; function: SIZE",
		"if_not_exists(x, y) = :n":      function + "if_not_exists",
		"size(x)":                       function + "size",
		"attribute_exists(x) = :n":      function + "attribute_exists",
		"x IN (contains(x, y))":         function + "contains",
		"size(begins_with(x,y)) > :n":   function + "begins_with",
		"contains(begins_with(x,y),z)":  function + "begins_with",
		"name = :undefined":             reserved + "name",
		":n < vIeWs":                    reserved + "vIeWs",
		"x.data.y = :n":                 reserved + "data",
		"attribute_exists(x, name)":     reserved + "name",
		"x[2147483648] = :n":            "List index is not within the allowable range; index: [2147483648]",
		"x[99999999999999999999] = :n":  "List index is not within the allowable range; index: [99999999999999999999]",
		"#no = :no":                     noName + "#no",
		"x.#no = :n":                    noName + "#no",
		"x = :no":                       noValue + ":no",
		"attribute_exists(:no, x)":      noValue + ":no",
		"attribute_exists(x, y)":        count + "attribute_exists, number of operands: 2",
		"begins_with(x)":                count + "begins_with, number of operands: 1",
		"size(x, y) > :n":               count + "size, number of operands: 2",
		"x = x":                         distinct + "=, first operand: [x]",
		"a.b[1] <= #a.b[1]":             distinct + "<=, first operand: [a, b, [1]]",
		"contains(#size, #size)":        distinct + "contains, first operand: [size]",
		"x IN (y, x)":                   distinct + "IN, first operand: [x]",
		"x BETWEEN :n AND x":            distinct + "BETWEEN, first operand: [x]",
		"attribute_exists(:n)":          path + "attribute_exists",
		"attribute_not_exists(size(x))": path +
			"attribute_not_exists",
		"x < :l":                    operand + "<, operand type: L",
		":bool >= x":                operand + ">=, operand type: BOOL",
		"x BETWEEN :ss AND :ss":     operand + "BETWEEN, operand type: SS",
		"begins_with(x, :n)":        operand + "begins_with, operand type: N",
		"begins_with(:ns, x)":       operand + "begins_with, operand type: NS",
		"begins_with(x, size(y))":   operand + "begins_with, operand type: N",
		"size(:bool) = :n":          operand + "size, operand type: BOOL",
		"size(size(x)) = :n":        operand + "size, operand type: N",
		"attribute_type(x, :n)":     typeName,
		"attribute_type(x, y)":      typeName,
		"attribute_type(x, :s)":     typeName,
		"x BETWEEN :n AND :m":       between + "upper bound to be greater than or equal to lower bound",
		"x BETWEEN :n AND :s":       between + "same data type for lower and upper bounds",
		"begins_with(x) AND y = y":  count + "begins_with, number of operands: 1",
		"y = y AND begins_with(x)":  distinct + "=, first operand: [y]",
		"x = :no AND size(name)>:n": noValue + ":no",
	}
	for src, want := range tests {
		_, got := parseCondition(t, src, conditionValues)
		if want = "Invalid ConditionExpression: " + want; got != want {
			t.Errorf("%s\n got %s\nwant %s", src, got, want)
		}
	}
}

func TestConditionLimits(t *testing.T) {
	t.Parallel()
	terms := func(n int) string { return strings.Join(slices.Repeat([]string{"x=:n"}, n), " OR ") }
	list := func(n int) string { return "x IN (" + strings.Join(slices.Repeat([]string{":n"}, n), ",") + ")" }
	tests := map[string]struct{ src, want string }{
		"299 operators":   {terms(150), ""},
		"301 operators":   {terms(151), "The expression contains too many operators; operator count: 301"},
		"100 in a list":   {list(100), ""},
		"101 in a list":   {list(101), "The IN operator is provided with too many operands; number of operands: 101"},
		"4096 bytes":      {"x = :n" + strings.Repeat(" ", 4090), ""},
		"4097 bytes":      {"x = :n" + strings.Repeat(" ", 4091), "Expression size has exceeded the maximum allowed size; expression size: 4097"},
		"32 steps":        {"x" + strings.Repeat(".y", 31) + " = :n", ""},
		"33 steps":        {"x" + strings.Repeat(".y", 32) + " = :n", "The document path has too many nesting levels; nesting levels: 33"},
		"4000 (":          {strings.Repeat("(", 4000), `Syntax error; token: "<EOF>"`},
		"4000 ( before x": {strings.Repeat("(", 4000) + "x", `Syntax error; token: "<EOF>"`},
		"1000 NOT":        {strings.Repeat("NOT ", 1000) + "x=:n", "The expression contains too many operators; operator count: 1001"},
	}
	for name, test := range tests {
		_, got := parseCondition(t, test.src, conditionValues)
		want := test.want
		if want != "" {
			want = "Invalid ConditionExpression: " + want
		}
		if got != want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, want)
		}
	}
}

const conditionItem = `{"s":{"S":"hello"},"wide":{"S":"hé𝄞!"},"blank":{"S":""},"n":{"N":"5.0"},"b":{"B":"aGVsbG8="},"yes":{"BOOL":true},"nil":{"NULL":true},
"ss":{"SS":["a","b"]},"ns":{"NS":["1","2.50"]},"bs":{"BS":["YQ=="]},"l":{"L":[{"S":"x"},{"N":"1"},{"L":[{"S":"deep"}]}]},
"m":{"M":{"k":{"N":"7"},"size":{"S":"9"},"deeper":{"M":{"x":{"S":"y"}}}}},"a.b":{"S":"dotted"},"a":{"M":{"b":{"S":"nested"}}}}`

func TestConditionMatch(t *testing.T) {
	t.Parallel()
	given := `{":5":{"N":"5"},":4":{"N":"4"},":6":{"N":"6"},":2":{"N":"2"},":s5":{"S":"5"},":h":{"S":"he"},":hello":{"S":"hello"},":ell":{"S":"ell"},
":x":{"S":"x"},":a":{"S":"a"},":25":{"N":"2.5"},":ba":{"B":"YQ=="},":bhe":{"B":"aGU="},":ba_ss":{"SS":["b","a"]},":N":{"S":"N"},":M":{"S":"M"},":NULL":{"S":"NULL"},
":nested":{"S":"nested"},":dotted":{"S":"dotted"},":deep":{"L":[{"S":"deep"}]},":yes":{"BOOL":true},":zz":{"S":"zz"},":7":{"N":"7"},":e":{"S":""}}`
	tests := map[string]bool{
		"n = :5": true, "n = :s5": false, "n <> :s5": true, "n < :6": true, "n <= :5": true, "n > :5": false, "n >= :6": false,
		":6 > n": true, "s > :h": true, "s < :5": false, "gone = :5": false, "gone <> :5": true, "gone < :5": false, "gone <> absent": true, "gone = absent": false,
		"ss = :ba_ss": true, "yes = :yes": true, "l < :5": false, "nil = :yes": false, "blank = :e": true,
		"n BETWEEN :4 AND :5": true, "n BETWEEN :6 AND :7": false, "n BETWEEN m.k AND :6": false, "gone BETWEEN :4 AND :5": false, "s BETWEEN :4 AND :5": false,
		"n IN (:4, :5)": true, "n IN (:s5, :4)": false, "gone IN (:5)": false, "n IN (gone, :5)": true,
		"attribute_exists(n)": true, "attribute_exists(gone)": false, "attribute_exists(m.k)": true, "attribute_exists(m.gone)": false,
		"attribute_exists(l[2][0])": true, "attribute_exists(l[3])": false, "attribute_exists(s.x)": false, "attribute_exists(m[0])": false, "attribute_exists(ss[0])": false, "attribute_exists(nil)": true,
		"attribute_not_exists(n)": false, "attribute_not_exists(gone)": true, "attribute_not_exists(gone.x)": true,
		"attribute_type(n, :N)": true, "attribute_type(s, :N)": false, "attribute_type(m, :M)": true, "attribute_type(gone, :M)": false, "attribute_type(nil, :NULL)": true,
		"begins_with(s, :h)": true, "begins_with(s, :x)": false, "begins_with(b, :bhe)": true, "begins_with(b, :h)": false, "begins_with(n, :h)": false,
		"begins_with(gone, :h)": false, "begins_with(:hello, s)": true, "begins_with(s, :e)": true,
		"contains(s, :ell)": true, "contains(s, :zz)": false, "contains(ss, :a)": true, "contains(ss, :x)": false, "contains(ns, :25)": true, "contains(ns, :4)": false,
		"contains(bs, :ba)": true, "contains(l, :x)": true, "contains(l, :deep)": true, "contains(l, :a)": false, "contains(n, :5)": false, "contains(m, :x)": false, "contains(b, :bhe)": true,
		"size(s) = :5": true, "size(wide) = :5": true, "size(ss) = :2": true, "size(m) > :2": true, "size(l) < :4": true, "size(b) = :5": true, "size(n) = :5": false, "size(n) <> :5": true,
		"size(gone) = :5": false, "size(s) BETWEEN :4 AND :6": true, "size(s) = n": true, "size(:hello) = :5": true,
		"a.b = :nested": true, "#dots = :dotted": true, "m.#size < :h": true, "m.deeper.x > :5": false, "l[1] < l[0]": false,
		"n = :5 OR gone = :5 AND gone = :4": true, "(n = :5 OR gone = :5) AND gone = :4": false,
		"NOT n = :5": false, "NOT n = :4 AND s = :hello": true, "NOT (n = :4 AND s = :hello)": true, "not not N = :5": false, "NOT NOT n = :5": true,
		"n between :4 and :6 and s = :hello": true, "(n) BETWEEN (:4) AND (:6)": true, "(size(s)) > (:4)": true, "(attribute_exists(n))": true,
		"(n = :5 AND (s = :hello))": true, "NOT(n = :4)": true, "n=:5 And(s=:hello)oR gone<:5": true,
	}
	it := decode(t, conditionItem)
	for src, want := range tests {
		c, problem := parseCondition(t, src, given)
		if problem != "" {
			t.Errorf("%s: %s", src, problem)
			continue
		}
		if got := c.Match(it); got != want {
			t.Errorf("%s: %v", src, got)
		}
	}
}

func TestConditionOnNothing(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]bool{"attribute_not_exists(pk)": true, "pk = :n": false, "pk <> :n": true, "NOT pk = :n": true} {
		c, problem := parseCondition(t, src, conditionValues)
		if problem != "" {
			t.Fatal(problem)
		}
		if got := c.Match(nil); got != want {
			t.Errorf("%s: %v", src, got)
		}
	}
}

func TestConditionPaths(t *testing.T) {
	t.Parallel()
	c, problem := parseCondition(t, "NOT (size(x.y[3]) > z OR #a IN (:n, w)) AND attribute_exists(#dots)", conditionValues)
	if problem != "" {
		t.Fatal(problem)
	}
	if got, want := fmt.Sprint(c.Paths()), "[[x, y, [3]] [z] [a] [w] [a.b]]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// formula is a random condition with its expected result.
type formula struct {
	src  string
	want bool
}

// formulas generates conditions on the numbers a to c, with and without redundant parentheses.
func formulas(depth int, numbers map[string]int64) *rapid.Generator[formula] {
	return rapid.Custom(func(t *rapid.T) formula {
		if depth == 0 || rapid.IntRange(0, 3).Draw(t, "leaf") == 0 {
			return comparisonFormula(t, numbers)
		}
		left := formulas(depth-1, numbers).Draw(t, "left")
		if rapid.IntRange(0, 2).Draw(t, "not") == 0 {
			return formula{"NOT (" + left.src + ")", !left.want}
		}
		right := formulas(depth-1, numbers).Draw(t, "right")
		if rapid.Bool().Draw(t, "and") {
			return formula{"(" + left.src + ") AND (" + right.src + ")", left.want && right.want}
		}
		return formula{"(" + left.src + ") or (" + right.src + ")", left.want || right.want}
	})
}

func comparisonFormula(t *rapid.T, numbers map[string]int64) formula {
	names := []string{"a", "b", "c"}
	i := rapid.IntRange(0, 2).Draw(t, "x")
	x, y := names[i], names[(i+rapid.IntRange(1, 2).Draw(t, "y"))%3]
	p, q := numbers[x], numbers[y]
	operators := []struct {
		text string
		want bool
	}{{"=", p == q}, {"<>", p != q}, {"<", p < q}, {"<=", p <= q}, {">", p > q}, {">=", p >= q}}
	op := rapid.SampledFrom(operators).Draw(t, "op")
	return formula{x + op.text + y, op.want}
}

func TestConditionAgainstModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		numbers, it := map[string]int64{}, values.Item{}
		for _, name := range []string{"a", "b", "c"} {
			numbers[name] = rapid.Int64Range(-2, 2).Draw(t, name)
			it = it.Set(name, values.FromInt(numbers[name]))
		}
		f := formulas(5, numbers).Draw(t, "formula")
		s, err := expressions.NewScope(nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		c, err := expressions.ParseCondition("FilterExpression", f.src, s)
		if err != nil {
			t.Skip("too long or with too many operators")
		}
		if got := c.Match(it); got != f.want {
			t.Fatalf("%s on %v: %v", f.src, numbers, got)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"a = :v AND NOT (b BETWEEN :v AND c[1].#n) OR size(d) IN (:v, e)", "((((a", "SET a = if_not_exists(b, :v) + :v, c[0].d = list_append(:l, e) REMOVE f ADD g :v DELETE h :s",
		"a, b.c[2], #n", "#n = :v AND begins_with(k, :t)", "SET a = ((b)+(:v))", "é", "<", "a[", "NOT NOT NOT",
	} {
		f.Add(seed)
	}
	given := `{":v":{"N":"1"},":l":{"L":[]},":s":{"SS":["a"]},":t":{"S":"t"}}`
	names := map[string]string{"#n": "n"}
	old := decode(f, conditionItem)
	f.Fuzz(func(t *testing.T, src string) {
		fresh := func() *expressions.Scope { return scope(t, names, given) }
		if c, err := expressions.ParseCondition("FilterExpression", src, fresh()); err == nil {
			c.Match(old)
		}
		if k, err := expressions.ParseKeyCondition(src, fresh()); err == nil {
			_, _, err = k.Resolve("n", "k")
			message(t, err)
		}
		if p, err := expressions.ParseProjection(src, fresh()); err == nil {
			p.Apply(old)
		}
		if u, err := expressions.ParseUpdate(src, fresh()); err == nil {
			if updated, touched, err := u.Apply(old); err == nil {
				expressions.Project(updated, touched)
			}
		}
		if !old.Equal(decode(t, conditionItem)) {
			t.Fatalf("%s changed the item it was applied to", src)
		}
	})
}

func BenchmarkCondition(b *testing.B) {
	given := decode(b, `{":v":{"N":"3"},":now":{"N":"1732147200"}}`)
	names := map[string]string{"#v": "version"}
	it := decode(b, `{"pk":{"S":"USER#1"},"version":{"N":"3"},"expires":{"N":"1732147300"}}`)
	b.ReportAllocs()
	for b.Loop() {
		s, err := expressions.NewScope(names, given)
		if err != nil {
			b.Fatal(err)
		}
		c, err := expressions.ParseCondition("ConditionExpression", "attribute_exists(pk) AND #v = :v AND expires > :now", s)
		if err != nil || s.CheckUnused() != nil || !c.Match(it) {
			b.Fatal(err)
		}
	}
}

func BenchmarkMatch(b *testing.B) {
	s := scope(b, nil, `{":v":{"N":"3"}}`)
	c, err := expressions.ParseCondition("FilterExpression", "version = :v AND attribute_exists(pk)", s)
	if err != nil {
		b.Fatal(err)
	}
	it := decode(b, `{"pk":{"S":"USER#1"},"version":{"N":"3"}}`)
	b.ReportAllocs()
	for b.Loop() {
		c.Match(it)
	}
}
