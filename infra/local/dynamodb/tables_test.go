package dynamodb

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func TestTableLifecycle(t *testing.T) {
	t.Parallel()
	client := clientOf(t, openTest(t, nil))
	created, err := client.CreateTable(t.Context(), &sdk.CreateTableInput{
		TableName: aws.String("things"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
	})
	if err != nil {
		t.Fatal(err)
	}
	description := created.TableDescription
	if description.TableStatus != types.TableStatusCreating || aws.ToString(description.TableArn) != "arn:aws:dynamodb:us-east-1:000000000000:table/things" ||
		description.CreationDateTime.Unix() != newTestClock().Now().Unix() {
		t.Errorf("got %+v", description)
	}
	name := &sdk.DescribeTableInput{TableName: aws.String("things")}
	if err := sdk.NewTableExistsWaiter(client).Wait(t.Context(), name, time.Minute); err != nil {
		t.Fatal(err)
	}
	if _, err := client.PutItem(t.Context(), &sdk.PutItemInput{TableName: description.TableArn, Item: sdkItem{"id": str("1")}}); err != nil {
		t.Errorf("by ARN: %v", err)
	}
	remove := &sdk.DeleteTableInput{TableName: aws.String("things")}
	deleted, err := client.DeleteTable(t.Context(), remove)
	if err != nil || deleted.TableDescription.TableStatus != types.TableStatusDeleting {
		t.Errorf("got %+v, %v", deleted, err)
	}
	if err := sdk.NewTableNotExistsWaiter(client).Wait(t.Context(), name, time.Minute); err != nil {
		t.Fatal(err)
	}
}

// TestRecreatedTableIsEmpty checks that a table and its indexes are empty after they are created again.
func TestRecreatedTableIsEmpty(t *testing.T) {
	t.Parallel()
	db := withTables(t)
	must(t, db, "PutItem", `{"TableName":"indexed","Item":{"pk":{"S":"1"},"sk":{"S":"s"},"g":{"S":"g"}}}`)
	must(t, db, "DeleteTable", `{"TableName":"indexed"}`)
	must(t, db, "CreateTable", indexedTable)
	for _, index := range []string{"", `,"IndexName":"keys"`} {
		if got := must(t, db, "Scan", `{"TableName":"indexed"`+index+`}`); got.body["Count"] != 0.0 {
			t.Errorf("got %s", got.raw)
		}
	}
	if got := must(t, db, "DescribeTable", `{"TableName":"indexed"}`).body["Table"].(map[string]any)["ItemCount"]; got != 0.0 {
		t.Errorf("ItemCount %v", got)
	}
}

func TestListTables(t *testing.T) {
	t.Parallel()
	db := openTest(t, nil)
	for i := range 7 {
		must(t, db, "CreateTable", strings.Replace(hashTable, `"hash"`, fmt.Sprintf(`"table-%d"`, i), 1))
	}
	client := clientOf(t, db)
	pages := sdk.NewListTablesPaginator(client, &sdk.ListTablesInput{Limit: aws.Int32(3)})
	var names []string
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, page.TableNames...)
	}
	if got := strings.Join(names, " "); got != "table-0 table-1 table-2 table-3 table-4 table-5 table-6" {
		t.Errorf("got %s", got)
	}
}

func TestUpdateTableIndexes(t *testing.T) {
	t.Parallel()
	db := withTables(t)
	for i := range 5 {
		must(t, db, "PutItem", fmt.Sprintf(`{"TableName":"hash","Item":{"pk":{"S":"%d"},"g":{"S":"%d"}}}`, i, i%2))
	}
	must(t, db, "PutItem", `{"TableName":"hash","Item":{"pk":{"S":"wrong type"},"g":{"N":"1"}}}`)
	updated := must(t, db, "UpdateTable", `{"TableName":"hash","AttributeDefinitions":[{"AttributeName":"g","AttributeType":"S"}],
		"GlobalSecondaryIndexUpdates":[{"Create":{"IndexName":"by-g","KeySchema":[{"AttributeName":"g","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}}]}`)
	if !strings.Contains(updated.raw, `"IndexStatus":"UPDATING"`) || !strings.Contains(updated.raw, `"TableStatus":"UPDATING"`) {
		t.Errorf("got %s", updated.raw)
	}
	query := `{"TableName":"hash","IndexName":"by-g","KeyConditionExpression":"g = :g","ExpressionAttributeValues":{":g":{"S":"1"}}}`
	if got := must(t, db, "Query", query); got.body["Count"] != 2.0 {
		t.Errorf("backfilled: %s", got.raw)
	}
	must(t, db, "PutItem", `{"TableName":"hash","Item":{"pk":{"S":"new"},"g":{"S":"1"}}}`)
	if got := must(t, db, "Query", query); got.body["Count"] != 3.0 {
		t.Errorf("after a put: %s", got.raw)
	}
	must(t, db, "UpdateTable", `{"TableName":"hash","GlobalSecondaryIndexUpdates":[{"Delete":{"IndexName":"by-g"}}]}`)
	if got := call(t, db, "Query", query).errorOf(); got != "ValidationException: The table does not have the specified index: by-g" {
		t.Errorf("got %s", got)
	}
	described := must(t, db, "DescribeTable", `{"TableName":"hash"}`)
	if strings.Contains(described.raw, `"g"`) {
		t.Errorf("the key of the dropped index is still defined: %s", described.raw)
	}
}

func TestCreateTableErrors(t *testing.T) {
	t.Parallel()
	db := openTest(t, nil)
	const one = `"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],`
	const two = `"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"},{"AttributeName":"sk","AttributeType":"S"}],`
	const hash = `"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}]`
	const onDemand = `"BillingMode":"PAY_PER_REQUEST",`
	gsi := func(name string) string {
		return `{"IndexName":"` + name + `","KeySchema":[{"AttributeName":"sk","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}`
	}
	for _, body := range []string{
		one + hash,
		onDemand + one + `"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"pk","KeyType":"RANGE"}]`,
		onDemand + one + `"KeySchema":[{"AttributeName":"x","KeyType":"HASH"}]`,
		onDemand + one + `"KeySchema":[{"AttributeName":"pk","KeyType":"RANGE"}]`,
		onDemand + one + `"KeySchema":[{"AttributeName":"pk","KeyType":"X"}]`,
		onDemand + two + hash,
		onDemand + one + hash + `,"LocalSecondaryIndexes":[{}]`,
		onDemand + two + `"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}],"LocalSecondaryIndexes":[{}]`,
		onDemand + one + hash + `,"StreamSpecification":{"StreamEnabled":true}`,
		onDemand + one + hash + `,"StreamSpecification":{"StreamEnabled":false,"StreamViewType":"NEW_IMAGE"}`,
		onDemand + one + hash + `,"StreamSpecification":{"StreamViewType":"NEW"}`,
		onDemand + two + hash + `,"GlobalSecondaryIndexes":[` + gsi("same") + `,` + gsi("same") + `]`,
		onDemand + one + hash + `,"GlobalSecondaryIndexes":[]`,
		onDemand + `"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"X"}],` + hash,
	} {
		if got := call(t, db, "CreateTable", `{"TableName":"table",`+body+`}`); got.errorType() != "ValidationException" {
			t.Errorf("%s: got %s", body, got.raw)
		}
	}
}

func TestUpdateTableSettings(t *testing.T) {
	t.Parallel()
	db := openTest(t, nil)
	must(t, db, "CreateTable", `{"TableName":"table","AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],
		"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],"ProvisionedThroughput":{"ReadCapacityUnits":5,"WriteCapacityUnits":5}}`)
	update := func(change string) string {
		return call(t, db, "UpdateTable", `{"TableName":"table"`+change+`}`).errorOf()
	}
	describe := func() string { return must(t, db, "DescribeTable", `{"TableName":"table"}`).raw }
	if got := describe(); strings.Contains(got, "BillingModeSummary") {
		t.Errorf("got %s", got)
	}
	for _, change := range []string{
		``,
		`,"BillingMode":"PROVISIONED","ProvisionedThroughput":{"ReadCapacityUnits":5,"WriteCapacityUnits":5}`,
		`,"BillingMode":"PAY_PER_REQUEST","ProvisionedThroughput":{"ReadCapacityUnits":6,"WriteCapacityUnits":5}`,
		`,"ProvisionedThroughput":{"ReadCapacityUnits":0,"WriteCapacityUnits":5}`,
		`,"ReplicaUpdates":[]`,
	} {
		if got := update(change); !strings.HasPrefix(got, "ValidationException: ") {
			t.Errorf("%s: got %s", change, got)
		}
	}
	if got := update(`,"BillingMode":"PAY_PER_REQUEST"`); got != "" {
		t.Errorf("got %s", got)
	}
	if got := describe(); !strings.Contains(got, `"BillingMode":"PAY_PER_REQUEST"`) {
		t.Errorf("got %s", got)
	}
}
