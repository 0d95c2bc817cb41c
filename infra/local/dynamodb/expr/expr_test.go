package expr_test

import (
	"errors"
	"testing"

	"devplatform/infra/local/dynamodb/attr"
	"devplatform/infra/local/dynamodb/expr"

	"github.com/go-json-experiment/json"
)

// values reads values as they travel.
func values(t testing.TB, text string) map[string]attr.Value {
	t.Helper()
	if text == "" {
		return nil
	}
	var v map[string]attr.Value
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func item(t testing.TB, text string) attr.Item {
	t.Helper()
	return values(t, text)
}

func scope(t testing.TB, names map[string]string, given string) *expr.Scope {
	t.Helper()
	s, err := expr.NewScope(names, values(t, given))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// refusal is the text of an *expr.Error, "" for nil.
func refusal(t testing.TB, err error) string {
	t.Helper()
	if err == nil {
		return ""
	}
	var refused *expr.Error
	if !errors.As(err, &refused) {
		t.Fatalf("%T: %v", err, err)
	}
	return refused.Message
}

func parseCondition(t testing.TB, src, given string) (*expr.Condition, string) {
	t.Helper()
	c, err := expr.ParseCondition("ConditionExpression", src, scope(t, testNames, given))
	return c, refusal(t, err)
}

var testNames = map[string]string{"#a": "a", "#size": "size", "#dots": "a.b"}

func TestScope(t *testing.T) {
	t.Parallel()
	long := make([]byte, 255)
	for i := range long {
		long[i] = 'x'
	}
	tests := map[string]struct {
		names  map[string]string
		values string
		want   string
	}{
		"nothing":       {},
		"no names":      {names: map[string]string{}, want: "ExpressionAttributeNames must not be empty"},
		"no values":     {values: `{}`, want: "ExpressionAttributeValues must not be empty"},
		"no sigil":      {names: map[string]string{"n": "x", "#ok": "y"}, want: `ExpressionAttributeNames contains invalid key: Syntax error; key: "n"`},
		"only sigil":    {names: map[string]string{"#": "x"}, want: `ExpressionAttributeNames contains invalid key: Syntax error; key: "#"`},
		"bad character": {values: `{":a-b":{"S":""}}`, want: `ExpressionAttributeValues contains invalid key: Syntax error; key: ":a-b"`},
		"wrong sigil":   {values: `{"#a":{"S":""}}`, want: `ExpressionAttributeValues contains invalid key: Syntax error; key: "#a"`},
		"too long":      {names: map[string]string{"#" + string(long): "x"}, want: "ExpressionAttributeNames contains invalid key: The expression attribute map contains a key that is too long; size of key: 256"},
		"empty name":    {names: map[string]string{"#a": ""}, want: "ExpressionAttributeNames contains invalid value: Empty attribute name for key #a"},
		"keys before contents": {
			values: `{":a":{},"b":{"S":""}}`,
			want:   `ExpressionAttributeValues contains invalid key: Syntax error; key: "b"`,
		},
		"invalid value": {
			values: `{":a":{"S":"x"},":b":{"SS":[]}}`,
			want:   "ExpressionAttributeValues contains invalid value: One or more parameter values were invalid: An string set  may not be empty for key :b",
		},
		"digits and underscores": {names: map[string]string{"#_1": "x"}, values: `{":0":{"S":"x"}}`},
	}
	for name, test := range tests {
		_, err := expr.NewScope(test.names, values(t, test.values))
		if got := refusal(t, err); got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, test.want)
		}
	}
}

func TestUnusedPlaceholders(t *testing.T) {
	t.Parallel()
	names := map[string]string{"#a": "a", "#b": "b"}
	s := scope(t, names, `{":x":{"N":"1"},":y":{"N":"2"},":z":{"N":"3"}}`)
	if _, err := expr.ParseCondition("FilterExpression", "#a = :x OR c.d > :x", s); err != nil {
		t.Fatal(err)
	}
	if got, want := refusal(t, s.CheckUnused()), "Value provided in ExpressionAttributeNames unused in expressions: keys: {#b}"; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if _, err := expr.ParseProjection("x.#b", s); err != nil {
		t.Fatal(err)
	}
	if got, want := refusal(t, s.CheckUnused()), "Value provided in ExpressionAttributeValues unused in expressions: keys: {:y, :z}"; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if _, err := expr.ParseUpdate("SET n = :y + :z", s); err != nil {
		t.Fatal(err)
	}
	if err := s.CheckUnused(); err != nil {
		t.Error(err)
	}
}
