package expressions_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/dynamodb/expressions"
	"devplatform/infra/local/dynamodb/values"
)

func TestKeyConditionTerms(t *testing.T) {
	t.Parallel()
	given := `{":p":{"S":"part"},":5":{"N":"5"},":9":{"N":"9"}}`
	number := func(i int64) values.Value { return values.FromInt(i) }
	for src, want := range map[string]*expressions.KeyTerm{
		"pk = :p":                          nil,
		":p = pk":                          nil,
		"(pk = :p)":                        nil,
		"pk = :p AND sk = :5":              {Name: "sk", Op: expressions.Equal, A: number(5)},
		"sk < :5 and pk = :p":              {Name: "sk", Op: expressions.Less, A: number(5)},
		"(pk = :p) AND (sk >= :5)":         {Name: "sk", Op: expressions.GreaterEqual, A: number(5)},
		"(pk = :p AND (:5 <= sk))":         {Name: "sk", Op: expressions.GreaterEqual, A: number(5)},
		"pk = :p AND :5 > sk":              {Name: "sk", Op: expressions.Less, A: number(5)},
		"pk = :p AND sk BETWEEN :5 AND :9": {Name: "sk", Op: expressions.Between, A: number(5), B: number(9)},
		"begins_with(sk, :p) AND pk = :p":  {Name: "sk", Op: expressions.BeginsWith, A: values.Value{Kind: values.S, S: "part"}},
	} {
		k, err := expressions.ParseKeyCondition(src, scope(t, nil, given))
		if err != nil {
			t.Errorf("%s: %v", src, err)
			continue
		}
		hash, term, err := k.Resolve("pk", "sk")
		if err != nil || !hash.Equal(values.Value{Kind: values.S, S: "part"}) {
			t.Errorf("%s: %v, %v", src, hash, err)
		}
		if diff := cmp.Diff(want, term); diff != "" {
			t.Errorf("%s: %s", src, diff)
		}
	}
}

func TestKeyConditionErrors(t *testing.T) {
	t.Parallel()
	const (
		operator = "Invalid operator used in KeyConditionExpression: "
		operand  = "Invalid condition in KeyConditionExpression: "
		schema   = "Query condition missed key schema element: "
		notKeys  = "The query has conditions on attributes that are not keys"
	)
	given := `{":p":{"S":"part"},":5":{"N":"5"},":9":{"N":"9"}}`
	for src, want := range map[string]string{
		"":                                 "Invalid KeyConditionExpression: The expression can not be empty;",
		"pk = :p AND sk BETWEEN :9 AND :5": "Invalid KeyConditionExpression: The BETWEEN operator requires upper bound to be greater than or equal to lower bound",
		"((pk = :p)) AND sk = :5":          "Invalid KeyConditionExpression: The expression has redundant parentheses;",
		"pk = :p OR sk = :5":               operator + "OR",
		"NOT pk = :p":                      operator + "NOT",
		"pk IN (:p)":                       operator + "IN",
		"pk <> :p":                         operator + "<>",
		"pk = :p AND attribute_exists(sk)": operator + "attribute_exists",
		"pk = :p AND contains(sk, :p)":     operator + "contains",
		"pk = :p AND size(sk) = :5":        operand + "= must compare a key attribute",
		"pk = :p AND :5 BETWEEN sk AND :9": operand + "BETWEEN must compare a key attribute",
		"pk = :p AND begins_with(:p, sk)":  operand + "begins_with must compare a key attribute",
		"pk = sk":                          operand + "= must compare with values",
		":p = :p":                          operand + "= must compare a key attribute",
		"pk.x = :p":                        "KeyConditionExpressions cannot have conditions on nested attributes",
		"pk = :p AND sk > :5 AND sk < :9":  "Invalid KeyConditionExpression: KeyConditionExpressions must only contain one condition per key",
		"pk = :p AND sk = :5 AND x = :5":   notKeys,
		"sk = :5":                          schema + "pk",
		"pk = :p AND x = :5":               schema + "sk",
		"pk > :p":                          "Query key condition not supported",
		"begins_with(pk, :p)":              "Query key condition not supported",
	} {
		k, err := expressions.ParseKeyCondition(src, scope(t, nil, given))
		if err == nil {
			_, _, err = k.Resolve("pk", "sk")
		}
		if got := message(t, err); got != want {
			t.Errorf("%s\n got %s\nwant %s", src, got, want)
		}
	}
	k, err := expressions.ParseKeyCondition("pk = :p AND x = :5", scope(t, nil, given))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := k.Resolve("pk", ""); message(t, err) != notKeys {
		t.Errorf("without a sort key: %v", err)
	}
}
