package dynamodb

import (
	"strings"
	"testing"
)

// AWS checks a value in one of two layers, and each has its own words: the
// renewed one in single-item writes, inside an envelope, and in single-item and
// key reads without; the older one in batches of writes and in transactions.
// The expectations here were recorded from the service in 2026.
func TestRefusalOfValuesByOperation(t *testing.T) {
	t.Parallel()
	db := openTest(t, nil)
	must(t, db, "CreateTable", hashTable)
	const invalid = "One or more parameter values were invalid: "
	const numeric = "The parameter cannot be converted to a numeric value"
	const overflow = "Number overflow. Attempting to store a number with magnitude larger than supported range"
	const underflow = "Number underflow. Attempting to store a number with magnitude smaller than supported range"
	const wrapped = "ExpressionAttributeValues contains invalid value: % for key :v"
	values := []struct{ value, renewed, older string }{
		{`{"N":"abc"}`, numeric + ": abc", numeric + ": abc"},
		{`{"N":""}`, numeric + ": ", numeric},
		{`{"N":"1e126"}`, overflow, overflow},
		{`{"N":"1e2147483647"}`, overflow, underflow},
		{`{"M":{"x":{"L":[{"NS":["1",""]}]}}}`, numeric + ": ", numeric},
		{`{"SS":["b","a","b"]}`, invalid + `Input collection ["a", "b", "b"] contains duplicates.`, invalid + "Input collection [b, a, b] contains duplicates."},
		{`{"BS":["/w==","AA==","AA=="]}`, invalid + `Input collection ["AA==","/w==","AA=="]of type BS contains duplicates.`, invalid + "Input collection [/w==, AA==, AA==]of type BS contains duplicates."},
		{`{"NS":["2","1","2"]}`, invalid + "Input collection contains duplicates.", "Input collection contains duplicates"},
	}
	const renewed, enveloped, older, olderWrapped = "%", "1 validation error detected: %", "older %", "older " + wrapped
	const condition = `"ConditionExpression":"attribute_not_exists(pk) OR s = :v","ExpressionAttributeValues":{":v":VALUE}`
	for _, test := range []struct{ operation, body, words string }{
		{"PutItem", `{"TableName":"hash","Item":{"pk":{"S":"a"},"s":VALUE}}`, enveloped},
		{"PutItem", `{"TableName":"hash","Item":{"pk":{"S":"a"}},` + condition + `}`, enveloped},
		{"UpdateItem", `{"TableName":"hash","Key":{"pk":{"S":"a"}},"UpdateExpression":"SET s = :v","ExpressionAttributeValues":{":v":VALUE}}`, enveloped},
		{"UpdateItem", `{"TableName":"hash","Key":{"pk":VALUE},"UpdateExpression":"REMOVE s"}`, enveloped},
		{"DeleteItem", `{"TableName":"hash","Key":{"pk":{"S":"a"}},` + condition + `}`, enveloped},
		{"DeleteItem", `{"TableName":"hash","Key":{"pk":VALUE}}`, enveloped},
		{"GetItem", `{"TableName":"hash","Key":{"pk":VALUE}}`, renewed},
		{"BatchGetItem", `{"RequestItems":{"hash":{"Keys":[{"pk":VALUE}]}}}`, renewed},
		{"Query", `{"TableName":"hash","KeyConditionExpression":"pk = :v","ExpressionAttributeValues":{":v":VALUE}}`, renewed},
		{"Query", `{"TableName":"hash","KeyConditionExpression":"pk = :p","ExpressionAttributeValues":{":p":{"S":"a"}},"ExclusiveStartKey":{"pk":VALUE}}`, renewed},
		{"Scan", `{"TableName":"hash","FilterExpression":"s = :v","ExpressionAttributeValues":{":v":VALUE}}`, olderWrapped},
		{"BatchWriteItem", `{"RequestItems":{"hash":[{"PutRequest":{"Item":{"pk":{"S":"a"},"s":VALUE}}}]}}`, older},
		{"BatchWriteItem", `{"RequestItems":{"hash":[{"DeleteRequest":{"Key":{"pk":VALUE}}}]}}`, older},
		{"TransactWriteItems", `{"TransactItems":[{"Put":{"TableName":"hash","Item":{"pk":{"S":"a"},"s":VALUE}}}]}`, older},
		{"TransactWriteItems", `{"TransactItems":[{"Delete":{"TableName":"hash","Key":{"pk":VALUE}}}]}`, older},
		{"TransactWriteItems", `{"TransactItems":[{"ConditionCheck":{"TableName":"hash","Key":{"pk":{"S":"a"}},` + condition + `}}]}`, olderWrapped},
		{"TransactGetItems", `{"TransactItems":[{"Get":{"TableName":"hash","Key":{"pk":VALUE}}}]}`, older},
	} {
		for _, v := range values {
			text := v.renewed
			words, isOlder := strings.CutPrefix(test.words, "older ")
			if isOlder {
				text = v.older
			}
			want := "ValidationException: " + strings.Replace(words, "%", text, 1)
			body := strings.ReplaceAll(test.body, "VALUE", v.value)
			if got := call(t, db, test.operation, body).errorOf(); got != want {
				t.Errorf("%s %s\n got %s\nwant %s", test.operation, body, got, want)
			}
		}
	}
}

func TestRefusalOrder(t *testing.T) {
	t.Parallel()
	db := openTest(t, nil)
	must(t, db, "CreateTable", hashTable)
	deep := func(levels int) string {
		return strings.Repeat(`{"M":{"n":`, levels) + `{"S":"x"}` + strings.Repeat(`}}`, levels)
	}
	const (
		validation  = "ValidationException: "
		oneError    = validation + "1 validation error detected: "
		capacity    = "Value 'X' at 'returnConsumedCapacity' failed to satisfy constraint: Member must satisfy enum value set: [INDEXES, TOTAL, NONE]"
		metrics     = "Value 'X' at 'returnItemCollectionMetrics' failed to satisfy constraint: Member must satisfy enum value set: [SIZE, NONE]"
		returns     = "Failed to satisfy constraint: Member must satisfy enum value set: [ALL_OLD, UPDATED_OLD, ALL_NEW, UPDATE_NEW, NONE]"
		olderReturn = "Value 'X' at 'returnValues' failed to satisfy constraint: Member must satisfy enum value set: [ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW]"
		emptyName   = "Value '' at 'tableName' failed to satisfy constraint: Member must have length greater than or equal to 1"
		noKey       = "Value null at 'key' failed to satisfy constraint: Member must not be null"
		mapKeys     = "' at 'requestItems' failed to satisfy constraint: Map keys must satisfy constraint: [Member must have length less than or equal to 255, Member must have length greater than or equal to 3, Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+]"
		nesting     = validation + "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit"
		syntax      = validation + `Invalid ConditionExpression: Syntax error; token: "=", near: "= = b"`
		tooLong     = "Expression size has exceeded the maximum allowed size;"
	)
	const all = `"ReturnConsumedCapacity":"X","ReturnItemCollectionMetrics":"X","ReturnValues":"X"`
	long := strings.Repeat("a = b AND ", 410) + "a = b"
	for _, test := range []struct{ operation, body, want string }{
		{"PutItem", `{"TableName":"none","Item":{"pk":{"S":"a"}},` + all + `}`, validation + "3 validation errors detected: " + capacity + "; " + returns + "; " + metrics},
		{"DeleteItem", `{"TableName":"none","Key":{"pk":{"S":"a"}},` + all + `}`, validation + "3 validation errors detected: " + capacity + "; " + returns + "; " + metrics},
		{"UpdateItem", `{"TableName":"none","Key":{"pk":{"S":"a"}},` + all + `}`, oneError + returns},
		{"UpdateItem", `{"TableName":"","ReturnConsumedCapacity":"X","ReturnValues":"X"}`, validation + "4 validation errors detected: " + capacity + "; " + emptyName + "; " + olderReturn + "; " + noKey},
		{"DeleteItem", `{"TableName":""}`, validation + "2 validation errors detected: " + emptyName + "; " + noKey},
		{"BatchGetItem", `{"RequestItems":{"a!":{"Keys":[{"pk":{"S":"a"}}]}},"ReturnConsumedCapacity":"X"}`, validation + `2 validation errors detected: Value '{"a!":{"Keys":[{"pk":{"S":"a"}}]}}` + mapKeys + "; " + capacity},
		{"BatchGetItem", `{"RequestItems":{"hash":{"Keys":[]}}}`, oneError + "Value at 'RequestItems.hash.member.Keys' failed to satisfy constraint: Member must have length greater than or equal to 1"},
		{"BatchGetItem", `{}`, oneError + "Value null at 'requestItems' failed to satisfy constraint: Member must not be null"},
		{"BatchWriteItem", `{"RequestItems":{"a!":[{"DeleteRequest":{"Key":{"pk":{"S":"a"}}}}]},"ReturnConsumedCapacity":"X"}`, oneError + capacity},
		{"BatchWriteItem", `{"RequestItems":{"a!":[{"PutRequest":{"Item":{"pk":{"S":"a"}}}}]}}`, oneError + "Value '{a!=[WriteRequest(putRequest=PutRequest(item={pk=AttributeValue(...)}), deleteRequest=null)]}" + mapKeys},
		{"BatchWriteItem", `{}`, oneError + "Value null at 'requestItems' failed to satisfy constraint: Member must not be null"},
		{"Scan", `{"TableName":"hash","Select":"ALL_PROJECTED_ATTRIBUTES"}`, validation + "ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName"},
		{"UpdateTable", `{"TableName":"none","BillingMode":"X"}`, oneError + "Value 'X' at 'billingMode' failed to satisfy constraint: Member must satisfy enum value set: [PROVISIONED, PAY_PER_REQUEST]"},
		{"UpdateTable", `{"TableName":"none"}`, validation + "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, GlobalSecondaryIndexUpdates or SSESpecification or ReplicaUpdates is required"},
		{"TransactWriteItems", `{"TransactItems":[{"Put":{"TableName":"none","Item":{"pk":{"S":"a"},"":{"S":"x"}}}},{"Put":{"TableName":"none","Item":{"pk":{"S":"b"},"d":` + deep(40) + `}}}]}`, validation + "Empty attribute name"},
		{"TransactWriteItems", `{"TransactItems":[{"Put":{"TableName":"none","Item":{"pk":{"S":"b"},"d":` + deep(40) + `}}},{"Put":{"TableName":"none","Item":{"pk":{"S":"a"},"":{"S":"x"}}}}]}`, nesting},
		{"TransactWriteItems", `{"TransactItems":[{"Delete":{"TableName":"none","Key":{"pk":` + deep(40) + `},"ConditionExpression":"a = = b"}}]}`, syntax},
		{"TransactWriteItems", `{"TransactItems":[{"Delete":{"TableName":"none","Key":{"pk":` + deep(40) + `}}},{"Put":{"TableName":"none","Item":{"pk":{"S":"a"}},"ConditionExpression":"a = = b"}}]}`, nesting},
		{"TransactWriteItems", `{"TransactItems":[{"Update":{"TableName":"none","Key":{"pk":{"S":"a"}},"UpdateExpression":"SET ` + long + `"}}]}`, validation + "Invalid UpdateExpression: " + tooLong},
		{"TransactWriteItems", `{"TransactItems":[{"Delete":{"TableName":"none","Key":{"pk":{"S":"a"}},"ConditionExpression":"` + long + `"}}]}`, validation + "Invalid ConditionExpression: " + tooLong + " expression size: 4105"},
	} {
		if got := call(t, db, test.operation, test.body).errorOf(); got != test.want {
			t.Errorf("%s %.160s\n got %s\nwant %s", test.operation, test.body, got, test.want)
		}
	}
}

// Only what a transaction does to the table itself costs twice.
func TestTransactionsCostTheirIndexesOnce(t *testing.T) {
	t.Parallel()
	db := openTest(t, nil)
	must(t, db, "CreateTable", indexedTable)
	const item = `{"TableName":"indexed","Item":{"pk":{"S":"KEY"},"sk":{"S":"s"},"g":{"S":"g"},"n":{"N":"1"}}}`
	for _, test := range []struct{ operation, body, want string }{
		{"BatchWriteItem", `{"ReturnConsumedCapacity":"TOTAL","RequestItems":{"indexed":[{"PutRequest":` + strings.Replace(item, "KEY", "a", 1) + `}]}}`,
			`{"UnprocessedItems":{},"ConsumedCapacity":[{"TableName":"indexed","CapacityUnits":4}]}`},
		{"TransactWriteItems", `{"ReturnConsumedCapacity":"TOTAL","TransactItems":[{"Put":` + strings.Replace(item, "KEY", "b", 1) + `}]}`,
			`{"ConsumedCapacity":[{"TableName":"indexed","CapacityUnits":5,"WriteCapacityUnits":5}]}`},
	} {
		if got := must(t, db, test.operation, test.body).raw; got != test.want {
			t.Errorf("%s\n got %s\nwant %s", test.operation, got, test.want)
		}
	}
}

// A replay costs reading what the transaction saw or made, whichever is larger,
// even where neither is there any more.
func TestReplayCostsReadingTheLargerImage(t *testing.T) {
	t.Parallel()
	db := openTest(t, nil)
	must(t, db, "CreateTable", hashTable)
	large := strings.Repeat("x", 9000)
	must(t, db, "PutItem", `{"TableName":"hash","Item":{"pk":{"S":"shrinks"},"v":{"S":"`+large+`"}}}`)
	must(t, db, "PutItem", `{"TableName":"hash","Item":{"pk":{"S":"goes"},"v":{"S":"`+large+`"}}}`)
	const transaction = `{"ClientRequestToken":"t","ReturnConsumedCapacity":"TOTAL","TransactItems":[
		{"Put":{"TableName":"hash","Item":{"pk":{"S":"shrinks"}}}},
		{"Delete":{"TableName":"hash","Key":{"pk":{"S":"goes"}}}},
		{"Put":{"TableName":"hash","Item":{"pk":{"S":"new"}}}}]}`
	for _, want := range []string{
		`{"ConsumedCapacity":[{"TableName":"hash","CapacityUnits":38,"WriteCapacityUnits":38}]}`,
		`{"ConsumedCapacity":[{"TableName":"hash","CapacityUnits":14,"ReadCapacityUnits":14}]}`,
	} {
		if got := must(t, db, "TransactWriteItems", transaction).raw; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
