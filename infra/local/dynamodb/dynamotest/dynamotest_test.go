package dynamotest_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"devplatform/infra/local/dynamodb/dynamotest"
)

func TestStart(t *testing.T) {
	t.Parallel()
	client := dynamotest.Start(t)
	_, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName:            aws.String("things"),
		BillingMode:          types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
	})
	if err != nil {
		t.Fatal(err)
	}
	item := map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: "1"}}
	if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("things"), Item: item}); err != nil {
		t.Fatal(err)
	}
	got, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("things"), Key: item})
	if err != nil || len(got.Item) != 1 {
		t.Fatalf("got %v, %v", got, err)
	}
}
