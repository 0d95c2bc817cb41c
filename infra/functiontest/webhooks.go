package functiontest

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"encoding/json"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"devplatform/shared/clock"
	"devplatform/shared/config"
)

// CreateWebhooksTable creates a table with the keys and the index of the webhooks table in template.yaml.
func CreateWebhooksTable(t *testing.T, sdk *dynamodb.Client, table string) {
	t.Helper()
	createDueTable(t, sdk, table, &types.Projection{
		ProjectionType: types.ProjectionTypeInclude, NonKeyAttributes: []string{"wakes", "expiresAt"},
	})
}

// CreateProjectsTable creates a table with the keys and the index of the projects table in template.yaml.
func CreateProjectsTable(t *testing.T, sdk *dynamodb.Client, table string) {
	t.Helper()
	createDueTable(t, sdk, table, &types.Projection{ProjectionType: types.ProjectionTypeAll})
}

// createDueTable creates a table with an index of the items that are due.
func createDueTable(t *testing.T, sdk *dynamodb.Client, table string, projection *types.Projection) {
	t.Helper()
	var attributes []types.AttributeDefinition
	for _, name := range []string{"pk", "sk", "due", "dueAt"} {
		attributes = append(attributes, types.AttributeDefinition{
			AttributeName: &name, AttributeType: types.ScalarAttributeTypeS,
		})
	}
	key := func(hash, sort string) []types.KeySchemaElement {
		return []types.KeySchemaElement{
			{AttributeName: &hash, KeyType: types.KeyTypeHash}, {AttributeName: &sort, KeyType: types.KeyTypeRange},
		}
	}
	if _, err := sdk.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: &table, BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: attributes, KeySchema: key("pk", "sk"),
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName: aws.String("due"), KeySchema: key("due", "dueAt"), Projection: projection,
		}},
	}); err != nil {
		t.Fatal(err)
	}
}

// SealWebhookSecret encrypts the secret of a webhook with the key ring. It does so without the service's code, so that
// a test fails if the stored format changes.
func SealWebhookSecret(t *testing.T, webhookID, secret string) string {
	t.Helper()
	keys := config.NewKeys(func(context.Context) (string, error) { return KeyRing, nil }, clock.System)
	kid, key, err := keys.Current(t.Context(), "webhook-secret")
	if err != nil {
		t.Fatal(err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		t.Fatal(err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		t.Fatal(err)
	}
	ciphertext := aead.Seal(nil, nil, []byte(secret), []byte(webhookID)) //nolint:gosec // the cipher adds a random nonce
	return kid + "." + base64.RawURLEncoding.EncodeToString(ciphertext)
}

// InvokeQueue calls a function with a batch of messages of a queue. The ID of each message is its body. InvokeQueue
// returns the IDs of the messages that the function reports as failed.
func InvokeQueue(t *testing.T, handler lambda.Handler, bodies ...string) (failed []string) {
	t.Helper()
	var event events.SQSEvent
	for _, body := range bodies {
		event.Records = append(event.Records, events.SQSMessage{MessageId: body, ReceiptHandle: "x", Body: body})
	}
	payload, err := json.Marshal(event)
	if err != nil {
		t.Fatal(err)
	}
	out, err := handler.Invoke(t.Context(), payload)
	if err != nil {
		t.Fatal(err)
	}
	var response events.SQSEventResponse
	if err := json.Unmarshal(out, &response); err != nil {
		t.Fatal(err)
	}
	for _, failure := range response.BatchItemFailures {
		failed = append(failed, failure.ItemIdentifier)
	}
	return failed
}
