package db_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"devplatform/shared/db"
)

// compareAttributes makes cmp compare attribute values.
var compareAttributes = cmpopts.IgnoreUnexported(
	types.AttributeValueMemberS{}, types.AttributeValueMemberN{}, types.AttributeValueMemberB{},
	types.AttributeValueMemberBOOL{}, types.AttributeValueMemberNULL{}, types.AttributeValueMemberSS{},
	types.AttributeValueMemberNS{}, types.AttributeValueMemberBS{}, types.AttributeValueMemberL{},
	types.AttributeValueMemberM{})

func TestItemFromJSON(t *testing.T) {
	t.Parallel()
	got, err := db.ItemFromJSON([]byte(`{
		"s":{"S":""},"n":{"N":"-1.5"},"b":{"B":"AP8="},"yes":{"BOOL":true},"no":{"BOOL":false},"null":{"NULL":true},
		"ss":{"SS":["a","b"]},"ns":{"NS":["1"]},"bs":{"BS":["AQ=="]},
		"l":{"L":[{"S":"x"},{"L":[]}]},"m":{"M":{"in":{"M":{}}}},"#é \u0000":{"S":"\u0000\ud83d\ude00"}}`))
	if err != nil {
		t.Fatal(err)
	}
	emptyList := &types.AttributeValueMemberL{Value: []types.AttributeValue{}}
	want := db.Item{
		"s":       text(""),
		"n":       &types.AttributeValueMemberN{Value: "-1.5"},
		"b":       &types.AttributeValueMemberB{Value: []byte{0, 255}},
		"yes":     &types.AttributeValueMemberBOOL{Value: true},
		"no":      &types.AttributeValueMemberBOOL{},
		"null":    &types.AttributeValueMemberNULL{Value: true},
		"ss":      &types.AttributeValueMemberSS{Value: []string{"a", "b"}},
		"ns":      &types.AttributeValueMemberNS{Value: []string{"1"}},
		"bs":      &types.AttributeValueMemberBS{Value: [][]byte{{1}}},
		"l":       &types.AttributeValueMemberL{Value: []types.AttributeValue{text("x"), emptyList}},
		"m":       &types.AttributeValueMemberM{Value: db.Item{"in": &types.AttributeValueMemberM{Value: db.Item{}}}},
		"#é \x00": text("\x00😀"),
	}
	if diff := cmp.Diff(want, got, compareAttributes); diff != "" {
		t.Errorf("item (-want +got):\n%s", diff)
	}
}

func TestItemFromJSONErrorsDoNotContainValues(t *testing.T) {
	t.Parallel()
	for _, data := range []string{
		``,
		`null`,
		`[]`,
		`"hunter2"`,
		`{"a":"hunter2"}`,
		`{"a":{}}`,
		`{"a":null}`,
		`{"a":{"S":"hunter2","N":"1"}}`,
		`{"a":{"X":"hunter2"}}`,
		`{"a":{"s":"hunter2"}}`,
		`{"a":{"S":1}}`,
		`{"a":{"S":null}}`,
		`{"a":{"N":1}}`,
		`{"a":{"B":"hunter2!"}}`,
		`{"a":{"L":[{}]}}`,
		`{"a":{"L":[null]}}`,
		`{"a":{"M":{"b":{}}}}`,
		`{"a":{"M":null}}`,
		`{"a":{"S":"x"},"a":{"S":"hunter2"}}`,
		`{"a":{"S":"x"}} hunter2`,
	} {
		item, err := db.ItemFromJSON([]byte(data))
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: got item %v, error %v, want an error without the value", data, item, err)
		}
	}
}

// Nested attributes are decoded once, and not again for each level. This test is not parallel, because it measures the
// memory of the process.
func TestNestedItemIsCheap(t *testing.T) {
	const depth, maxAllocated = 2000, 16 << 20
	data := strings.Repeat(`{"a":{"M":`, depth) + `{"x":{"S":"` + strings.Repeat("x", 64<<10) + `"}}` +
		strings.Repeat("}}", depth)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := db.ItemFromJSON([]byte(data))
	runtime.ReadMemStats(&after)
	if allocated := after.TotalAlloc - before.TotalAlloc; err != nil || allocated > maxAllocated {
		t.Errorf("got error %v and %d allocated bytes for %d, want at most %d", err, allocated, len(data), maxAllocated)
	}
}

// FuzzItemFromJSON checks that ItemFromJSON returns either an error or an item whose attributes all have a value.
func FuzzItemFromJSON(f *testing.F) {
	f.Add([]byte(`{"s":{"S":"x"},"l":{"L":[{"M":{"b":{"BOOL":true}}}]}}`))
	f.Add([]byte(`{"n":{"NULL":false},"bs":{"BS":["AQ=="]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		item, err := db.ItemFromJSON(data)
		for name, value := range item {
			if value == nil {
				t.Errorf("the attribute %q has no value", name)
			}
		}
		if (item == nil) != (err != nil) {
			t.Errorf("got item %v and error %v, want one of them", item, err)
		}
	})
}

// An item whose ID is not the one in its key is damaged.
func TestDecodeByID(t *testing.T) {
	t.Parallel()
	decode := db.DecodeByID(func(r struct{ ID string }) string { return r.ID })
	long := strings.Repeat("x", 2000)
	for id, valid := range map[string]bool{"x1": true, "1": false, "": false, "x2": false, long: false} {
		text := func(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
		record, err := decode(db.Item{"pk": text("p"), "sk": text("ITEM#x1"), "ID": text(id)})
		if (err == nil) != valid || valid && record.ID != id {
			t.Errorf("ID %.10q: got %v, %v, want valid: %t", id, record, err, valid)
		}
	}
}

// DecodeAll omits the items that cannot be decoded.
func TestDecodeAll(t *testing.T) {
	t.Parallel()
	type counter struct{ N int }
	valid := db.Item{"N": &types.AttributeValueMemberN{Value: "1"}}
	wrongType := db.Item{"N": &types.AttributeValueMemberS{Value: "one"}}
	got := db.DecodeAll(t.Context(), []db.Item{valid, wrongType, nil, {}}, db.Decode[counter])
	if diff := cmp.Diff([]counter{{1}, {}, {}}, got); diff != "" {
		t.Errorf("counters (-want +got):\n%s", diff)
	}
}
