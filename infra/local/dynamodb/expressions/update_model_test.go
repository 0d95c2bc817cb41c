package expressions_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"devplatform/infra/local/dynamodb/expressions"
	"devplatform/infra/local/dynamodb/values"
)

// TestUpdateListAgainstModel compares replacements, removals and appends by index with a map of the old positions.
func TestUpdateListAgainstModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(0, 6).Draw(t, "size")
		old := make([]values.Value, size)
		model := map[int]int64{}
		for i := range old {
			old[i], model[i] = values.FromInt(int64(i)), int64(i)
		}
		indexes := rapid.SliceOfNDistinct(rapid.IntRange(0, 9), 1, 6, rapid.ID[int]).Draw(t, "indexes")
		var sets, removes []string
		var given values.Item
		for _, i := range indexes {
			if rapid.Bool().Draw(t, "remove") {
				removes = append(removes, fmt.Sprintf("l[%d]", i))
				delete(model, i)
				continue
			}
			placeholder := fmt.Sprintf(":v%d", i)
			sets = append(sets, fmt.Sprintf("l[%d] = %s", i, placeholder))
			given = given.Set(placeholder, values.FromInt(int64(100+i)))
			model[i] = int64(100 + i)
		}
		src := ""
		if len(sets) > 0 {
			src = "SET " + strings.Join(sets, ", ")
		}
		if len(removes) > 0 {
			src += " REMOVE " + strings.Join(removes, ", ")
		}
		s, err := expressions.NewScope(nil, given)
		if err != nil {
			t.Fatal(err)
		}
		u, err := expressions.ParseUpdate(src, s)
		if err != nil {
			t.Fatal(err)
		}
		updated, _, err := u.Apply(values.Item{{Name: "l", Value: values.FromList(old)}})
		if err != nil {
			t.Fatal(err)
		}
		var want []values.Value
		for _, i := range slices.Sorted(maps.Keys(model)) {
			want = append(want, values.FromInt(model[i]))
		}
		if got, _ := updated.Get("l"); !got.Equal(values.FromList(want)) {
			t.Fatalf("%s on %d elements: %v, want %v", src, size, got.L, want)
		}
	})
}

func BenchmarkUpdate(b *testing.B) {
	given := decode(b, `{":one":{"N":"1"},":now":{"N":"1732147200"},":m":{"S":"x"}}`)
	names := map[string]string{"#c": "count"}
	old := decode(b, `{"pk":{"S":"USER#1"},"count":{"N":"41"},"m":{"M":{"k":{"S":"v"}}},"email":{"S":"someone@example.com"}}`)
	b.ReportAllocs()
	for b.Loop() {
		s, err := expressions.NewScope(names, given)
		if err != nil {
			b.Fatal(err)
		}
		u, err := expressions.ParseUpdate("SET #c = if_not_exists(#c, :one) + :one, updatedAt = :now, m.k = :m", s)
		if err != nil || s.CheckUnused() != nil {
			b.Fatal(err)
		}
		if _, _, err := u.Apply(old); err != nil {
			b.Fatal(err)
		}
	}
}
