package functiontest

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
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
