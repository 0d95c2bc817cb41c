package pattern_test

import (
	"encoding/json"
	"strings"
	"testing"

	"devplatform/infra/local/triggers/pattern"
)

func decode(t testing.TB, text string) map[string]any {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var event map[string]any
	if err := decoder.Decode(&event); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return event
}

// event is a record as filters see it, with additional members.
const event = `{
	"eventName": "INSERT", "awsRegion": "eu-central-1", "empty": "", "nothing": null, "yes": true, "no": false, "none": [],
	"dynamodb": {
		"Keys": {"pk": {"S": "PROJECT#1"}},
		"NewImage": {"type": {"S": "file.updated"}, "size": {"N": "5"}, "tags": {"SS": ["a", "b"]}, "flag": {"BOOL": true}, "gone": {"NULL": true},
			"people": {"L": [{"M": {"first": {"S": "Anna"}, "last": {"S": "Smith"}}}, {"M": {"first": {"S": "Bob"}, "last": {"S": "Jones"}}}]}},
		"SizeBytes": 59, "ApproximateCreationDateTime": 1700000000.5
	},
	"list": [1, "x", [2, ["deep"]]], "rows": [{"a": 1, "b": 2}, {"a": 3}], "big": 6000000000, "account": 123456789012
}`

func TestMatch(t *testing.T) {
	t.Parallel()
	e := decode(t, event)
	for _, tc := range []struct {
		pattern string
		want    bool
	}{
		{`{"eventName": ["INSERT"]}`, true},
		{`{"eventName": ["MODIFY", "INSERT"]}`, true},
		{`{"eventName": ["insert"]}`, false},
		{`{"eventName": ["INSERT"], "awsRegion": ["us-east-1"]}`, false},
		{`{"eventName": ["INSERT"], "dynamodb": {"NewImage": {"type": {"S": ["project.deleted", "file.updated"]}}}}`, true},
		{`{"dynamodb": {"NewImage": {"type": ["file.updated"]}}}`, false}, // not at a leaf
		{`{"eventName": {"S": ["INSERT"]}}`, false},
		{`{"userIdentity": {"type": ["Service"], "principalId": ["dynamodb.amazonaws.com"]}}`, false},

		{`{"empty": [""]}`, true},
		{`{"eventName": [""]}`, false},
		{`{"nothing": [null]}`, true},
		{`{"empty": [null]}`, false},
		{`{"absent": [null]}`, false},
		{`{"yes": [true], "no": [false]}`, true},
		{`{"yes": [false]}`, false},
		{`{"yes": ["true"]}`, false},

		{`{"dynamodb": {"SizeBytes": [59]}}`, true},
		{`{"dynamodb": {"SizeBytes": [59.0]}}`, false},
		{`{"dynamodb": {"SizeBytes": ["59"]}}`, false},
		{`{"account": [123456789012]}`, true},
		{`{"dynamodb": {"NewImage": {"size": {"N": ["5"]}}}}`, true},

		{`{"eventName": [{"exists": true}]}`, true},
		{`{"eventName": [{"exists": false}]}`, false},
		{`{"absent": [{"exists": true}]}`, false},
		{`{"absent": [{"exists": false}]}`, true},
		{`{"absent": {"a": {"b": [{"exists": false}]}}}`, true},
		{`{"absent": {"a": {"b": [{"exists": false}], "c": ["x"]}}}`, false},
		{`{"dynamodb": [{"exists": true}]}`, false}, // no leaf
		{`{"dynamodb": [{"exists": false}]}`, true},
		{`{"nothing": [{"exists": true}]}`, true},
		{`{"none": [{"exists": false}]}`, true},
		{`{"absent": ["x", {"exists": false}]}`, true},
		{`{"eventName": ["INSERT", {"exists": false}]}`, true},
		{`{"dynamodb": {"OldImage": {"type": {"S": [{"exists": false}]}}, "NewImage": {"type": {"S": [{"exists": true}]}}}}`, true},

		{`{"dynamodb": {"NewImage": {"tags": {"SS": ["c", "b"]}}}}`, true},
		{`{"dynamodb": {"NewImage": {"tags": {"SS": ["c"]}}}}`, false},
		{`{"list": [1]}`, true},
		{`{"list": [3]}`, false},
	} {
		p, err := pattern.Parse(tc.pattern)
		if err != nil {
			t.Errorf("%s: %v", tc.pattern, err)
			continue
		}
		if got := p.Match(e); got != tc.want {
			t.Errorf("%s: %v, want %v", tc.pattern, got, tc.want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	const operator = "is not supported by the local platform"
	for _, tc := range []struct{ pattern, want string }{
		{``, "not JSON"},
		{`{`, "not JSON"},
		{`[]`, "it must be an object"},
		{`{}`, "empty objects are not allowed"},
		{`{"a": {}}`, ".a: empty objects"},
		{`{"a": []}`, ".a: empty arrays"},
		{`{"a": "x"}`, ".a: it must be an object or an array"},
		{`{"a": {"b": 1}}`, ".a.b: it must be an object or an array"},
		{`{"a": [[1]]}`, ".a: a string, a number"},
		{`{"a": [1]} {"b": [2]}`, "more after"},
		{`{"a": [{}]}`, ".a: [] " + operator},
		{`{"a": [{"prefix": "x"}]}`, ".a: [prefix] " + operator},
		{`{"a": {"b": [{"anything-but": ["x"]}]}}`, ".a.b: [anything-but] " + operator},
		{`{"a": [{"exists": "true"}]}`, ".a: [exists] " + operator},
		{`{"a": [{"exists": true, "prefix": "x"}]}`, ".a: [exists prefix] " + operator},
		{`{"a": [{"exists": true}, {"exists": false}]}`, ".a: [exists] " + operator},
		{`{"$or": [{"a": [1]}, {"b": [1]}]}`, ".$or: [a] " + operator},
	} {
		_, err := pattern.Parse(tc.pattern)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", tc.pattern, err, tc.want)
		}
	}
}

// FuzzParse checks that Parse returns a pattern or an error, and that Match does not panic.
func FuzzParse(f *testing.F) {
	f.Add(`{"a": [1, "x", null, true, {"exists": true}]}`)
	f.Add(`{"dynamodb": {"SizeBytes": [{"exists": false}], "NewImage": {"tags": {"SS": ["a"]}}}}`)
	e := decode(f, event)
	f.Fuzz(func(_ *testing.T, text string) {
		if p, err := pattern.Parse(text); err == nil {
			p.Match(e)
		}
	})
}
