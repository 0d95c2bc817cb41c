package pattern_test

import (
	"encoding/json"
	"strings"
	"testing"

	"devplatform/infra/local/triggers/pattern"
)

func decode(t testing.TB, text string) any {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var event any
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
		{`{"dynamodb": {"SizeBytes": [{"numeric": ["=", 59.0]}]}}`, true},
		{`{"dynamodb": {"SizeBytes": [{"numeric": ["=", 5.9e1]}]}}`, true},
		{`{"dynamodb": {"SizeBytes": [{"numeric": [">", 58, "<=", 59]}]}}`, true},
		{`{"dynamodb": {"SizeBytes": [{"numeric": [">=", 59, "<", 60]}]}}`, true},
		{`{"dynamodb": {"SizeBytes": [{"numeric": [">", 59]}]}}`, false},
		{`{"dynamodb": {"SizeBytes": [{"numeric": ["<", 59]}]}}`, false},
		{`{"dynamodb": {"ApproximateCreationDateTime": [{"numeric": ["=", 1700000000.500]}]}}`, true},
		{`{"dynamodb": {"NewImage": {"size": {"N": [{"numeric": ["=", 5]}]}}}}`, false}, // a string in DynamoDB's JSON
		{`{"dynamodb": {"NewImage": {"size": {"N": ["5"]}}}}`, true},
		{`{"big": [{"numeric": [">", 0]}]}`, false}, // larger than maxNumber
		{`{"eventName": [{"numeric": [">", 0]}]}`, false},

		{`{"eventName": [{"prefix": "INS"}]}`, true},
		{`{"eventName": [{"prefix": "ins"}]}`, false},
		{`{"eventName": [{"prefix": {"equals-ignore-case": "ins"}}]}`, true},
		{`{"eventName": [{"prefix": {"equals-ignore-case": "inserted"}}]}`, false},
		{`{"eventName": [{"suffix": "ERT"}]}`, true},
		{`{"eventName": [{"suffix": "INS"}]}`, false},
		{`{"eventName": [{"suffix": {"equals-ignore-case": "ert"}}]}`, true},
		{`{"eventName": [{"suffix": {"equals-ignore-case": "an insert"}}]}`, false},
		{`{"eventName": [{"equals-ignore-case": "insert"}]}`, true},
		{`{"eventName": [{"equals-ignore-case": "inser"}]}`, false},
		{`{"yes": [{"prefix": ""}]}`, false}, // not a string
		{`{"empty": [{"prefix": ""}]}`, true},
		{`{"eventName": [{"prefix": "x"}, {"suffix": "T"}]}`, true},

		{`{"eventName": [{"anything-but": "REMOVE"}]}`, true},
		{`{"eventName": [{"anything-but": "INSERT"}]}`, false},
		{`{"eventName": [{"anything-but": ["INSERT", "MODIFY"]}]}`, false},
		{`{"eventName": [{"anything-but": ["REMOVE", "MODIFY"]}]}`, true},
		{`{"dynamodb": {"SizeBytes": [{"anything-but": [58, 60]}]}}`, true},
		{`{"dynamodb": {"SizeBytes": [{"anything-but": 59}]}}`, false},
		{`{"dynamodb": {"SizeBytes": [{"anything-but": "59"}]}}`, true},
		{`{"eventName": [{"anything-but": {"prefix": "INS"}}]}`, false},
		{`{"eventName": [{"anything-but": {"prefix": ["MOD", "REM"]}}]}`, true},
		{`{"eventName": [{"anything-but": {"suffix": "T"}}]}`, false},
		{`{"eventName": [{"anything-but": {"suffix": ["X", "Y"]}}]}`, true},
		{`{"eventName": [{"anything-but": {"equals-ignore-case": ["insert"]}}]}`, false},
		{`{"absent": [{"anything-but": "x"}]}`, false},
		{`{"nothing": [{"anything-but": "x"}]}`, true},
		{`{"dynamodb": {"NewImage": {"tags": {"SS": [{"anything-but": "a"}]}}}}`, true}, // b is another

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
		{`{"list": [2]}`, true},
		{`{"list": ["deep"]}`, true},
		{`{"list": [3]}`, false},
		{`{"rows": {"a": [3]}}`, true},
		{`{"rows": {"a": [1], "b": [2]}}`, true},
		{`{"rows": {"a": [3], "b": [2]}}`, false}, // not in one element
		{`{"rows": {"b": [{"exists": false}]}}`, false},
		{`{"rows": {"c": [{"exists": false}], "a": [3]}}`, true},
		{`{"dynamodb": {"NewImage": {"people": {"L": {"M": {"first": {"S": ["Bob"]}, "last": {"S": ["Jones"]}}}}}}}`, true},
		{`{"dynamodb": {"NewImage": {"people": {"L": {"M": {"first": {"S": ["Anna"]}, "last": {"S": ["Jones"]}}}}}}}`, false},

		{`{"$or": [{"eventName": ["REMOVE"]}, {"awsRegion": [{"prefix": "eu-"}]}]}`, true},
		{`{"$or": [{"eventName": ["REMOVE"]}, {"awsRegion": ["us-east-1"]}]}`, false},
		{`{"eventName": ["INSERT"], "$or": [{"empty": ["x"]}, {"no": [true]}]}`, false},
		{`{"dynamodb": {"$or": [{"SizeBytes": [1]}, {"NewImage": {"flag": {"BOOL": [true]}, "gone": {"NULL": [true]}}}]}}`, true},
		{`{"$or": [{"$or": [{"absent": [1]}, {"yes": [true]}], "no": [false]}, {"absent": [2]}]}`, true},
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

func TestMatchWithoutAnObject(t *testing.T) {
	t.Parallel()
	p, err := pattern.Parse(`{"a": [1]}`)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{`null`, `"a"`, `[{"a": 1}]`, `{}`} {
		if p.Match(decode(t, text)) {
			t.Errorf("%s matches", text)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ pattern, want string }{
		{``, "not JSON"},
		{`{`, "not JSON"},
		{`[]`, "it must be an object"},
		{`"x"`, "it must be an object"},
		{`{}`, "empty objects are not allowed"},
		{`{"a": {}}`, "a: empty objects"},
		{`{"a": []}`, "a: empty arrays"},
		{`{"a": "x"}`, "a: it must be an object or an array"},
		{`{"a": {"b": 1}}`, "a.b: it must be an object or an array"},
		{`{"a": [[1]]}`, "a: a string, a number"},
		{`{"a": [1], "a": [2]}`, "duplicate"},
		{`{"a": [1]} {"b": [2]}`, "more after"},
		{`{"a": [01]}`, "not JSON"},
		{`{"a": [{}]}`, "a: an operator is missing"},
		{`{"a": [{"like": "x"}]}`, `a: unknown operator "like"`},
		{`{"a": [{"wildcard": "x*"}]}`, `unknown operator "wildcard"`},
		{`{"a": [{"cidr": "10.0.0.0/8"}]}`, `unknown operator "cidr"`},
		{`{"a": [{"prefix": "x", "suffix": "y"}]}`, "only one operator"},
		{`{"a": [{"prefix": 1}]}`, "a.prefix: it must be a string"},
		{`{"a": [{"prefix": ["x"]}]}`, "a.prefix: it must be a string"},
		{`{"a": [{"prefix": {"suffix": "x"}}]}`, `unknown operator "suffix"`},
		{`{"a": [{"suffix": null}]}`, "a.suffix: it must be a string"},
		{`{"a": [{"equals-ignore-case": ["x"]}]}`, "it must be a string"},
		{`{"a": [{"exists": "true"}]}`, "a.exists: it must be true or false"},
		{`{"a": [{"exists": {}}]}`, "a.exists: it must be true or false"},
		{`{"a": [{"numeric": 5}]}`, "a.numeric: it must be an array"},
		{`{"a": [{"numeric": []}]}`, "an array that is not empty"},
		{`{"a": [{"numeric": ["!=", 5]}]}`, "!= is not one of its operators"},
		{`{"a": [{"numeric": [5]}]}`, "5 is not one of its operators"},
		{`{"a": [{"numeric": ["="]}]}`, "= has no number"},
		{`{"a": [{"numeric": ["=", "5"]}]}`, "must be followed by a number"},
		{`{"a": [{"numeric": ["=", 5000000001]}]}`, "not between"},
		{`{"a": [{"numeric": ["<", 5, ">", 0]}]}`, "a lower bound followed by an upper"},
		{`{"a": [{"numeric": [">", 5, "<", 5]}]}`, "less than the upper"},
		{`{"a": [{"numeric": [">", 0, "<", 5, "<", 6]}]}`, "a lower bound followed by an upper"},
		{`{"a": [{"anything-but": []}]}`, "a.anything-but: empty arrays"},
		{`{"a": [{"anything-but": null}]}`, "strings or numbers"},
		{`{"a": [{"anything-but": [true]}]}`, "strings or numbers"},
		{`{"a": [{"anything-but": ["x", 1]}]}`, "all strings or all numbers"},
		{`{"a": [{"anything-but": {"prefix": ""}}]}`, "not empty"},
		{`{"a": [{"anything-but": {"prefix": 5}}]}`, "must be strings"},
		{`{"a": [{"anything-but": {"numeric": ["=", 5]}}]}`, `unknown operator "numeric"`},
		{`{"$or": {"a": [1]}}`, "$or: it must be an array"},
		{`{"$or": [{"a": [1]}]}`, "at least two"},
		{`{"$or": [1, 2]}`, "only objects"},
		{`{"$or": [{"a": [1]}, {"prefix": ["x"]}]}`, "can't be a field inside of $or"},
		{`{"a": ["` + strings.Repeat("x", pattern.MaxLength) + `"]}`, "the limit is 4096"},
	} {
		_, err := pattern.Parse(tc.pattern)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%.80s: %v, want %q", tc.pattern, err, tc.want)
		}
	}
}
