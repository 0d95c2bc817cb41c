package dynamodb

import (
	"strings"
	"testing"
)

// What AWS answers to requests that it refuses, in its own words.
func TestRefusals(t *testing.T) {
	t.Parallel()
	db := withTables(t)
	long := strings.Repeat("x", 256)
	const oneError = "ValidationException: 1 validation error detected: "
	const badValues = "ValidationException: One or more parameter values were invalid: "
	const emptyKey = "ValidationException: One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: pk"
	const mismatch = "ValidationException: The provided key element does not match the schema"
	for _, test := range []struct{ operation, body, want string }{
		{"PutItem", `{"Item":{"pk":{"S":"a"}}}`, oneError + "Value null at 'tableName' failed to satisfy constraint: Member must not be null"},
		{"PutItem", `{"TableName":"","Item":{},"ReturnValues":"X"}`, oneError + "Value at 'TableName' failed to satisfy constraint: Member must have length greater than or equal to 1"},
		{"PutItem", `{"TableName":"a b","Item":{}}`, oneError + "Value 'a b' at 'tableName' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+"},
		{"PutItem", `{"TableName":"` + long + `","Item":{}}`, oneError + "Value '" + long + "' at 'tableName' failed to satisfy constraint: Member must have length less than or equal to 255"},
		{"PutItem", `{"TableName":"hash"}`, oneError + "Value null at 'item' failed to satisfy constraint: Member must not be null"},
		{"PutItem", `{"TableName":"hash","Item":{"pk":{"S":"a"}},"ReturnConsumedCapacity":"A","ReturnItemCollectionMetrics":"B"}`,
			"ValidationException: 2 validation errors detected: Value 'A' at 'returnConsumedCapacity' failed to satisfy constraint: Member must satisfy enum value set: [INDEXES, TOTAL, NONE]; " +
				"Value 'B' at 'returnItemCollectionMetrics' failed to satisfy constraint: Member must satisfy enum value set: [SIZE, NONE]"},
		{"PutItem", `{"TableName":"none","Item":{"pk":{"S":"a"}}}`, "ResourceNotFoundException: Requested resource not found"},
		{"PutItem", `{"TableName":"hash","Item":{"pk":{"S":"a"}},"ReturnValues":"ALL_NEW"}`, "ValidationException: 1 validation error detected: ReturnValues can only be ALL_OLD or NONE"},
		{"PutItem", `{"TableName":"hash","Item":{"a":{"S":"a"}}}`, badValues + "Missing the key pk in the item"},
		{"PutItem", `{"TableName":"hash","Item":{"pk":{"N":"1"}}}`, badValues + "Type mismatch for key pk expected: S actual: N"},
		{"PutItem", `{"TableName":"hash","Item":{"pk":{"S":""}}}`, emptyKey},
		{"PutItem", `{"TableName":"hash","Item":{"pk":{"S":"a"},"s":{"SS":[]}}}`, oneError + "One or more parameter values were invalid: An string set  may not be empty"},
		{"PutItem", `{"TableName":"hash","Item":{"pk":{"S":"a"},"s":{}}}`, "ValidationException: 1 validation error detected: Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"},
		{"PutItem", `{"TableName":"hash","Item":{"pk":{"S":"a"}},"ConditionExpression":""}`, "ValidationException: 1 validation error detected: Invalid ConditionExpression: The expression can not be empty;"},
		{"PutItem", `{"TableName":"hash","Item":{"pk":{"S":"a"}},"ExpressionAttributeValues":{":a":{"S":"a"}}}`, "ValidationException: 1 validation error detected: ExpressionAttributeValues can only be specified when using expressions"},
		{"PutItem", `{"TableName":"hash","Item":{"pk":{"S":"a"}},"ExpressionAttributeNames":{"#a":"a"}}`, "ValidationException: 1 validation error detected: ExpressionAttributeNames can only be specified when using expressions"},
		{"PutItem", `{"TableName":"hash","Item":{"pk":{"S":"a"}},"Expected":{}}`, "ValidationException: 1 validation error detected: The legacy parameter Expected is not supported by the embedded DynamoDB: use expressions"},
		{"PutItem", `{"TableName":"hash","Item":{"pk":{"S":"a"}},"Expected":{},"ConditionExpression":"attribute_exists(pk)"}`,
			"ValidationException: 1 validation error detected: Can not use both expression and non-expression parameters in the same request: Non-expression parameters: {Expected} Expression parameters: {ConditionExpression}"},
		{"PutItem", `{"TableName":"hash","Item":{"pk":{"S":"` + strings.Repeat("k", 2049) + `"}}}`, badValues + "Size of hashkey has exceeded the maximum size limit of2048 bytes"},
		{"PutItem", `{"TableName":"range","Item":{"pk":{"S":"a"},"sk":{"S":"` + strings.Repeat("k", 1025) + `"}}}`, badValues + "Aggregated size of all range keys has exceeded the size limit of 1024 bytes"},
		{"PutItem", `{"TableName":"hash","Item":{"pk":{"S":"a"},"b":{"S":"` + strings.Repeat("k", 400<<10) + `"}}}`, "ValidationException: Item size has exceeded the maximum allowed size"},
		{"PutItem", `{"TableName":"indexed","Item":{"pk":{"S":"a"},"sk":{"S":"a"},"g":{"N":"1"}}}`, badValues + "Type mismatch for Index Key g Expected: S Actual: N IndexName: all"},
		{"PutItem", `{"TableName":"indexed","Item":{"pk":{"S":"a"},"sk":{"S":"a"},"g":{"S":""}}}`,
			"ValidationException: One or more parameter values are not valid. A value specified for a secondary index key is not supported. The AttributeValue for a key attribute cannot contain an empty string value. IndexName: all, IndexKey: g"},
		{"GetItem", `{"TableName":"hash","Key":{"pk":{"N":"1"}}}`, mismatch},
		{"GetItem", `{"TableName":"hash","Key":{}}`, mismatch},
		{"GetItem", `{"TableName":"hash","Key":{"pk":{"S":"a"},"b":{"S":"a"}}}`, mismatch},
		{"GetItem", `{"TableName":"hash","Key":{"pk":{"S":""}}}`, emptyKey},
		{"GetItem", `{"TableName":"hash","Key":{"pk":{"S":"a"}},"ProjectionExpression":"pk.x"}`, "ValidationException: Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: Key: pk"},
		{"PutItem", `{"TableName":"indexed","Item":{"pk":{"S":"a"},"sk":{"S":"a"}},"ConditionExpression":"attribute_exists(g[0])"}`, "ValidationException: Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: IndexKey: g"},
		{"GetItem", `{"TableName":"hash"}`, oneError + "Value null at 'key' failed to satisfy constraint: Member must not be null"},
		{"GetItem", `{"TableName":"hash","Key":{"pk":{"S":"a"}},"AttributesToGet":["a"]}`, "ValidationException: The legacy parameter AttributesToGet is not supported by the embedded DynamoDB: use expressions"},
		{"UpdateItem", `{"TableName":"hash","Key":{"pk":{"S":"a"}},"UpdateExpression":"SET pk = :v","ExpressionAttributeValues":{":v":{"S":"b"}}}`, badValues + "Cannot update attribute pk. This attribute is part of the key"},
		{"UpdateItem", `{"TableName":"hash","Key":{"pk":{"S":"a"}},"UpdateExpression":"SET a = :v","ExpressionAttributeValues":{":v":{"S":"` + strings.Repeat("k", 400<<10) + `"}}}`, "ValidationException: Item size to update has exceeded the maximum allowed size"},
		{"UpdateItem", `{"TableName":"hash","Key":{"pk":{"S":"a"}},"AttributeUpdates":{}}`, "ValidationException: 1 validation error detected: The legacy parameter AttributeUpdates is not supported by the embedded DynamoDB: use expressions"},
		{"UpdateItem", `{"TableName":"indexed","Key":{"pk":{"S":"a"},"sk":{"S":"a"}},"UpdateExpression":"SET g = :v","ExpressionAttributeValues":{":v":{"N":"1"}}}`, badValues + "Type mismatch for Index Key g Expected: S Actual: N IndexName: all"},
		{"DeleteItem", `{"TableName":"hash","Key":{"pk":{"S":"a"}},"ReturnValues":"UPDATED_NEW"}`, "ValidationException: 1 validation error detected: ReturnValues can only be ALL_OLD or NONE"},
		{"Query", `{"TableName":"range"}`, "ValidationException: Either the KeyConditions or KeyConditionExpression parameter must be specified in the request."},
		{"Query", `{"TableName":"range","KeyConditionExpression":"pk = :p","ExpressionAttributeValues":{":p":{"S":"a"}},"Limit":0}`, oneError + "Value at 'Limit' failed to satisfy constraint: Member must have value greater than or equal to 1"},
		{"Query", `{"TableName":"range","KeyConditionExpression":"sk = :p","ExpressionAttributeValues":{":p":{"S":"a"}}}`, "ValidationException: Query condition missed key schema element: pk"},
		{"Query", `{"TableName":"range","KeyConditionExpression":"pk > :p","ExpressionAttributeValues":{":p":{"S":"a"}}}`, "ValidationException: Query key condition not supported"},
		{"Query", `{"TableName":"range","KeyConditionExpression":"pk = :p","ExpressionAttributeValues":{":p":{"N":"1"}}}`, badValues + "Condition parameter type does not match schema type"},
		{"Query", `{"TableName":"range","KeyConditionExpression":"pk = :p","FilterExpression":"sk = :p","ExpressionAttributeValues":{":p":{"S":"a"}}}`, "ValidationException: Filter Expression can only contain non-primary key attributes: Primary key attribute: sk"},
		{"Query", `{"TableName":"range","IndexName":"nope","KeyConditionExpression":"pk = :p","ExpressionAttributeValues":{":p":{"S":"a"}}}`, "ValidationException: The table does not have the specified index: nope"},
		{"Query", `{"TableName":"indexed","IndexName":"all","ConsistentRead":true,"KeyConditionExpression":"g = :p","ExpressionAttributeValues":{":p":{"S":"a"}}}`, "ValidationException: Consistent reads are not supported on global secondary indexes"},
		{"Query", `{"TableName":"indexed","IndexName":"keys","Select":"ALL_ATTRIBUTES","KeyConditionExpression":"g = :p","ExpressionAttributeValues":{":p":{"S":"a"}}}`, badValues + "Select type ALL_ATTRIBUTES is not supported for global secondary index keys because its projection type is not ALL"},
		{"Query", `{"TableName":"indexed","IndexName":"keys","ProjectionExpression":"z","KeyConditionExpression":"g = :p","ExpressionAttributeValues":{":p":{"S":"a"}}}`, badValues + "Global secondary index keys does not project [z]"},
		{"Query", `{"TableName":"range","Select":"ALL_PROJECTED_ATTRIBUTES","KeyConditionExpression":"pk = :p","ExpressionAttributeValues":{":p":{"S":"a"}}}`, "ValidationException: ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName"},
		{"Query", `{"TableName":"range","Select":"ALL_ATTRIBUTES","ProjectionExpression":"a","KeyConditionExpression":"pk = :p","ExpressionAttributeValues":{":p":{"S":"a"}}}`, "ValidationException: Cannot specify the ProjectionExpression when choosing to get ALL_ATTRIBUTES"},
		{"Query", `{"TableName":"range","ExclusiveStartKey":{"pk":{"S":"a"}},"KeyConditionExpression":"pk = :p","ExpressionAttributeValues":{":p":{"S":"a"}}}`, "ValidationException: The provided starting key is invalid"},
		{"Query", `{"TableName":"range","ExclusiveStartKey":{"pk":{"S":"b"},"sk":{"S":"b"}},"KeyConditionExpression":"pk = :p","ExpressionAttributeValues":{":p":{"S":"a"}}}`, "ValidationException: The provided starting key is outside query boundaries based on provided conditions"},
		{"Query", `{"TableName":"range","ExclusiveStartKey":{"pk":{"S":"a"},"sk":{"S":"b"}},"KeyConditionExpression":"pk = :p AND sk > :q","ExpressionAttributeValues":{":p":{"S":"a"},":q":{"S":"c"}}}`, "ValidationException: The provided starting key does not match the range key predicate"},
		{"Query", `{"TableName":"range","KeyConditions":{}}`, "ValidationException: The legacy parameter KeyConditions is not supported by the embedded DynamoDB: use expressions"},
		{"Scan", `{"TableName":"hash","Limit":0}`, oneError + "Value '0' at 'limit' failed to satisfy constraint: Member must have value greater than or equal to 1"},
		{"Scan", `{"TableName":"hash","Segment":0}`, "ValidationException: The TotalSegments parameter is required but was not present in the request when Segment parameter is present"},
		{"Scan", `{"TableName":"hash","TotalSegments":4}`, "ValidationException: The Segment parameter is required but was not present in the request when parameter TotalSegments is present"},
		{"Scan", `{"TableName":"hash","Segment":5,"TotalSegments":5}`, "ValidationException: The Segment parameter is zero-based and must be less than parameter TotalSegments: Segment: 5 is not less than TotalSegments: 5"},
		{"Scan", `{"TableName":"hash","ScanFilter":{}}`, "ValidationException: The legacy parameter ScanFilter is not supported by the embedded DynamoDB: use expressions"},
		{"Scan", `{"TableName":"hash","Select":"SPECIFIC_ATTRIBUTES"}`, "ValidationException: Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES"},
		{"BatchGetItem", `{"RequestItems":{}}`, "ValidationException: 1 validation error detected: Value at 'RequestItems' failed to satisfy constraint: Member must have length greater than or equal to 1"},
		{"BatchGetItem", `{"RequestItems":{"hash":{"Keys":[{"pk":{"S":"a"}},{"pk":{"S":"a"}}]}}}`, "ValidationException: Provided list of item keys contains duplicates"},
		{"BatchGetItem", `{"RequestItems":{"hash":{"Keys":[` + strings.Repeat(`{"pk":{"S":"a"}},`, 100) + `{"pk":{"S":"b"}}]}}}`, oneError + "Value at 'RequestItems.hash.member.Keys' failed to satisfy constraint: Member must have length less than or equal to 100"},
		{"BatchGetItem", `{"RequestItems":{"none":{"Keys":[{"pk":{"S":"a"}}]}}}`, "ResourceNotFoundException: Requested resource not found"},
		{"BatchWriteItem", `{"RequestItems":{}}`, "ValidationException: The requestItems parameter is required for BatchWriteItem"},
		{"BatchWriteItem", `{"RequestItems":{"hash":[{"PutRequest":{"Item":{"pk":{"S":"a"}}}},{"DeleteRequest":{"Key":{"pk":{"S":"a"}}}}]}}`, "ValidationException: Provided list of item keys contains duplicates"},
		{"BatchWriteItem", `{"RequestItems":{"hash":[{"PutRequest":{"Item":{"pk":{"N":"5"}}}}]}}`, mismatch},
		{"BatchWriteItem", `{"RequestItems":{"hash":[{}]}}`, "ValidationException: Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes"},
		{"TransactWriteItems", `{"TransactItems":[]}`, oneError + "Value '[]' at 'transactItems' failed to satisfy constraint: Member must have length greater than or equal to 1"},
		{"TransactWriteItems", `{"TransactItems":[{"Put":{"TableName":"none","Item":{"pk":{"S":"a"}}}}]}`, "ResourceNotFoundException: Requested resource not found"},
		{"TransactWriteItems", `{"TransactItems":[{"Put":{"TableName":"hash","Item":{"pk":{"S":"a"}}}},{"Delete":{"TableName":"hash","Key":{"pk":{"S":"a"}}}}]}`, "ValidationException: Transaction request cannot include multiple operations on one item"},
		{"TransactWriteItems", `{"TransactItems":[{"Put":{"TableName":"hash","Item":{"pk":{"S":"a"}}},"Delete":{"TableName":"hash","Key":{"pk":{"S":"a"}}}}]}`, "ValidationException: TransactItems can only contain one of Check, Put, Update or Delete"},
		{"TransactWriteItems", `{"TransactItems":[{"ConditionCheck":{"TableName":"hash","Key":{"pk":{"S":"a"}}}}]}`, oneError + "Value null at 'transactItems.1.member.conditionCheck.conditionExpression' failed to satisfy constraint: Member must not be null"},
		{"TransactWriteItems", `{"ClientRequestToken":"` + strings.Repeat("t", 37) + `","TransactItems":[{"Put":{"TableName":"hash","Item":{"pk":{"S":"a"}}}}]}`, oneError + "Value '" + strings.Repeat("t", 37) + "' at 'clientRequestToken' failed to satisfy constraint: Member must have length less than or equal to 36"},
		{"TransactWriteItems", `{"TransactItems":[{"Put":{"TableName":"hash","Item":{"pk":{"N":"5"}}}}]}`, "TransactionCanceledException: Transaction cancelled, please refer cancellation reasons for specific reasons [ValidationError]"},
		{"TransactWriteItems", `{"TransactItems":[{"Put":{"TableName":"hash","Item":{"pk":{"N":"5"}}}},{"Put":{"TableName":"hash","Item":{"pk":{"S":""}}}}]}`, emptyKey},
		{"TransactGetItems", `{"TransactItems":[{"Get":{"TableName":"hash","Key":{}}}]}`, "TransactionCanceledException: Transaction cancelled, please refer cancellation reasons for specific reasons [ValidationError]"},
		{"CreateTable", `{}`, "ValidationException: The parameter 'TableName' is required but was not present in the request"},
		{"CreateTable", hashTable, "ResourceInUseException: Table already exists: hash"},
		{"DescribeTable", `{"TableName":"none"}`, "ResourceNotFoundException: Requested resource not found: Table: none not found"},
		{"DeleteTable", `{"TableName":"ab"}`, oneError + "Value 'ab' at 'tableName' failed to satisfy constraint: Member must have length greater than or equal to 3"},
		{"ListTables", `{"Limit":101}`, oneError + "Value '101' at 'limit' failed to satisfy constraint: Member must have value less than or equal to 100"},
		{"ExecuteStatement", `{}`, "UnknownOperationException: The operation ExecuteStatement is not supported by the embedded DynamoDB"},
		{"Nonsense", `{}`, "UnknownOperationException: "},
		{"GetItem", `{"TableName":1}`, "SerializationException: NUMBER_VALUE cannot be converted to String"},
		{"GetItem", `{"TableName":["a"]}`, "SerializationException: Unrecognized collection type class java.lang.String"},
		{"GetItem", `{"TableName":{}}`, "SerializationException: Start of structure or map found where not expected"},
		{"Query", `{"Limit":"1"}`, "SerializationException: STRING_VALUE cannot be converted to Integer"},
		{"GetItem", `{"ConsistentRead":1}`, "SerializationException: NUMBER_VALUE cannot be converted to Boolean"},
		{"GetItem", `{"TableName":`, "SerializationException: "},
		{"GetItem", ``, "SerializationException: "},
	} {
		result := call(t, db, test.operation, test.body)
		want := 400
		if got := result.errorOf(); got != test.want || result.status != want {
			t.Errorf("%s %.120s\n got %d %.300s\nwant %.300s", test.operation, test.body, result.status, got, test.want)
		}
	}
}
