package expressions_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/dynamodb/expressions"
	"devplatform/infra/local/dynamodb/values"
)

func parseUpdate(t testing.TB, src, given string) (*expressions.Update, string) {
	t.Helper()
	u, err := expressions.ParseUpdate(src, scope(t, testNames, given))
	return u, message(t, err)
}

func TestUpdateErrors(t *testing.T) {
	t.Parallel()
	const (
		syntax   = "Syntax error; token: "
		operand  = "Incorrect operand type for operator or function; operator or function: "
		section  = "Incorrect operand type for operator or function; operator: "
		count    = "Incorrect number of operands for operator or function; operator or function: "
		noName   = "An expression attribute name used in the document path is not defined; attribute name: "
		noValue  = "An expression attribute value used in expression is not defined; attribute value: "
		reserved = "Attribute name is a reserved keyword; reserved keyword: "
		overlap  = "Two document paths overlap with each other; must remove or rewrite one of these paths; path one: "
		conflict = "Two document paths conflict with each other; must remove or rewrite one of these paths; path one: "
		once     = " section can only be used once in an update expression;"
	)
	tests := map[string]string{
		"":                  "The expression can not be empty;",
		"NO SUCH SECTION":   syntax + `"NO"`,
		"SET":               syntax + `"<EOF>"`,
		"SET x":             syntax + `"<EOF>"`,
		"SET x = :n,":       syntax + `"<EOF>"`,
		"SET x = :n y = :n": syntax + `"y"`,
		"SET x = y + z + w": syntax + `"+"`,
		"SET x = if_not_exists(x, :n + :n)": syntax +
			`"+"`,
		"SET x = y * z":              syntax + `"*"`,
		"SET x = set":                syntax + `"SET"`,
		"SET :n = x":                 syntax + `":n"`,
		"SET (x = :n)":               syntax + `"("`,
		"SET f(x) = :n":              syntax + `"("`,
		"SET _x = :n":                syntax + `"_"`,
		"REMOVE x = y":               syntax + `"="`,
		"REMOVE :n":                  syntax + `":n"`,
		"REMOVE x y":                 syntax + `"y"`,
		"ADD x = :n":                 syntax + `"="`,
		"ADD x y":                    syntax + `"y"`,
		"DELETE x y":                 syntax + `"y"`,
		"SET x = ((:n))":             "The expression has redundant parentheses;",
		"SET x = ((:n + :n))":        "The expression has redundant parentheses;",
		"SET x = y SET z = f(w)":     `The "SET"` + once,
		"SET x = LIST_APPEND(x, :l)": "Invalid function name; function: LIST_APPEND",
		"SET x = size(y)":            "The function is not allowed to be used this way in an expression; function: size",
		"SET x = list_append(list_append(:l, :l), :l)":  "The function is not allowed to be used this way in an expression; function: list_append",
		"SET x = list_append(:l, :l) + :n":              "The function is not allowed to be used this way in an expression; function: list_append",
		"SET x = #no SET status = :no":                  noName + "#no",
		"REMOVE Date":                                   reserved + "Date",
		"SET x = :no SET y = :n":                        noValue + ":no",
		"REMOVE x SET y = :n REMOVE z":                  `The "REMOVE"` + once,
		"add x :n set y = :n add z :n":                  `The "ADD"` + once,
		"DELETE x :ss DELETE #no :ss":                   `The "DELETE"` + once,
		"SET #no = :no":                                 noName + "#no",
		"SET x = :no, y = #no":                          noValue + ":no",
		"SET x = y, x.z = :no":                          noValue + ":no",
		"SET x = if_not_exists(:no)":                    noValue + ":no",
		"SET x = :n REMOVE x":                           overlap + "[x], path two: [x]",
		"SET x = :n, x.y = :n":                          overlap + "[x], path two: [x, y]",
		"SET x[1].y = :n, x[1] = :n":                    overlap + "[x, [1], y], path two: [x, [1]]",
		"SET #a = :n ADD a :n":                          overlap + "[a], path two: [a]",
		"SET x.y = :n, x[1] = :n":                       conflict + "[x, y], path two: [x, [1]]",
		"SET x.y = :n, x[1] = :n, z = :n, z = :n":       conflict + "[x, y], path two: [x, [1]]",
		"SET x.y = :n, x[1] = :n, z[0] = :n, z.a = :n":  conflict + "[x, y], path two: [x, [1]]",
		"SET x.y = :n, x[1] = f_not(:n)":                "Invalid function name; function: f_not",
		"SET x = list_append(:s, :l) ADD y :s":          operand + "list_append, operand type: S",
		"DELETE x :n":                                   section + "DELETE, operand type: N",
		"ADD x :l":                                      section + "ADD, operand type: L",
		"ADD x :map":                                    section + "ADD, operand type: M",
		"ADD x :b":                                      section + "ADD, operand type: B",
		"DELETE x :bool":                                section + "DELETE, operand type: BOOL",
		"DELETE x :null":                                section + "DELETE, operand type: NULL",
		"SET x = if_not_exists(y)":                      count + "if_not_exists, number of operands: 1",
		"SET x = list_append(:l, y, :l)":                count + "list_append, number of operands: 3",
		"SET x = if_not_exists(:n, y)":                  "Operator or function requires a document path; operator or function: if_not_exists",
		"SET x = if_not_exists(if_not_exists(x, y), z)": "Operator or function requires a document path; operator or function: if_not_exists",
		"SET x = list_append(:s, y)":                    operand + "list_append, operand type: S",
		"SET x = list_append(y, :n)":                    operand + "list_append, operand type: N",
		"SET x = y + :s":                                operand + "+, operand type: S",
		"SET x = :l - :n":                               operand + "-, operand type: L",
	}
	for src, want := range tests {
		_, got := parseUpdate(t, src, conditionValues)
		if want = "Invalid UpdateExpression: " + want; got != want {
			t.Errorf("%s\n got %s\nwant %s", src, got, want)
		}
	}
}

const updateItem = `{"pk":{"S":"k"},"n":{"N":"10"},"s":{"S":"text"},"ss":{"SS":["a","b"]},"ns":{"NS":["1"]},"l":{"L":[{"N":"0"},{"N":"1"},{"N":"2"},{"N":"3"}]},
"m":{"M":{"k":{"N":"1"},"deeper":{"M":{"x":{"S":"y"}}},"entries":{"L":[{"M":{"a":{"S":"b"}}},{"S":"t"}]}}}}`

const updateValues = `{":1":{"N":"1"},":2":{"N":"2"},":s":{"S":"new"},":l":{"L":[{"S":"+"}]},":m":{"M":{"q":{"N":"1"}}},":ss":{"SS":["b","c"]},":both":{"SS":["a","b"]},":ns":{"NS":["1.0","2"]}}`

func TestUpdateApply(t *testing.T) {
	t.Parallel()
	list := func(elements ...string) string {
		return `{"L":[` + strings.Join(elements, ",") + `]}`
	}
	const n0, n1, n2, n3, plus, fresh = `{"N":"0"}`, `{"N":"1"}`, `{"N":"2"}`, `{"N":"3"}`, `{"S":"+"}`, `{"S":"new"}`
	// The expectations are the attributes that differ from updateItem. "" means that the attribute is removed.
	tests := map[string]map[string]string{
		"SET x = :1":                                     {"x": n1},
		"SET x = :1, s = :s":                             {"x": n1, "s": fresh},
		"SET x = n, n = :1":                              {"x": `{"N":"10"}`, "n": n1},
		"SET n = n + :1":                                 {"n": `{"N":"11"}`},
		"SET n = :1 - n":                                 {"n": `{"N":"-9"}`},
		"SET n = (n - :1)":                               {"n": `{"N":"9"}`},
		"SET n = ((n)+(:1))":                             {"n": `{"N":"11"}`},
		"SET x = if_not_exists(x, :1) + :2":              {"x": `{"N":"3"}`},
		"SET n = if_not_exists(n, :1)":                   {},
		"SET x = if_not_exists(y, if_not_exists(z, :s))": {"x": fresh},
		"SET l = list_append(l, :l)":                     {"l": list(n0, n1, n2, n3, plus)},
		"SET l = list_append(:l, l)":                     {"l": list(plus, n0, n1, n2, n3)},
		"SET x = list_append(if_not_exists(x, :l), :l)":  {"x": list(plus, plus)},
		"SET m.k = :s":                                   {"m": `{"M":{"k":{"S":"new"},"deeper":{"M":{"x":{"S":"y"}}},"entries":{"L":[{"M":{"a":{"S":"b"}}},{"S":"t"}]}}}`},
		"SET m.z = :1, m.#size = :2":                     {"m": `{"M":{"k":{"N":"1"},"z":{"N":"1"},"size":{"N":"2"},"deeper":{"M":{"x":{"S":"y"}}},"entries":{"L":[{"M":{"a":{"S":"b"}}},{"S":"t"}]}}}`},
		"SET m.entries[0].a = m.k":                       {"m": `{"M":{"k":{"N":"1"},"deeper":{"M":{"x":{"S":"y"}}},"entries":{"L":[{"M":{"a":{"N":"1"}}},{"S":"t"}]}}}`},
		"SET #dots = :1":                                 {"a.b": n1},
		"SET l[1] = :s":                                  {"l": list(n0, fresh, n2, n3)},
		"SET l[9] = :s":                                  {"l": list(n0, n1, n2, n3, fresh)},
		"SET l[84] = :1, l[7] = :2, l[50] = :s":          {"l": list(n0, n1, n2, n3, n2, fresh, n1)},
		"REMOVE l[1] SET l[2] = :s":                      {"l": list(n0, fresh, n3)},
		"SET l[9] = :s REMOVE l[0], l[2]":                {"l": list(n1, n3, fresh)},
		"REMOVE l[0], l[1], l[2], l[3]":                  {"l": list()},
		"REMOVE l[17]":                                   {},
		"REMOVE m.entries[0].a, m.entries[1]":            {"m": `{"M":{"k":{"N":"1"},"deeper":{"M":{"x":{"S":"y"}}},"entries":{"L":[{"M":{}}]}}}`},
		"REMOVE s":                                       {"s": ""},
		"REMOVE s SET x = s":                             {"s": "", "x": `{"S":"text"}`},
		"REMOVE x, m.deeper":                             {"m": `{"M":{"k":{"N":"1"},"entries":{"L":[{"M":{"a":{"S":"b"}}},{"S":"t"}]}}}`},
		"REMOVE m.absent":                                {},
		"ADD n :1, x :2":                                 {"n": `{"N":"11"}`, "x": n2},
		"ADD ss :ss, ns :ns":                             {"ss": `{"SS":["a","b","c"]}`, "ns": `{"NS":["1","2"]}`},
		"ADD m.count1 :1":                                {"m": `{"M":{"k":{"N":"1"},"count1":{"N":"1"},"deeper":{"M":{"x":{"S":"y"}}},"entries":{"L":[{"M":{"a":{"S":"b"}}},{"S":"t"}]}}}`},
		"ADD l[2] :2":                                    {"l": list(n0, n1, `{"N":"4"}`, n3)},
		"ADD l[20] :2":                                   {"l": list(n0, n1, n2, n3, n2)},
		"DELETE ss :ss":                                  {"ss": `{"SS":["a"]}`},
		"DELETE ss :both":                                {"ss": ""},
		"DELETE x :ss":                                   {},
		"set n=:1 remove s add x :2 delete ss :ss":       {"n": n1, "s": "", "x": n2, "ss": `{"SS":["a"]}`},
	}
	for src, differences := range tests {
		want := decode(t, updateItem)
		for name, text := range differences {
			want = want.Remove(name)
			if text != "" {
				want = want.Set(name, decode(t, `{"`+name+`":`+text+`}`)[0].Value)
			}
		}
		old := decode(t, updateItem)
		u, problem := parseUpdate(t, src, usedValues(src))
		if problem != "" {
			t.Errorf("%s: %s", src, problem)
			continue
		}
		got, _, err := u.Apply(old)
		if err != nil {
			t.Errorf("%s: %v", src, err)
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", src, diff)
		}
		if !old.Equal(decode(t, updateItem)) {
			t.Errorf("%s changed the old item", src)
		}
	}
}

func usedValues(src string) string {
	if strings.Contains(src, ":") {
		return updateValues
	}
	return ""
}

func TestUpdateApplyErrors(t *testing.T) {
	t.Parallel()
	const (
		operand  = "An operand in the update expression has an incorrect data type"
		missing  = "The provided expression refers to an attribute that does not exist in the item"
		path     = "The document path provided in the update expression is invalid for update"
		overflow = "Number overflow: the magnitude is larger than the supported range"
	)
	tests := map[string]string{
		"SET x = y": missing, "SET x = y + :1": missing, "SET x = :1, z = x": missing, "SET x = list_append(y, :l)": missing, "SET x = m.absent": missing, "SET x = l[4]": missing,
		"SET x = s + :1": operand, "SET x = n - s": operand, "SET x = list_append(s, :l)": operand, "SET x = list_append(:l, m)": operand, "SET x = list_append(y, s)": operand,
		"SET x = if_not_exists(y, :s) + :1": operand,
		"ADD s :1":                          operand, "ADD ss :1": operand, "ADD ss :ns": operand, "ADD n :ss": operand, "ADD l :ss": operand, "DELETE ns :ss": operand, "DELETE s :ss": operand,
		"SET s.x = :1": path, "SET x.y = :1": path, "SET l.x = :1": path, "SET m[0] = :1": path, "SET x[0] = :1": path, "SET m.absent.x = :1": path, "SET l[9].x = :1": path,
		"REMOVE s.x": path, "REMOVE x.y": path, "REMOVE m[1]": path, "REMOVE x[0]": path, "ADD x.y :1": path, "DELETE s[0] :ss": path,
		"SET x.y = z": path, "SET x.y = :1, n = s + :1": path,
		"SET n = n + :huge": overflow, "ADD n :huge": overflow,
	}
	given := strings.TrimSuffix(updateValues, "}") + `,":huge":{"N":"1E120"}}`
	for src, want := range tests {
		u, problem := parseUpdate(t, src, given)
		if problem != "" {
			t.Errorf("%s: %s", src, problem)
			continue
		}
		got, _, err := u.Apply(decode(t, updateItem))
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, %v; want %s", src, got, err, want)
		}
		var rejected *values.Error
		var number *values.Error
		if !errors.As(err, &rejected) && !errors.As(err, &number) {
			t.Errorf("%s: %T", src, err)
		}
	}
}

func TestUpdateCreate(t *testing.T) {
	t.Parallel()
	key := decode(t, `{"pk":{"S":"k"}}`)
	for src, want := range map[string]string{
		"SET x = pk":                   `{"pk":{"S":"k"},"x":{"S":"k"}}`,
		"ADD n :1, ss :ss":             `{"pk":{"S":"k"},"n":{"N":"1"},"ss":{"SS":["b","c"]}}`,
		"SET n = if_not_exists(n, :1)": `{"pk":{"S":"k"},"n":{"N":"1"}}`,
	} {
		u, problem := parseUpdate(t, src, usedValues(src))
		if problem != "" {
			t.Fatal(problem)
		}
		got, _, err := u.Create(key)
		if err != nil || !got.Equal(decode(t, want)) {
			t.Errorf("%s: %v, %v", src, got, err)
		}
	}
	for _, src := range []string{"REMOVE x, x1.y, x2[0]", "DELETE ss :ss"} {
		u, problem := parseUpdate(t, src, usedValues(src))
		if problem != "" {
			t.Fatal(problem)
		}
		if got, touched, err := u.Create(key); got != nil || touched != nil || err != nil {
			t.Errorf("%s creates %v, %v, %v", src, got, touched, err)
		}
	}
	for _, src := range []string{"SET x.y = :1", "ADD x.y :1", "DELETE x[1] :ss", "SET x = y"} {
		u, problem := parseUpdate(t, src, usedValues(src))
		if problem != "" {
			t.Fatal(problem)
		}
		if got, _, err := u.Create(key); err == nil {
			t.Errorf("%s: %v", src, got)
		}
	}
}

func TestUpdateNesting(t *testing.T) {
	t.Parallel()
	deep := func(levels int) string {
		return strings.Repeat(`{"L":[`, levels-1) + `{"N":"1"}` + strings.Repeat(`]}`, levels-1)
	}
	for levels, ok := range map[int]bool{31: true, 32: false} {
		u, problem := parseUpdate(t, "SET m.x = :deep", `{":deep":`+deep(levels)+`}`)
		if problem != "" {
			t.Fatal(problem)
		}
		if _, _, err := u.Apply(decode(t, updateItem)); (err == nil) != ok {
			t.Errorf("%d levels inside a map: %v", levels, err)
		}
	}
}

// TestUpdateResultsAreIndependent checks that results share only unchanged parts with the old item.
func TestUpdateResultsAreIndependent(t *testing.T) {
	t.Parallel()
	old := decode(t, updateItem)
	var results []values.Item
	for _, src := range []string{"SET l[9] = :1, m.k = :1", "SET l[9] = :2, m.k = :2"} {
		u, problem := parseUpdate(t, src, updateValues)
		if problem != "" {
			t.Fatal(problem)
		}
		// The spare capacity of a list must not be shared.
		list, _ := old.Get("l")
		list.L = append(make([]values.Value, 0, 8), list.L...)[:4:8]
		old = old.Set("l", list)
		first, _, err := u.Apply(old)
		if err != nil {
			t.Fatal(err)
		}
		second, _, err := u.Apply(old)
		if err != nil || !second.Equal(first) {
			t.Fatal(err)
		}
		changed, _ := second.Get("l")
		changed.L[4] = values.Value{Kind: values.NULL}
		results = append(results, first)
	}
	for i, want := range []int64{1, 2} {
		list, _ := results[i].Get("l")
		document, _ := results[i].Get("m")
		if k, _ := document.M.Get("k"); !list.L[4].Equal(values.FromInt(want)) || !k.Equal(values.FromInt(want)) {
			t.Errorf("update %d became %v, %v", i, list.L, document.M)
		}
	}
}

func TestUpdatePaths(t *testing.T) {
	t.Parallel()
	given := scope(t, testNames, updateValues)
	u, err := expressions.ParseUpdate("REMOVE a1.b[2] SET #a = if_not_exists(x.y, :1) + z, l[9] = n", given)
	if err != nil {
		t.Fatal(err)
	}
	const targets, all = "[[a1, b, [2]] [a] [l, [9]]]", "[[a1, b, [2]] [a] [x, y] [z] [l, [9]] [n]]"
	if got, want := fmt.Sprint(u.Paths(), given.Paths()), targets+" "+all; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestUpdateTouched(t *testing.T) {
	t.Parallel()
	u, problem := parseUpdate(t, "SET m.k = :s, m.z = :1, l[9] = :2 REMOVE s, absent1, m.entries[0] ADD n :1 DELETE absent2 :ss", updateValues)
	if problem != "" {
		t.Fatal(problem)
	}
	old := decode(t, updateItem)
	updated, touched, err := u.Apply(old)
	if err != nil {
		t.Fatal(err)
	}
	wantOld := decode(t, `{"m":{"M":{"k":{"N":"1"},"entries":{"L":[{"M":{"a":{"S":"b"}}}]}}},"s":{"S":"text"},"n":{"N":"10"}}`)
	wantNew := decode(t, `{"m":{"M":{"k":{"S":"new"},"z":{"N":"1"},"entries":{"L":[{"S":"t"}]}}},"n":{"N":"11"}}`)
	if diff := cmp.Diff(wantOld, expressions.Project(old, touched)); diff != "" {
		t.Errorf("old: %s", diff)
	}
	if diff := cmp.Diff(wantNew, expressions.Project(updated, touched)); diff != "" {
		t.Errorf("new: %s", diff)
	}
}
