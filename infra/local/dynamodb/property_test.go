package dynamodb

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestModel compares a table, its sparse index and its counters with a map after random writes.
func TestModel(t *testing.T) {
	t.Parallel()
	db := openTest(t, nil)
	round := 0
	rapid.Check(t, func(rt *rapid.T) {
		round++
		name := fmt.Sprintf("table-%d", round)
		must(t, db, "CreateTable", strings.Replace(indexedTable, `"indexed"`, `"`+name+`"`, 1))
		model := map[string]string{} // pk → g, or "" without g
		for range rapid.IntRange(0, 30).Draw(rt, "steps") {
			pk := rapid.SampledFrom([]string{"1", "2", "3", "4"}).Draw(rt, "pk")
			g := rapid.SampledFrom([]string{"", "x", "y"}).Draw(rt, "g")
			step(t, db, name, rapid.IntRange(0, 4).Draw(rt, "operation"), pk, g, model)
		}
		compare(rt, t, db, name, model)
		must(t, db, "DeleteTable", `{"TableName":"`+name+`"}`)
	})
}

func step(t *testing.T, db *DB, name string, operation int, pk, g string, model map[string]string) {
	t.Helper()
	key := `{"pk":{"S":"` + pk + `"},"sk":{"S":"s"}}`
	item := strings.Replace(key, "}}", `},"g":{"S":"`+g+`"}}`, 1)
	if g == "" {
		item = key
	}
	switch operation {
	case 0:
		must(t, db, "PutItem", `{"TableName":"`+name+`","Item":`+item+`}`)
	case 1:
		must(t, db, "BatchWriteItem", `{"RequestItems":{"`+name+`":[{"PutRequest":{"Item":`+item+`}}]}}`)
	case 2:
		must(t, db, "TransactWriteItems", `{"TransactItems":[{"Put":{"TableName":"`+name+`","Item":`+item+`}}]}`)
	case 3:
		must(t, db, "DeleteItem", `{"TableName":"`+name+`","Key":`+key+`}`)
		delete(model, pk)
		return
	default:
		change := `"UpdateExpression":"REMOVE g"`
		if g != "" {
			change = `"UpdateExpression":"SET g = :g","ExpressionAttributeValues":{":g":{"S":"` + g + `"}}`
		}
		must(t, db, "UpdateItem", `{"TableName":"`+name+`","Key":`+key+`,`+change+`}`)
		if _, exists := model[pk]; !exists && g == "" {
			return // an update that only removes creates no item
		}
	}
	model[pk] = g
}

func compare(rt *rapid.T, t *testing.T, db *DB, name string, model map[string]string) {
	t.Helper()
	var all, indexed []string
	for _, pk := range slices.Sorted(maps.Keys(model)) {
		all = append(all, pk+model[pk])
		if model[pk] != "" {
			indexed = append(indexed, pk+model[pk])
		}
	}
	for index, want := range map[string][]string{"": all, `,"IndexName":"keys"`: indexed} {
		page := must(t, db, "Scan", `{"TableName":"`+name+`"`+index+`}`)
		var got []string
		for _, item := range page.body["Items"].([]any) {
			attributes := item.(map[string]any)
			text := attributes["pk"].(map[string]any)["S"].(string)
			if g, ok := attributes["g"].(map[string]any); ok {
				text += g["S"].(string)
			}
			got = append(got, text)
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			rt.Fatalf("%s: got %v, want %v", index, got, want)
		}
	}
}
