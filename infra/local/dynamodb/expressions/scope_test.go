package expressions_test

import (
	"errors"
	"testing"

	"github.com/go-json-experiment/json"

	"devplatform/infra/local/dynamodb/expressions"
	"devplatform/infra/local/dynamodb/values"
)

// decode decodes values in the wire format.
func decode(t testing.TB, text string) values.Item {
	t.Helper()
	if text == "" {
		return nil
	}
	var v values.Item
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func scope(t testing.TB, names map[string]string, given string) *expressions.Scope {
	t.Helper()
	s, err := expressions.NewScope(names, decode(t, given))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// message returns the message of a *values.Error, or "" for nil.
func message(t testing.TB, err error) string {
	t.Helper()
	if err == nil {
		return ""
	}
	var rejected *values.Error
	if !errors.As(err, &rejected) {
		t.Fatalf("%T: %v", err, err)
	}
	return rejected.Message
}

func parseCondition(t testing.TB, src, given string) (*expressions.Condition, string) {
	t.Helper()
	c, err := expressions.ParseCondition("ConditionExpression", src, scope(t, testNames, given))
	return c, message(t, err)
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
		"nothing":                {},
		"no names":               {names: map[string]string{}, want: "ExpressionAttributeNames must not be empty"},
		"no values":              {values: `{}`, want: "ExpressionAttributeValues must not be empty"},
		"no sigil":               {names: map[string]string{"n": "x", "#ok": "y"}, want: `ExpressionAttributeNames contains invalid key: Syntax error; key: "n"`},
		"only sigil":             {names: map[string]string{"#": "x"}, want: `ExpressionAttributeNames contains invalid key: Syntax error; key: "#"`},
		"bad character":          {values: `{":a-b":{"S":""}}`, want: `ExpressionAttributeValues contains invalid key: Syntax error; key: ":a-b"`},
		"wrong sigil":            {values: `{"#a":{"S":""}}`, want: `ExpressionAttributeValues contains invalid key: Syntax error; key: "#a"`},
		"too long":               {names: map[string]string{"#" + string(long): "x"}, want: `ExpressionAttributeNames contains invalid key: Syntax error; key: "#` + string(long) + `"`},
		"empty name":             {names: map[string]string{"#a": ""}, want: "ExpressionAttributeNames contains invalid value: Empty attribute name for key #a"},
		"digits and underscores": {names: map[string]string{"#_1": "x"}, values: `{":0":{"S":"x"}}`},
	}
	for name, test := range tests {
		_, err := expressions.NewScope(test.names, decode(t, test.values))
		if got := message(t, err); got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, test.want)
		}
	}
}

func TestUnusedPlaceholders(t *testing.T) {
	t.Parallel()
	names := map[string]string{"#a": "a", "#b": "b"}
	s := scope(t, names, `{":x":{"N":"1"},":y":{"N":"2"},":z":{"N":"3"}}`)
	if _, err := expressions.ParseCondition("FilterExpression", "#a = :x OR c.d > :x", s); err != nil {
		t.Fatal(err)
	}
	if got, want := message(t, s.CheckUnused()), "Value provided in ExpressionAttributeNames unused in expressions: keys: {#b}"; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if _, err := expressions.ParseProjection("x.#b", s); err != nil {
		t.Fatal(err)
	}
	if got, want := message(t, s.CheckUnused()), "Value provided in ExpressionAttributeValues unused in expressions: keys: {:y, :z}"; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if _, err := expressions.ParseUpdate("SET n = :y + :z", s); err != nil {
		t.Fatal(err)
	}
	if err := s.CheckUnused(); err != nil {
		t.Error(err)
	}
}
