package attr_test

import (
	"errors"
	"strings"
	"testing"

	"devplatform/infra/local/dynamodb/attr"

	"github.com/go-json-experiment/json"
)

func TestDecodeRefusals(t *testing.T) {
	t.Parallel()
	const (
		invalid = "One or more parameter values were invalid: "
		empty   = "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"
		many    = "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes"
		numeric = "The parameter cannot be converted to a numeric value"
		class   = "com.amazonaws.dynamodb.v20120810.AttributeValue"
	)
	validation := map[string]string{
		`{}`:                   empty,
		`null`:                 empty,
		`{"a":""}`:             empty,
		`{"S":null}`:           empty,
		`{"L":[{}]}`:           empty,
		`{"M":{"a":{}}}`:       empty,
		`{"S":"a","N":"1"}`:    many,
		`{"S":"a","N":""}`:     numeric + ": ",
		`{"S":"a","N":"b"}`:    numeric + ": b",
		`{"NS":["1",""]}`:      numeric + ": ",
		`{"NS":["1","b"]}`:     numeric + ": b",
		`{"NS":["1","1.0"]}`:   invalid + "Input collection contains duplicates.",
		`{"SS":[]}`:            invalid + "An string set  may not be empty",
		`{"NS":[]}`:            invalid + "An number set  may not be empty",
		`{"BS":[]}`:            invalid + "Binary sets should not be empty",
		`{"SS":["a","b","a"]}`: invalid + `Input collection ["a", "b", "a"] contains duplicates.`,
		`{"SS":["a","b","c","d","e","f","g","h","i","a"]}`: invalid + `Input collection ["a", "b", "c", "d", "e", "f", "g", "h", "i", "a"] contains duplicates.`,
		`{"BS":["Yg==","Yg=="]}`:                           invalid + `Input collection ["Yg==","Yg=="]of type BS contains duplicates.`,
		`{"NULL":false}`:                                   invalid + "Null attribute value types must have the value of true",
		`{"NULL":"no"}`:                                    invalid + "Null attribute value types must have the value of true",
		`{"M":{"":{"S":"x"}}}`:                             "Empty attribute name",
		`{"L":[{"S":"x"},{"M":{"a":{}}}]}`:                 empty,
	}
	for text, want := range validation {
		var v attr.Value
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		var refusal *attr.Error
		if err := v.Validate(); !errors.As(err, &refusal) || refusal.Message != want || refusal.Serialization {
			t.Errorf("%s: %v; want %s", text, err, want)
		}
	}
	serialization := map[string]string{
		`"x"`:                  "Unexpected value type in payload",
		`23`:                   "Unexpected value type in payload",
		`[]`:                   "Unrecognized collection type class " + class,
		`{"S":1}`:              "NUMBER_VALUE cannot be converted to String",
		`{"S":1.5}`:            "DECIMAL_VALUE cannot be converted to String",
		`{"N":true}`:           "TRUE_VALUE cannot be converted to String",
		`{"N":false}`:          "FALSE_VALUE cannot be converted to String",
		`{"S":[]}`:             "Unrecognized collection type class java.lang.String",
		`{"S":{}}`:             "Start of structure or map found where not expected",
		`{"BOOL":1}`:           "NUMBER_VALUE cannot be converted to Boolean",
		`{"BOOL":"23"}`:        "Unexpected token received from parser",
		`{"BOOL":[]}`:          "Unrecognized collection type class java.lang.Boolean",
		`{"B":1}`:              "only base-64-encoded strings are convertible to bytes",
		`{"B":[]}`:             "Unrecognized collection type class java.nio.ByteBuffer",
		`{"B":"23456"}`:        "Base64 encoded length is expected a multiple of 4 bytes but found: 5",
		`{"B":"=+/="}`:         "Invalid last non-pad Base64 character dectected",
		`{"B":"+/+="}`:         "Invalid last non-pad Base64 character dectected",
		`{"B":"AAA\n"}`:        "Invalid last non-pad Base64 character dectected",
		`{"B":"AAAA\r\n\r\n"}`: "Invalid last non-pad Base64 character dectected",
		`{"SS":"a"}`:           "Unexpected field type",
		`{"SS":{}}`:            "Start of structure or map found where not expected",
		`{"SS":[1]}`:           "NUMBER_VALUE cannot be converted to String",
		`{"L":[1]}`:            "Unexpected value type in payload",
		`{"L":{}}`:             "Start of structure or map found where not expected",
		`{"M":1}`:              "Unexpected field type",
		`{"M":[]}`:             "Unrecognized collection type java.util.Map<java.lang.String, " + class + ">",
		`{"M":{"a":1}}`:        "Unexpected value type in payload",
		`{"M":{"a":[]}}`:       "Unrecognized collection type class " + class,
	}
	for text, want := range serialization {
		var v attr.Value
		err := json.Unmarshal([]byte(text), &v)
		var refusal *attr.Error
		if !errors.As(err, &refusal) || refusal.Message != want || !refusal.Serialization {
			t.Errorf("%s: %v; want %s", text, err, want)
		}
	}
}

func TestDecodeRefusalsHaveOlderWords(t *testing.T) {
	t.Parallel()
	const invalid = "One or more parameter values were invalid: "
	for text, want := range map[string][2]string{
		`{"SS":["b","a","b","c"]}`:      {invalid + `Input collection ["a", "b", "b", "c"] contains duplicates.`, invalid + "Input collection [b, a, b, c] contains duplicates."},
		`{"BS":["/w==","AA==","AA=="]}`: {invalid + `Input collection ["AA==","/w==","AA=="]of type BS contains duplicates.`, invalid + "Input collection [/w==, AA==, AA==]of type BS contains duplicates."},
		`{"NS":["2","1","2"]}`:          {invalid + "Input collection contains duplicates.", "Input collection contains duplicates"},
		`{"L":[{"M":{"a":{"N":""}}}]}`:  {"The parameter cannot be converted to a numeric value: ", "The parameter cannot be converted to a numeric value"},
		`{"NS":["1e2147483647"]}`:       {"Number overflow. Attempting to store a number with magnitude larger than supported range", "Number underflow. Attempting to store a number with magnitude smaller than supported range"},
		`{"M":{"a":{"L":[{"SS":[]}]}}}`: {invalid + "An string set  may not be empty", invalid + "An string set  may not be empty"},
		`{"L":[{"N":"x"},{"NS":[""]}]}`: {"The parameter cannot be converted to a numeric value: x", "The parameter cannot be converted to a numeric value: x"},
	} {
		var v attr.Value
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		var refusal *attr.Error
		if err := v.Validate(); !errors.As(err, &refusal) || refusal.Message != want[0] || refusal.InOlderWords() != want[1] {
			t.Errorf("%s: %v, in older words %q; want %q", text, err, refusal.InOlderWords(), want)
		}
	}
}

func TestItemWithoutNameComesFirst(t *testing.T) {
	t.Parallel()
	var item attr.Item
	if err := json.Unmarshal([]byte(`{"a":{"N":"x"},"":{"S":"y"}}`), &item); err != nil {
		t.Fatal(err)
	}
	if err := item.Validate(); err == nil || err.Error() != "Empty attribute name" {
		t.Errorf("an item with a nameless attribute: %v", err)
	}
}

func TestDecodeNesting(t *testing.T) {
	t.Parallel()
	nested := func(levels int) string {
		return strings.Repeat(`{"L":[`, levels-1) + `{"S":"x"}` + strings.Repeat(`]}`, levels-1)
	}
	var item attr.Item
	if err := json.Unmarshal([]byte(`{"a":`+nested(32)+`}`), &item); err != nil || item.Validate() != nil {
		t.Fatalf("32 levels: %v, %v", err, item.Validate())
	}
	if depth := item["a"].Depth(); depth != 32 {
		t.Errorf("depth %d", depth)
	}
	if _, err := attr.DecodeStoredItem(attr.AppendItem(nil, item)); err != nil {
		t.Errorf("32 levels cannot be stored: %v", err)
	}
	if err := json.Unmarshal([]byte(`{"a":`+nested(33)+`}`), &item); err != nil {
		t.Fatal(err)
	}
	if err := item.Validate(); err == nil || !strings.HasPrefix(err.Error(), "Nesting Levels have exceeded supported limits") {
		t.Errorf("33 levels: %v", err)
	}
}

func TestDecodeAcceptsWhatAWSAccepts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]attr.Value{
		`{"S":""}`:                   attr.FromString(""),
		`{"B":""}`:                   attr.FromBytes([]byte{}),
		`{"S":"a","N":null}`:         attr.FromString("a"),
		`{"S":"a","Unknown":[{}]}`:   attr.FromString("a"),
		`{"BOOL":"true"}`:            attr.FromBool(true),
		`{"NULL":true}`:              attr.Null(),
		`{"M":{}}`:                   attr.FromMap(attr.Item{}),
		`{"L":[]}`:                   attr.FromList(nil),
		`{"S":"\u00e9\ud83d\ude00"}`: attr.FromString("é😀"),
	} {
		var v attr.Value
		if err := json.Unmarshal([]byte(text), &v); err != nil || v.Validate() != nil || !v.Equal(want) {
			t.Errorf("%s: %v, %v, %v", text, v, err, v.Validate())
		}
	}
}

func TestDecodeBrokenJSON(t *testing.T) {
	t.Parallel()
	for _, text := range []string{``, `{`, `{"S"`, `{"S":`, `{"S":"a"`, `{"SS":[`, `{"SS":["a"`, `{"L":[{`, `{"M":{"a":{`, `{"S":"a"}x`} {
		var v attr.Value
		if err := json.Unmarshal([]byte(text), &v); err == nil {
			t.Errorf("%q was accepted as %v", text, v)
		}
	}
}

var benchmarkItem = []byte(`{"pk":{"S":"USER#01J9Z3T7XK5V8W2R4N6M0Q1P3S"},"sk":{"S":"PROFILE"},"email":{"S":"someone@example.com"},
"username":{"S":"someone"},"createdAt":{"N":"1732147200123"},"version":{"N":"3"},"roles":{"SS":["owner","editor"]},
"verified":{"BOOL":true},"settings":{"M":{"theme":{"S":"dark"},"limits":{"L":[{"N":"1"},{"N":"2.5"}]}}},"secret":{"B":"AQIDBAUGBwgJCgsMDQ4PEA=="}}`)

func BenchmarkDecodeJSON(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		var item attr.Item
		if err := json.Unmarshal(benchmarkItem, &item); err != nil {
			b.Fatal(err)
		}
	}
}

func benchmarkValue(b *testing.B) attr.Item {
	b.Helper()
	var item attr.Item
	if err := json.Unmarshal(benchmarkItem, &item); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	return item
}

func BenchmarkEncodeJSON(b *testing.B) {
	item := benchmarkValue(b)
	var buffer []byte
	for b.Loop() {
		buffer = item.AppendJSON(buffer[:0])
	}
}

func BenchmarkStore(b *testing.B) {
	item := benchmarkValue(b)
	var buffer []byte
	for b.Loop() {
		buffer = attr.AppendItem(buffer[:0], item)
	}
}

func BenchmarkLoad(b *testing.B) {
	stored := attr.AppendItem(nil, benchmarkValue(b))
	for b.Loop() {
		if _, err := attr.DecodeStoredItem(stored); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSize(b *testing.B) {
	item := benchmarkValue(b)
	for b.Loop() {
		item.Size()
	}
}

func FuzzDecodeItem(f *testing.F) {
	f.Add(string(benchmarkItem))
	for _, seed := range []string{`{"a":{"L":[{"M":{"b":{"NS":["1","1e2"]}}}]}}`, `{"a":{"\u0053":"\ud83d\ude00"}}`, `{"a":{"B":"AA=="},"b":{"BS":[""]}}`, `{"a":{"S":1}}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var item attr.Item
		if err := json.Unmarshal([]byte(text), &item); err != nil || item.Validate() != nil {
			return
		}
		var again attr.Item
		if err := json.Unmarshal(item.AppendJSON(nil), &again); err != nil || !again.Equal(item) {
			t.Fatalf("%s is %v, then %v, %v", text, item, again, err)
		}
		stored, err := attr.DecodeStoredItem(attr.AppendItem(nil, item))
		if err != nil || !stored.Equal(item) || stored.Size() != item.Size() {
			t.Fatalf("%s is %v, stored %v, %v", text, item, stored, err)
		}
	})
}
