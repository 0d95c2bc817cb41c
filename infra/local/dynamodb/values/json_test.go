package values_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"devplatform/infra/local/dynamodb/values"
)

func TestDecodeErrors(t *testing.T) {
	t.Parallel()
	nested := func(levels int) string {
		return strings.Repeat(`{"L":[`, levels-1) + `{"S":"x"}` + strings.Repeat(`]}`, levels-1)
	}
	for serialization, texts := range map[bool][]string{
		false: {
			`{}`, `null`, `{"a":""}`, `{"S":null}`, `{"L":[{}]}`, `{"M":{"a":{}}}`, `{"L":[{"S":"x"},{"M":{"a":{}}}]}`, `{"M":{"":{"S":"x"}}}`,
			`{"S":"a","N":"1"}`, `{"N":""}`, `{"N":"b"}`, `{"NS":["1",""]}`, `{"NS":["1","b"]}`, `{"NULL":false}`,
			`{"SS":[]}`, `{"NS":[]}`, `{"BS":[]}`, `{"NS":["1","1.0"]}`, `{"SS":["a","b","a"]}`, `{"BS":["Yg==","Yg=="]}`,
			`{"SS":["a","b","c","d","e","f","g","h","i","a"]}`, nested(33),
		},
		true: {
			`"x"`, `23`, `[]`, `{"S":1}`, `{"N":true}`, `{"S":[]}`, `{"S":{}}`, `{"BOOL":1}`, `{"BOOL":"true"}`, `{"BOOL":[]}`,
			`{"B":1}`, `{"B":[]}`, `{"B":"23456"}`, `{"B":"=+/="}`, `{"B":"+/+="}`, `{"SS":"a"}`, `{"SS":{}}`, `{"SS":[1]}`, `{"L":[1]}`,
			`{"L":{}}`, `{"M":1}`, `{"M":[]}`, `{"M":{"a":1}}`, `{"M":{"a":[]}}`,
		},
	} {
		for _, text := range texts {
			var v values.Value
			err := json.Unmarshal([]byte(text), &v)
			var rejected *values.Error
			if !errors.As(err, &rejected) || rejected.Message == "" || rejected.Serialization != serialization {
				t.Errorf("%s: got %v, want an error with Serialization %t", text, err, serialization)
			}
		}
	}
	var v values.Value
	if err := json.Unmarshal([]byte(nested(32)), &v); err != nil || v.Depth() != 32 {
		t.Fatalf("32 levels: %v, depth %d", err, v.Depth())
	}
	if _, err := values.DecodeStoredItem(values.AppendItem(nil, values.Item{{Name: "a", Value: v}})); err != nil {
		t.Errorf("32 levels cannot be stored: %v", err)
	}
}

func TestDecode(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]values.Value{
		`{"S":""}`:                   {Kind: values.S, S: ""},
		`{"B":""}`:                   {Kind: values.B, S: ""},
		`{"S":"a","N":null}`:         {Kind: values.S, S: "a"},
		`{"S":"a","Unknown":[{}]}`:   {Kind: values.S, S: "a"},
		`{"NULL":true}`:              {Kind: values.NULL},
		`{"M":{}}`:                   values.FromMap(values.Item{}),
		`{"L":[]}`:                   values.FromList(nil),
		`{"S":"\u00e9\ud83d\ude00"}`: {Kind: values.S, S: "é😀"},
	} {
		var v values.Value
		if err := json.Unmarshal([]byte(text), &v); err != nil || !v.Equal(want) {
			t.Errorf("%s: %v, %v", text, v, err)
		}
	}
}

func TestDecodeBrokenJSON(t *testing.T) {
	t.Parallel()
	for _, text := range []string{``, `{`, `{"S"`, `{"S":`, `{"S":"a"`, `{"SS":[`, `{"SS":["a"`, `{"L":[{`, `{"M":{"a":{`, `{"S":"a"}x`} {
		var v values.Value
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
		var item values.Item
		if err := json.Unmarshal(benchmarkItem, &item); err != nil {
			b.Fatal(err)
		}
	}
}

func benchmarkValue(b *testing.B) values.Item {
	b.Helper()
	var item values.Item
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
		buffer = values.AppendItem(buffer[:0], item)
	}
}

func BenchmarkLoad(b *testing.B) {
	stored := values.AppendItem(nil, benchmarkValue(b))
	for b.Loop() {
		if _, err := values.DecodeStoredItem(stored); err != nil {
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
		var item values.Item
		if err := json.Unmarshal([]byte(text), &item); err != nil {
			return
		}
		var again values.Item
		if err := json.Unmarshal(item.AppendJSON(nil), &again); err != nil || !again.Equal(item) {
			t.Fatalf("%s is %v, then %v, %v", text, item, again, err)
		}
		stored, err := values.DecodeStoredItem(values.AppendItem(nil, item))
		if err != nil || !stored.Equal(item) || stored.Size() != item.Size() {
			t.Fatalf("%s is %v, stored %v, %v", text, item, stored, err)
		}
	})
}
