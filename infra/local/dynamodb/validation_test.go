package dynamodb

import (
	"net/http"
	"strings"
	"testing"
)

// TestErrorTypes checks the error types of requests that DynamoDB rejects.
func TestErrorTypes(t *testing.T) {
	t.Parallel()
	db := withTables(t)
	long := strings.Repeat("x", 256)
	for want, requests := range map[string][][2]string{
		"ValidationException": {
			{"PutItem", `{"Item":{"pk":{"S":"a"}}}`},
			{"PutItem", `{"TableName":"","Item":{},"ReturnValues":"X"}`},
			{"PutItem", `{"TableName":"a b","Item":{}}`},
			{"PutItem", `{"TableName":"` + long + `","Item":{}}`},
			{"PutItem", `{"TableName":"hash"}`},
			{"PutItem", `{"TableName":"hash","Item":{"pk":{"S":"a"}},"ReturnConsumedCapacity":"A","ReturnItemCollectionMetrics":"B"}`},
			{"PutItem", `{"TableName":"hash","Item":{"pk":{"S":"a"}},"ReturnValues":"ALL_NEW"}`},
			{"PutItem", `{"TableName":"hash","Item":{"a":{"S":"a"}}}`},
			{"PutItem", `{"TableName":"hash","Item":{"pk":{"N":"1"}}}`},
			{"PutItem", `{"TableName":"hash","Item":{"pk":{"S":""}}}`},
			{"PutItem", `{"TableName":"hash","Item":{"pk":{"S":"a"},"s":{"SS":[]}}}`},
			{"PutItem", `{"TableName":"hash","Item":{"pk":{"S":"a"},"s":{}}}`},
			{"PutItem", `{"TableName":"hash","Item":{"pk":{"S":"a"}},"ConditionExpression":""}`},
			{"PutItem", `{"TableName":"hash","Item":{"pk":{"S":"a"}},"ExpressionAttributeValues":{":a":{"S":"a"}}}`},
			{"PutItem", `{"TableName":"hash","Item":{"pk":{"S":"a"}},"ExpressionAttributeNames":{"#a":"a"}}`},
			{"PutItem", `{"TableName":"hash","Item":{"pk":{"S":"a"}},"Expected":{}}`},
			{"PutItem", `{"TableName":"hash","Item":{"pk":{"S":"a"}},"Expected":{},"ConditionExpression":"attribute_exists(pk)"}`},
			{"PutItem", `{"TableName":"hash","Item":{"pk":{"S":"` + strings.Repeat("k", 2049) + `"}}}`},
			{"PutItem", `{"TableName":"range","Item":{"pk":{"S":"a"},"sk":{"S":"` + strings.Repeat("k", 1025) + `"}}}`},
			{"PutItem", `{"TableName":"hash","Item":{"pk":{"S":"a"},"b":{"S":"` + strings.Repeat("k", 400<<10) + `"}}}`},
			{"PutItem", `{"TableName":"indexed","Item":{"pk":{"S":"a"},"sk":{"S":"a"},"g":{"N":"1"}}}`},
			{"PutItem", `{"TableName":"indexed","Item":{"pk":{"S":"a"},"sk":{"S":"a"},"g":{"S":""}}}`},
			{"GetItem", `{"TableName":"hash","Key":{"pk":{"N":"1"}}}`},
			{"GetItem", `{"TableName":"hash","Key":{}}`},
			{"GetItem", `{"TableName":"hash","Key":{"pk":{"S":"a"},"b":{"S":"a"}}}`},
			{"GetItem", `{"TableName":"hash","Key":{"pk":{"S":""}}}`},
			{"GetItem", `{"TableName":"hash","Key":{"pk":{"S":"a"}},"ProjectionExpression":"pk.x"}`},
			{"PutItem", `{"TableName":"indexed","Item":{"pk":{"S":"a"},"sk":{"S":"a"}},"ConditionExpression":"attribute_exists(g[0])"}`},
			{"GetItem", `{"TableName":"hash"}`},
			{"GetItem", `{"TableName":"hash","Key":{"pk":{"S":"a"}},"AttributesToGet":["a"]}`},
			{"UpdateItem", `{"TableName":"hash","Key":{"pk":{"S":"a"}},"UpdateExpression":"SET pk = :v","ExpressionAttributeValues":{":v":{"S":"b"}}}`},
			{"UpdateItem", `{"TableName":"hash","Key":{"pk":{"S":"a"}},"UpdateExpression":"SET a = :v","ExpressionAttributeValues":{":v":{"S":"` + strings.Repeat("k", 400<<10) + `"}}}`},
			{"UpdateItem", `{"TableName":"hash","Key":{"pk":{"S":"a"}},"AttributeUpdates":{}}`},
			{"UpdateItem", `{"TableName":"indexed","Key":{"pk":{"S":"a"},"sk":{"S":"a"}},"UpdateExpression":"SET g = :v","ExpressionAttributeValues":{":v":{"N":"1"}}}`},
			{"DeleteItem", `{"TableName":"hash","Key":{"pk":{"S":"a"}},"ReturnValues":"UPDATED_NEW"}`},
			{"Query", `{"TableName":"range"}`},
			{"Query", `{"TableName":"range","KeyConditionExpression":"pk = :p","ExpressionAttributeValues":{":p":{"S":"a"}},"Limit":0}`},
			{"Query", `{"TableName":"range","KeyConditionExpression":"sk = :p","ExpressionAttributeValues":{":p":{"S":"a"}}}`},
			{"Query", `{"TableName":"range","KeyConditionExpression":"pk > :p","ExpressionAttributeValues":{":p":{"S":"a"}}}`},
			{"Query", `{"TableName":"range","KeyConditionExpression":"pk = :p","ExpressionAttributeValues":{":p":{"N":"1"}}}`},
			{"Query", `{"TableName":"range","KeyConditionExpression":"pk = :p","FilterExpression":"sk = :p","ExpressionAttributeValues":{":p":{"S":"a"}}}`},
			{"Query", `{"TableName":"range","IndexName":"nope","KeyConditionExpression":"pk = :p","ExpressionAttributeValues":{":p":{"S":"a"}}}`},
			{"Query", `{"TableName":"indexed","IndexName":"all","ConsistentRead":true,"KeyConditionExpression":"g = :p","ExpressionAttributeValues":{":p":{"S":"a"}}}`},
			{"Query", `{"TableName":"indexed","IndexName":"keys","Select":"ALL_ATTRIBUTES","KeyConditionExpression":"g = :p","ExpressionAttributeValues":{":p":{"S":"a"}}}`},
			{"Query", `{"TableName":"indexed","IndexName":"keys","ProjectionExpression":"z","KeyConditionExpression":"g = :p","ExpressionAttributeValues":{":p":{"S":"a"}}}`},
			{"Query", `{"TableName":"range","Select":"ALL_PROJECTED_ATTRIBUTES","KeyConditionExpression":"pk = :p","ExpressionAttributeValues":{":p":{"S":"a"}}}`},
			{"Query", `{"TableName":"range","Select":"ALL_ATTRIBUTES","ProjectionExpression":"a","KeyConditionExpression":"pk = :p","ExpressionAttributeValues":{":p":{"S":"a"}}}`},
			{"Query", `{"TableName":"range","ExclusiveStartKey":{"pk":{"S":"a"}},"KeyConditionExpression":"pk = :p","ExpressionAttributeValues":{":p":{"S":"a"}}}`},
			{"Query", `{"TableName":"range","ExclusiveStartKey":{"pk":{"S":"b"},"sk":{"S":"b"}},"KeyConditionExpression":"pk = :p","ExpressionAttributeValues":{":p":{"S":"a"}}}`},
			{"Query", `{"TableName":"range","ExclusiveStartKey":{"pk":{"S":"a"},"sk":{"S":"b"}},"KeyConditionExpression":"pk = :p AND sk > :q","ExpressionAttributeValues":{":p":{"S":"a"},":q":{"S":"c"}}}`},
			{"Query", `{"TableName":"range","KeyConditions":{}}`},
			{"Scan", `{"TableName":"hash","Limit":0}`},
			{"Scan", `{"TableName":"hash","Segment":0}`},
			{"Scan", `{"TableName":"hash","TotalSegments":4}`},
			{"Scan", `{"TableName":"hash","Segment":5,"TotalSegments":5}`},
			{"Scan", `{"TableName":"hash","ScanFilter":{}}`},
			{"Scan", `{"TableName":"hash","Select":"SPECIFIC_ATTRIBUTES"}`},
			{"BatchGetItem", `{"RequestItems":{}}`},
			{"BatchGetItem", `{"RequestItems":{"hash":{"Keys":[{"pk":{"S":"a"}},{"pk":{"S":"a"}}]}}}`},
			{"BatchGetItem", `{"RequestItems":{"hash":{"Keys":[` + strings.Repeat(`{"pk":{"S":"a"}},`, 100) + `{"pk":{"S":"b"}}]}}}`},
			{"BatchWriteItem", `{"RequestItems":{}}`},
			{"BatchWriteItem", `{"RequestItems":{"hash":[{"PutRequest":{"Item":{"pk":{"S":"a"}}}},{"DeleteRequest":{"Key":{"pk":{"S":"a"}}}}]}}`},
			{"BatchWriteItem", `{"RequestItems":{"hash":[{"PutRequest":{"Item":{"pk":{"N":"5"}}}}]}}`},
			{"BatchWriteItem", `{"RequestItems":{"hash":[{}]}}`},
			{"TransactWriteItems", `{"TransactItems":[]}`},
			{"TransactWriteItems", `{"TransactItems":[{"Put":{"TableName":"hash","Item":{"pk":{"S":"a"}}}},{"Delete":{"TableName":"hash","Key":{"pk":{"S":"a"}}}}]}`},
			{"TransactWriteItems", `{"TransactItems":[{"Put":{"TableName":"hash","Item":{"pk":{"S":"a"}}},"Delete":{"TableName":"hash","Key":{"pk":{"S":"a"}}}}]}`},
			{"TransactWriteItems", `{"TransactItems":[{"ConditionCheck":{"TableName":"hash","Key":{"pk":{"S":"a"}}}}]}`},
			{"TransactWriteItems", `{"ClientRequestToken":"` + strings.Repeat("t", 37) + `","TransactItems":[{"Put":{"TableName":"hash","Item":{"pk":{"S":"a"}}}}]}`},
			{"TransactWriteItems", `{"TransactItems":[{"Put":{"TableName":"hash","Item":{"pk":{"N":"5"}}}},{"Put":{"TableName":"hash","Item":{"pk":{"S":""}}}}]}`},
			{"CreateTable", `{}`},
			{"DeleteTable", `{"TableName":"ab"}`},
			{"ListTables", `{"Limit":101}`},
		},
		"ResourceNotFoundException": {
			{"PutItem", `{"TableName":"none","Item":{"pk":{"S":"a"}}}`},
			{"BatchGetItem", `{"RequestItems":{"none":{"Keys":[{"pk":{"S":"a"}}]}}}`},
			{"TransactWriteItems", `{"TransactItems":[{"Put":{"TableName":"none","Item":{"pk":{"S":"a"}}}}]}`},
			{"DescribeTable", `{"TableName":"none"}`},
		},
		"TransactionCanceledException": {
			{"TransactWriteItems", `{"TransactItems":[{"Put":{"TableName":"hash","Item":{"pk":{"N":"5"}}}}]}`},
			{"TransactGetItems", `{"TransactItems":[{"Get":{"TableName":"hash","Key":{}}}]}`},
		},
		"ResourceInUseException": {
			{"CreateTable", hashTable},
		},
		"UnknownOperationException": {
			{"ExecuteStatement", `{}`},
			{"Nonsense", `{}`},
		},
		"SerializationException": {
			{"GetItem", `{"TableName":1}`},
			{"GetItem", `{"TableName":["a"]}`},
			{"GetItem", `{"TableName":{}}`},
			{"Query", `{"Limit":"1"}`},
			{"GetItem", `{"ConsistentRead":1}`},
			{"GetItem", `{"TableName":`},
			{"GetItem", ``},
		},
	} {
		for _, request := range requests {
			got := call(t, db, request[0], request[1])
			if got.errorType() != want || got.status != http.StatusBadRequest || got.body["message"] == "" {
				t.Errorf("%s %.120s: got %d %.300s, want %s", request[0], request[1], got.status, got.raw, want)
			}
		}
	}
}
